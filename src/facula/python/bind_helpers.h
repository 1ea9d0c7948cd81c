// Helpers that generated bindings call: default lists, and the keywords of factories.
#pragma once
#include "facula/python/bound.h"

namespace facula::python {

// ints_of makes the argument that a default list stands for.
inline IntsArg ints_of(IntList list) {
  IntsArg out;
  out.values = list.to_sizes();
  out.present = true;
  return out;
}

// apply_factory applies layout=, pin_memory= and requires_grad= (given by position) to the result.
void apply_factory(Bound& b, int layout, int pin_memory, int requires_grad, Tensor& result);

// follow_out makes the dtype of the out= tensor (argument `out`) that of the call where dtype= is
// not given, and refuses a dtype= that differs.
void follow_out(Bound& b, int out, int dtype, bool factory);

}  // namespace facula::python
