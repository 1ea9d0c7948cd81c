// Warnings of operators: said at every call or once in a process, to whoever shows them.
#pragma once
#include <atomic>
#include <string>

#include "facula/base/export.h"
#include "facula/base/format.h"
#include "facula/core/dtype.h"

namespace facula {

// show_warning shows a text; the Python layer sets it, and it throws where a filter makes the
// warning an error. Without it warnings go to the standard error stream.
extern FACULA_API void (*show_warning)(const std::string& text);

// warnings_repeat says that what is said once is said at every call.
extern FACULA_API std::atomic<bool> warnings_repeat;

// warn shows a warning.
FACULA_API void warn(const std::string& text);

// warn_once shows a warning, in parts as str takes them, unless `said`, which the caller keeps for
// it, is set; it sets it. The text is not put together unless it is shown.
template <class... Parts>
void warn_once(std::atomic<bool>& said, const Parts&... parts) {
  if (said.load(std::memory_order_relaxed) && !warnings_repeat) return;
  if (!said.exchange(true) || warnings_repeat) warn(str(parts...));
}

// warn_of_discarded_part warns, once, of a conversion that drops imaginary parts.
FACULA_API void warn_of_discarded_part(DType from, DType to);

// warn_of_kept_graph warns, once, of gradients in leaves that hold the graph they were made by.
FACULA_API void warn_of_kept_graph();

// warn_of_no_freedom warns of a statistic over what is `counted`, of which a correction leaves
// none.
FACULA_API void warn_of_no_freedom(const char* op, double correction, const char* counted);

}  // namespace facula
