// Warnings of operators.
#include "facula/ops/warn.h"

#include <cstdio>

namespace facula {

void (*show_warning)(const std::string& text) = nullptr;
std::atomic<bool> warnings_repeat{false};

void warn(const std::string& text) {
  if (show_warning) {
    show_warning(text);
  } else {
    std::fprintf(stderr, "facula: warning: %s\n", text.c_str());
  }
}

void warn_of_discarded_part(DType from, DType to) {
  if (!is_complex(from) || is_complex(to) || to == kBool) return;
  static std::atomic<bool> said{false};
  warn_once(said,
            "Casting complex values to real discards the imaginary part: give the real part, "
            "such as x.real, where that is meant.");
}

void warn_of_kept_graph() {
  static std::atomic<bool> said{false};
  warn_once(said,
            "Using backward() with create_graph=True keeps the graph alive through the .grad of "
            "its leaves, a reference cycle: autograd.grad() does not, or set .grad to None "
            "when it is no longer needed.");
}

void warn_of_no_freedom(const char* op, double correction, const char* counted) {
  warn(str(op, "(): degrees of freedom is <= 0. Expected a correction below the number of ",
           counted, ", got ", correction, "; the result is NaN or infinite."));
}

}  // namespace facula
