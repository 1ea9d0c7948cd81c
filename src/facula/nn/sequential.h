// Sequential, a chain of modules. Braces evaluate the modules from left to right, so weights are
// drawn in the order in which they stand.
//
//   nn::Sequential model{nn::Linear(64, 32), nn::ReLU(), nn::Linear(32, 10)};
#pragma once
#include <initializer_list>

#include "facula/nn/module.h"

namespace facula::nn {

// AnyModule takes any module by moving it, or shares one.
class AnyModule {
 public:
  template <class M>
    requires std::is_base_of_v<Module, M>
  AnyModule(M module) : pointer_(std::make_shared<M>(std::move(module))) {}
  template <class M>
    requires std::is_base_of_v<Module, M>
  AnyModule(std::shared_ptr<M> module) : pointer_(std::move(module)) {}
  const std::shared_ptr<Module>& pointer() const { return pointer_; }

 private:
  std::shared_ptr<Module> pointer_;
};

// Sequential hands its input through its modules, which are named "0", "1", ...
class FACULA_API Sequential : public Module {
 public:
  Sequential(std::initializer_list<AnyModule> modules = {});
  Tensor forward(const Tensor& input) override;

  void push_back(AnyModule module);
  size_t size() const { return modules_.size(); }
  // operator[] raises std::out_of_range for an index that is too large.
  Module& operator[](size_t i) const { return *modules_.at(i); }

 private:
  std::vector<std::shared_ptr<Module>> modules_;
};

// ModuleList keeps modules of one type, named "0", "1", ..., for a parent that calls them itself.
template <class M>
class ModuleList : public Module {
 public:
  ModuleList() : Module("ModuleList") {}
  // push_back appends a module and returns it.
  M& push_back(M module) {
    M& kept = register_module(std::to_string(modules_.size()), std::move(module));
    modules_.push_back(&kept);
    return kept;
  }
  size_t size() const { return modules_.size(); }
  M& operator[](size_t i) const { return *modules_.at(i); }

 private:
  std::vector<M*> modules_;
};

}  // namespace facula::nn
