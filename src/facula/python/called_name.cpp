// name_the_call: the names of rows at the head of messages give way to the name of the call.
#include "facula/python/called_name.h"

#include <string>
#include <string_view>
#include <unordered_set>

#include "facula/python/object.h"

namespace facula::python {

extern const char* const row_names[];  // generated: all rows, of hidden ones too; ends with null

namespace {

bool is_row(std::string_view name) {
  static const auto* names = [] {
    auto* set = new std::unordered_set<std::string_view>();
    for (const char* const* row = row_names; *row; ++row) set->insert(*row);
    return set;
  }();
  if (name.ends_with('_')) name.remove_suffix(1);
  return names->contains(name);
}

// renamed gives the message with the name of the call at its head, or an empty text where it names
// the call, or no operator, already. "linalg.svd: ..." names a call of svd, too.
std::string renamed(std::string_view message, std::string_view called) {
  size_t end = message.find_first_of(":(");
  if (end == message.npos || end == 0) return {};
  std::string_view name = message.substr(0, end);
  std::string_view last = name.substr(name.rfind('.') + 1);  // npos + 1 is 0
  if (last == called || !is_row(last)) return {};
  return std::string(called).append(message.substr(end));
}

}  // namespace

void name_the_call(const char* called) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (value && value == last_library_error) {
    Owned text(PyObject_Str(value));
    Py_ssize_t n = 0;
    const char* message = text ? PyUnicode_AsUTF8AndSize(text.get(), &n) : nullptr;
    std::string better =
        message ? renamed({message, static_cast<size_t>(n)}, called) : std::string();
    PyErr_Clear();
    if (!better.empty()) {
      if (Owned made(PyObject_CallFunction(type, "s", better.c_str())); made) {
        last_library_error = made.get();
        Py_DECREF(value);
        value = made.release();
      }
      PyErr_Clear();
    }
  }
  PyErr_Restore(type, value, trace);
}

}  // namespace facula::python
