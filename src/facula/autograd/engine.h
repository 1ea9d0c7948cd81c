// The engine: runs the graph backwards from roots, and the table of what it needs from operators.
#pragma once
#include <vector>

#include "facula/autograd/meta.h"

namespace facula {

// GradientOps is what autograd asks of the operator layer, which fills it at load time. All of them
// record when gradients are recorded.
struct GradientOps {
  Tensor (*add)(const Tensor& a, const Tensor& b);
  void (*add_inplace)(const Tensor& a, const Tensor& b);
  Tensor (*zeros)(IntList sizes, DType dtype, Device device);
  Tensor (*ones)(IntList sizes, DType dtype, Device device);
  Tensor (*clone)(const Tensor& t);                  // dense copy
  Tensor (*sum_to)(const Tensor& t, IntList sizes);  // inverse of broadcasting
  Tensor (*cast)(const Tensor& t, DType dtype);
  Tensor (*real)(const Tensor& t);
  Tensor (*as_strided)(const Tensor& t, IntList sizes, IntList strides, int64_t offset);
  void (*copy_inplace)(const Tensor& dst, const Tensor& src);
  Tensor (*view_as_real)(const Tensor& t);     // complex [...] as real [..., 2]
  Tensor (*view_as_complex)(const Tensor& t);  // the inverse
  bool (*has_nan)(const Tensor& t);
};
extern FACULA_API GradientOps gradient_ops;

// BackwardOptions are the keyword arguments of backward() and grad().
struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;
  bool allow_unused = false;
  bool accumulate = true;  // into leaves; false for grad()
};

// backward runs the graph from `roots` with gradients `seeds` (undefined: ones, for single-element
// roots) and accumulates into the leaves, or only into `inputs` when given.
FACULA_API void backward(TensorList roots, TensorList seeds, BackwardOptions options = {},
                         TensorList inputs = {});
inline void backward(const Tensor& root) { backward({&root, 1}, {}); }

// grad gives the gradients of the roots with respect to `inputs`, undefined for unused ones when
// allow_unused; else RuntimeError.
FACULA_API std::vector<Tensor> grad(TensorList roots, TensorList inputs, TensorList seeds = {},
                                    BackwardOptions options = {});

// run_graph is the engine proper: seeds gradients at edges, runs, and returns what arrived at
// `captures` (empty: accumulate into all leaves).
FACULA_API std::vector<Tensor> run_graph(const std::vector<Edge>& roots, Gradients seeds,
                                         const BackwardOptions& options,
                                         const std::vector<Edge>& captures);

// run_node applies one node, without hooks, to gradients of its outputs (undefined ones count as
// zeros) and gives those of its inputs; an accumulator adds to its leaf. What the node saved stays.
FACULA_API Gradients run_node(Node& node, Gradients gradients);

// BackwardEnd is where a pass begins or ends: a tensor, or an edge of the graph without one.
struct BackwardEnd {
  Tensor tensor;
  Edge edge;  // used where the tensor is undefined
};

// differentiate is backward() and grad(), by options.accumulate, with edges for tensors.
FACULA_API std::vector<Tensor> differentiate(const std::vector<BackwardEnd>& roots,
                                             TensorList seeds, const BackwardOptions& options,
                                             const std::vector<BackwardEnd>& inputs);

// queue_callback runs f when the outermost backward of this thread has finished.
FACULA_API void queue_callback(void (*f)(void*), void* context);

// current_pass is the number of the innermost backward pass of this thread, -1 outside; will_run
// tells whether that pass comes to a node, also by the number that nodes of calls have.
FACULA_API int64_t current_pass();
FACULA_API bool will_run(const Node& node);
FACULA_API bool will_run(uint64_t sequence);

// Anomaly mode checks every gradient for NaN and names the forward call that made it.
FACULA_API bool anomaly_mode();
FACULA_API bool anomaly_checks_nan();
FACULA_API void set_anomaly_mode(bool on, bool check_nan);

}  // namespace facula
