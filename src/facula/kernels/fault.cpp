// The exceptions that faults of kernels become.
#include "facula/base/error.h"
#include "facula/kernels/view.h"

namespace facula::kernels {

void raise_fault(const Fault& fault, const char* op) {
  switch (static_cast<Fault::Kind>(fault.kind.load())) {
    case Fault::kIndexOutOfRange:
      raise_error(ErrorKind::kIndex, op, ": index ", fault.value,
                  " is out of bounds for dimension with size ", fault.bound, " (element ",
                  fault.position, " of the index)");
    case Fault::kZeroDivision:
      raise_error(ErrorKind::kRuntime, op, ": ZeroDivisionError: division by zero at element ",
                  fault.position);
    case Fault::kNegative:
      raise_error(ErrorKind::kRuntime, op, ": expected values that are not negative, got ",
                  fault.value, " at element ", fault.position);
    case Fault::kSingular:
      raise_error(ErrorKind::kRuntime, op, ": the matrix is singular (batch element ",
                  fault.position, ", diagonal element ", fault.value, " is zero)");
    case Fault::kNotFinite:
      raise_error(ErrorKind::kRuntime, op, ": expected finite values, got inf or nan at element ",
                  fault.position);
    case Fault::kNoMemory:
      raise_error(ErrorKind::kOutOfMemory, op, ": cannot allocate ", fault.value,
                  " bytes of scratch memory");
    case Fault::kNone:
    case Fault::kBad: break;
  }
  raise_error(ErrorKind::kRuntime, op, ": invalid value ", fault.value, " at element ",
              fault.position, ", expected less than ", fault.bound);
}

}  // namespace facula::kernels
