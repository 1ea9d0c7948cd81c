// Function: operators with a backward pass written by the user in C++, and the rules by which their
// outputs are connected to the graph; check_kind and kDirtyNotReturned serve those in Python too.
//
//   struct Square : Function<Square> {
//     static Tensor forward(Context& ctx, const Tensor& x) {
//       ctx.save_for_backward({x});
//       return mul(x, x);
//     }
//     static std::vector<Tensor> backward(Context& ctx, const std::vector<Tensor>& grads) {
//       return {mul(mul(grads[0], ctx.saved_tensors()[0]), 2)};
//     }
//   };
//   Tensor y = Square::apply(x);
#pragma once
#include <any>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "facula/autograd/meta.h"

namespace facula {

// OutputRules is what a custom function says about its inputs and outputs.
struct OutputRules {
  std::vector<const TensorImpl*> dirty;               // inputs that it overwrote and returned
  std::vector<const TensorImpl*> non_differentiable;  // outputs without gradients
};

// connect_outputs makes `node`, whose edges are those of `inputs`, the history of the outputs of a
// custom function that ran without recording, and replaces outputs where PyTorch's rules want
// another tensor: an input that is returned as it is becomes a view of it, an output without
// gradients is detached. With `recorded` false only that replacement is done.
// RuntimeError when an output is marked dirty but is no input, or is a leaf that requires grad.
FACULA_API void connect_outputs(const Ref<Node>& node, TensorList inputs, std::span<Tensor> outputs,
                                const OutputRules& rules, bool recorded);

// kDirtyNotReturned is the message for an input that is marked dirty and not among the outputs.
inline constexpr const char* kDirtyNotReturned =
    "Some elements marked as dirty during the forward method were not returned as output. The "
    "inputs that are modified inplace must all be outputs of the Function.";

// check_kind raises RuntimeError for a complex gradient of a real input, which a user's backward
// gave for the edge `index` of its node: the imaginary part would be lost without a word.
FACULA_API void check_kind(const Node& node, size_t index, const Tensor& gradient);

// Context is what forward and backward of a custom function share.
class FACULA_API Context {
 public:
  // save_for_backward keeps inputs or outputs; other tensors are kept too, without checks for
  // cycles.
  void save_for_backward(std::vector<Tensor> tensors) { to_save_ = std::move(tensors); }
  // saved_tensors gives them back; raises when they were overwritten or released.
  std::vector<Tensor> saved_tensors() const;
  // mark_dirty names the inputs that forward overwrote; it must return them.
  void mark_dirty(TensorList inputs);
  // mark_non_differentiable names outputs that have no gradient.
  void mark_non_differentiable(TensorList outputs);
  // set_materialize_grads(false) hands undefined gradients to backward instead of zeros.
  void set_materialize_grads(bool on) { materialize_ = on; }
  // needs_input_grad says whether the gradient of the i-th tensor argument is wanted.
  bool needs_input_grad(size_t i) const { return node_ && node_->needs(i); }

  std::map<std::string, std::any> saved_data;  // anything else

 private:
  template <class F>
  friend struct Function;
  friend class CustomNode;

  std::vector<Tensor> to_save_;
  std::vector<SavedTensor> saved_;
  OutputRules rules_;
  bool materialize_ = true;
  Node* node_ = nullptr;
};

// CustomNode is the node of a C++ Function.
class FACULA_API CustomNode final : public Node {
 public:
  using Backward = std::vector<Tensor> (*)(Context&, const std::vector<Tensor>&);
  CustomNode(std::string name, Backward backward);
  const char* name() const override { return name_.c_str(); }
  void apply(Gradients& grads, Gradients& grads_in) override;
  void release_saved() override;
  void visit_saved(void (*f)(void*, TensorImpl*), void* context) const override;
  bool takes_undefined() const override { return !ctx.materialize_; }
  // finish connects the outputs and saves what forward asked for.
  void finish(TensorList inputs, std::span<Tensor> outputs, bool recorded);

  Context ctx;

 private:
  std::string name_;
  Backward backward_;
};

// function_name makes "SquareBackward" from the mangled name of a type.
FACULA_API std::string function_name(const char* type_name);

namespace function_detail {

inline void collect(std::vector<Tensor>& out, const Tensor& t) { out.push_back(t); }
inline void collect(std::vector<Tensor>& out, TensorList list) {
  out.insert(out.end(), list.begin(), list.end());
}
inline void collect(std::vector<Tensor>& out, const std::vector<Tensor>& list) {
  collect(out, TensorList(list));
}
template <class T>
void collect(std::vector<Tensor>&, const T&) {}

}  // namespace function_detail

// Function<F> gives F an apply that runs F::forward without recording and connects its outputs to
// F::backward. forward takes a Context& and any arguments, of which tensors and lists of tensors
// are the inputs, and returns a Tensor or a std::vector<Tensor>; backward gives one gradient an
// input, undefined where there is none.
template <class F>
struct Function {
  template <class... Args>
  static auto apply(Args&&... args) {
    using Result = std::decay_t<decltype(F::forward(std::declval<Context&>(), args...))>;
    static_assert(std::is_same_v<Result, Tensor> || std::is_same_v<Result, std::vector<Tensor>>,
                  "forward returns a Tensor or a std::vector<Tensor>");
    std::vector<Tensor> inputs;
    (function_detail::collect(inputs, args), ...);
    bool recorded = grad_enabled() && requires_grad(TensorList(inputs));
    auto node = make_ref<CustomNode>(function_name(typeid(F).name()), &F::backward);
    for (const Tensor& t : inputs) recorded ? node->add_edge(t) : node->edges.push_back(Edge());
    Result result;
    {
      NoGrad off;
      result = F::forward(node->ctx, std::forward<Args>(args)...);
    }
    if constexpr (std::is_same_v<Result, Tensor>) {
      node->finish(inputs, {&result, 1}, recorded);
    } else {
      node->finish(inputs, result, recorded);
    }
    return result;
  }
};

}  // namespace facula
