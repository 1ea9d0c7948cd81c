// The chain keeps its own list, so that forward does not search by name.
#include "facula/nn/sequential.h"

#include "facula/base/error.h"

namespace facula::nn {

Sequential::Sequential(std::initializer_list<AnyModule> modules) : Module("Sequential") {
  for (const AnyModule& module : modules) push_back(module);
}

void Sequential::push_back(AnyModule module) {
  FACULA_CHECK(module.pointer(), kValue, "Sequential: expected a module, got a null pointer");
  register_module(std::to_string(modules_.size()), module.pointer());
  modules_.push_back(module.pointer());
}

Tensor Sequential::forward(const Tensor& input) {
  Tensor x = input;
  for (const auto& module : modules_) x = module->forward(x);
  return x;
}

}  // namespace facula::nn
