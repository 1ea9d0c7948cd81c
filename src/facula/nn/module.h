// Module, the base class of the C++ front end's networks: named parameters, buffers and children.
// The layers are in layers.h, norms.h and functions.h; containers in sequential.h.
//
//   struct Net : nn::Module {
//     Net() : Module("Net"), out(register_module("out", nn::Linear(32, 1))) {}
//     Tensor forward(const Tensor& x) override { return out(relu(x)); }
//     nn::Linear& out;
//   };
#pragma once
#include <concepts>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "facula/core/tensor.h"
#include "facula/ops/convert_functions.h"

namespace facula::nn {

// NamedTensors lists tensors with their names, "hidden.weight", in the order of registration.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// float_text writes a number as Python prints a float: "1.0", "1e-05".
FACULA_API std::string float_text(double value);

// Module owns its children; it can be moved but not copied.
class FACULA_API Module {
 public:
  explicit Module(std::string type_name = "Module");
  virtual ~Module();
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;

  // forward computes the output; NotImplementedError where a subclass does not define it. Modules
  // of several inputs define functions of their own.
  virtual Tensor forward(const Tensor& input);
  Tensor operator()(const Tensor& input) { return forward(input); }

  const std::string& type_name() const { return type_name_; }
  // repr draws the tree of modules as Python prints it.
  std::string repr() const;

  // named_parameters and named_buffers list those of the module first, then the children's.
  NamedTensors named_parameters(const std::string& prefix = "") const;
  NamedTensors named_buffers(const std::string& prefix = "") const;
  // parameters lists each parameter once, as optimisers take them.
  std::vector<Tensor> parameters() const;
  // named_modules lists the module itself, under the prefix, and everything below it.
  std::vector<std::pair<std::string, const Module*>> named_modules(
      const std::string& prefix = "") const;

  // state_dict gives the parameters and the buffers; load_state_dict copies values back in and
  // raises RuntimeError, before anything is written, for missing or unknown names and other shapes.
  std::map<std::string, Tensor> state_dict() const;
  void load_state_dict(const std::map<std::string, Tensor>& dict);

  // to converts the parameters and buffers of floating and complex types, with their gradients, or
  // moves all of them to a device, in place: every handle sees the change, those of an optimiser
  // too. What an optimiser has kept from its steps stays as it was: convert before the first step.
  // TypeError for a dtype of whole numbers; where to raises, nothing changes.
  void to(DType dtype);
  void to(Device device, std::optional<DType> dtype = std::nullopt);
  // to of a tensor is the operator, whose name would be hidden inside of modules.
  static Tensor to(const Tensor& t, DType dtype) { return facula::to(t, std::nullopt, dtype); }
  static Tensor to(const Tensor& t, std::optional<Device> device,
                   std::optional<DType> dtype = std::nullopt) {
    return facula::to(t, device, dtype);
  }

  // copy_from takes over what the same module elsewhere holds, as copies: values, dtypes, devices,
  // which parameters want gradients and the modes. RuntimeError as from load_state_dict.
  void copy_from(const Module& other);

  bool is_training() const { return training_; }
  // train sets the mode of the module and everything below it; eval is train(false).
  void train(bool on = true);
  void eval() { train(false); }
  // zero_grad drops the gradients of all parameters, or fills them with zeros.
  void zero_grad(bool set_to_none = true);
  // requires_grad sets whether the parameters want gradients.
  void requires_grad(bool on);

 protected:
  // register_parameter keeps a leaf under a name and returns a handle of it. An undefined tensor
  // is a parameter that is switched off. KeyError for a name that is taken, empty or has a dot.
  Tensor register_parameter(const std::string& name, Tensor tensor, bool requires_grad = true);
  // register_buffer keeps a tensor that is state but does not learn.
  Tensor register_buffer(const std::string& name, Tensor tensor);
  // register_module takes a module and returns a reference that lives as long as the parent.
  template <class M>
    requires std::is_base_of_v<Module, M>
  M& register_module(const std::string& name, M module) {
    return register_module(name, std::make_shared<M>(std::move(module)));
  }
  template <class M>
  M& register_module(const std::string& name, std::shared_ptr<M> module) {
    M& result = *module;
    add_child(name, std::move(module));
    return result;
  }

  // extra_repr gives what stands between the brackets of repr.
  virtual std::string extra_repr() const { return ""; }

 private:
  void add_child(const std::string& name, std::shared_ptr<Module> module);
  void check_name(const std::string& name, const char* what) const;
  void check_state(const std::map<std::string, Tensor>& mine,
                   const std::map<std::string, Tensor>& dict) const;
  template <class F>
  void visit(const std::string& prefix, F&& f) const;

  std::string type_name_;
  bool training_ = true;
  NamedTensors parameters_, buffers_;
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> children_;
};

// SameDraws gives back the random numbers that are drawn in its scope.
class FACULA_API SameDraws {
 public:
  SameDraws();
  ~SameDraws();
  SameDraws(const SameDraws&) = delete;

 private:
  std::vector<std::byte> state_;
};

// clone makes a module from the arguments that the given one was made from, and copies all that it
// holds. No random numbers are used up. RuntimeError where the arguments make other tensors.
template <class M, class... Arguments>
  requires std::derived_from<M, Module>
M clone(const M& module, const Arguments&... arguments) {
  SameDraws scope;
  M copy(arguments...);
  copy.copy_from(module);
  return copy;
}

}  // namespace facula::nn
