// The generated entries behind Python's operators: filled when the operator table is registered,
// called by the number slots of Tensor.
#pragma once
#include "facula/python/object.h"

namespace facula::python {

// SlotEntries holds the entry of each row that an operator of Python's syntax stands for.
struct SlotEntries {
  FastMethod add, sub, mul, div, floor_divide, remainder, pow, matmul;
  FastMethod bitwise_and, bitwise_or, bitwise_xor, bitwise_left_shift, bitwise_right_shift;
  FastMethod add_, sub_, mul_, div_, floor_divide_, remainder_, pow_;
  FastMethod bitwise_and_, bitwise_or_, bitwise_xor_, bitwise_left_shift_, bitwise_right_shift_;
  FastMethod neg, abs, bitwise_not, logical_not;
  FastMethod eq, ne, lt, le, gt, ge;
};
extern SlotEntries slot_entries;      // of methods: the left operand is a tensor
extern SlotEntries function_entries;  // of functions: the left operand may be a number

// note_slot remembers the entry of a row if an operator stands for it.
void note_slot(SlotEntries& entries, const char* name, FastMethod entry);

}  // namespace facula::python
