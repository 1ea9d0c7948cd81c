// given: the arguments of hand-written methods, matched by position and keyword. What a method does
// not know is refused as it is for operators, with PyTorch's TypeErrors.
#pragma once
#include <algorithm>
#include <array>
#include <span>

#include "facula/python/object.h"

namespace facula::python {

// match_given fills `found`, one place for each name, from the arguments of a call.
inline void match_given(const char* op, std::span<const char* const> names, PyObject** found,
                        PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  if (n > static_cast<Py_ssize_t>(names.size())) {
    raise_error(ErrorKind::kType, op, "() takes from 0 to ", names.size(),
                " positional arguments but ", n, " were given");
  }
  std::copy_n(args, n, found);
  Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t j = 0; j < named; ++j) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, j);
    auto at = std::ranges::find_if(names, [key](const char* name) {
      return PyUnicode_CompareWithASCIIString(key, name) == 0;
    });
    FACULA_CHECK(at != names.end(), kType, op, "() got an unexpected keyword argument '", utf8(key),
                 "'");
    PyObject*& place = found[at - names.begin()];
    FACULA_CHECK(!place, kType, op, "() got multiple values for argument '", utf8(key), "'");
    place = args[n + j];
  }
}

// given returns the arguments (borrowed) in the order of the names, null where there is none;
// TypeError for too many, for a name that is unknown and for one that is given twice.
template <size_t N>
std::array<PyObject*, N> given(const char* op, const char* const (&names)[N], PyObject* const* args,
                               Py_ssize_t n, PyObject* kwnames) {
  std::array<PyObject*, N> found{};
  match_given(op, names, found.data(), args, n, kwnames);
  return found;
}

}  // namespace facula::python
