// old_orders: calls with the deprecated order of arguments, for when the present one did not fit.
#pragma once
#include "facula/python/bound.h"

namespace facula::python {

// call_in_old_order makes the call if its arguments are in a deprecated order that is known;
// null without touching the error that is set otherwise, null with an error if the call fails.
PyObject* call_in_old_order(const Entry* entries, int count, PyObject* self, PyObject* const* args,
                            Py_ssize_t nargs, PyObject* kwnames);

// call_with_numbers makes the call of a function of arithmetic with two numbers, the first of which
// becomes a tensor; null without touching the error that is set otherwise.
PyObject* call_with_numbers(const Entry* entries, int count, PyObject* self, PyObject* const* args,
                            Py_ssize_t nargs, PyObject* kwnames);

}  // namespace facula::python
