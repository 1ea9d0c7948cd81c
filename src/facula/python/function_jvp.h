// Forward mode through custom Functions.
#pragma once
#include "facula/modes/forward.h"
#include "facula/python/node_type.h"

namespace facula::python {

// FunctionTangents carries tangents through one call of a custom Function, in every level of
// forward mode that is on: by the class's jvp or, where it has none, by its backward.
class FunctionTangents {
 public:
  // The tangents of the arguments are noted before forward may write to them.
  explicit FunctionTangents(PyObject* args);
  // carry gives the results, a tensor or a tuple, their tangents once they are recorded.
  void carry(PyObject* cls, FunctionNode& node, PyObject* args, PyObject* result);

 private:
  struct Level {
    std::shared_ptr<Forward> forward;
    ForwardInputs in;
  };
  std::vector<Level> levels_;  // outermost first: a jvp may use results and their outer tangents
};

}  // namespace facula::python
