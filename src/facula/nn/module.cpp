// The walks over a tree of modules: all of them visit a module before its children.
#include "facula/nn/module.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/core/generator.h"
#include "facula/core/thread_state.h"
#include "facula/ops/assign_data.h"
#include "facula/ops/shape_functions.h"

namespace facula::nn {
namespace {

std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

// indented moves every line but the first two places to the right.
std::string indented(const std::string& text) {
  std::string out;
  for (char c : text) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

void convert(const Module& module, std::optional<Device> device, std::optional<DType> dtype) {
  FACULA_CHECK(!dtype || is_inexact(*dtype), kType, module.type_name(),
               ".to: expected a floating or complex dtype, got ", dtype_name(*dtype));
  struct Change {
    Tensor tensor, data, grad;
  };
  std::vector<Change> changes;
  auto plan = [&](const NamedTensors& list) {
    NoGrad off;
    for (const auto& [name, t] : list) {
      std::optional<DType> wanted = is_inexact(t.dtype()) ? dtype : std::nullopt;
      Tensor data = facula::to(detach(t), device, wanted), gradient = grad(t);
      if (data.dtype() == t.dtype() && data.device() == t.device()) continue;
      if (gradient.defined()) gradient = facula::to(gradient, device, wanted);
      changes.push_back({t, data, gradient});
    }
  };
  plan(module.named_parameters());
  plan(module.named_buffers());
  for (Change& change : changes) {
    assign_data(change.tensor, change.data);
    if (change.grad.defined()) set_grad(change.tensor, change.grad);
  }
}

}  // namespace

std::string float_text(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  double size = std::abs(value);
  bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  char text[64];
  auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  std::string out(text, std::to_chars(text, text + sizeof text, value, format).ptr);
  return plain && out.find('.') == std::string::npos ? out + ".0" : out;
}

Module::Module(std::string type_name) : type_name_(std::move(type_name)) {}
Module::~Module() = default;
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;

Tensor Module::forward(const Tensor&) {
  raise_error(ErrorKind::kNotImplemented, type_name_, ".forward(input) is not defined");
}

std::string Module::repr() const {
  std::string extra = extra_repr();
  if (children_.empty()) return type_name_ + "(" + extra + ")";
  std::string out = type_name_ + "(" + extra + "\n";
  for (const auto& [name, child] : children_) {
    out += "  (" + name + "): " + indented(child->repr()) + "\n";
  }
  return out + ")";
}

template <class F>
void Module::visit(const std::string& prefix, F&& f) const {
  f(prefix, *this);
  for (const auto& [name, child] : children_) child->visit(joined(prefix, name), f);
}

NamedTensors Module::named_parameters(const std::string& prefix) const {
  NamedTensors out;
  visit(prefix, [&](const std::string& path, const Module& m) {
    for (const auto& [name, tensor] : m.parameters_) {
      if (tensor.defined()) out.emplace_back(joined(path, name), tensor);
    }
  });
  return out;
}

NamedTensors Module::named_buffers(const std::string& prefix) const {
  NamedTensors out;
  visit(prefix, [&](const std::string& path, const Module& m) {
    for (const auto& [name, tensor] : m.buffers_) {
      if (tensor.defined()) out.emplace_back(joined(path, name), tensor);
    }
  });
  return out;
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> out;
  for (auto& [name, tensor] : named_parameters()) {
    bool known = std::any_of(out.begin(), out.end(),
                             [&](const Tensor& other) { return other.is_same(tensor); });
    if (!known) out.push_back(tensor);
  }
  return out;
}

std::vector<std::pair<std::string, const Module*>> Module::named_modules(
    const std::string& prefix) const {
  std::vector<std::pair<std::string, const Module*>> out;
  visit(prefix, [&](const std::string& path, const Module& m) { out.emplace_back(path, &m); });
  return out;
}

std::map<std::string, Tensor> Module::state_dict() const {
  std::map<std::string, Tensor> out;
  for (auto& [name, tensor] : named_parameters()) out[name] = detach(tensor);
  for (auto& [name, tensor] : named_buffers()) out[name] = tensor;
  return out;
}

void Module::load_state_dict(const std::map<std::string, Tensor>& dict) {
  std::map<std::string, Tensor> mine = state_dict();
  check_state(mine, dict);
  NoGrad off;
  for (auto& [name, tensor] : mine) copy_(tensor, dict.at(name));
}

void Module::check_state(const std::map<std::string, Tensor>& mine,
                         const std::map<std::string, Tensor>& dict) const {
  for (const auto& [name, tensor] : mine) {
    auto found = dict.find(name);
    FACULA_CHECK(found != dict.end(), kRuntime, "load_state_dict: ", type_name_,
                 " expects a tensor '", name, "', which is missing");
    FACULA_CHECK(found->second.defined() && found->second.sizes() == tensor.sizes(), kRuntime,
                 "load_state_dict: '", name, "' of ", type_name_, " has shape ",
                 list_text(tensor.sizes()), ", got ",
                 found->second.defined() ? list_text(found->second.sizes()) : "nothing");
  }
  for (const auto& [name, tensor] : dict) {
    FACULA_CHECK(mine.count(name), kRuntime, "load_state_dict: ", type_name_, " has no tensor '",
                 name, "'");
  }
}

void Module::train(bool on) {
  training_ = on;
  for (auto& [name, child] : children_) child->train(on);
}

void Module::zero_grad(bool set_to_none) {
  for (const Tensor& p : parameters()) {
    Tensor g = grad(p);
    if (!g.defined()) continue;
    if (set_to_none) {
      set_grad(p, Tensor());
    } else {
      NoGrad off;
      Tensor zeros = detach(g);
      zero_(zeros);
      set_grad(p, zeros);
    }
  }
}

void Module::requires_grad(bool on) {
  for (const Tensor& p : parameters()) set_requires_grad(p, on);
}

void Module::check_name(const std::string& name, const char* what) const {
  FACULA_CHECK(!name.empty() && name.find('.') == std::string::npos, kKey, type_name_, ": ", what,
               " name must not be empty or contain '.', got '", name, "'");
  auto is_it = [&](const auto& entry) { return entry.first == name; };
  bool taken = std::any_of(parameters_.begin(), parameters_.end(), is_it) ||
               std::any_of(buffers_.begin(), buffers_.end(), is_it) ||
               std::any_of(children_.begin(), children_.end(), is_it);
  FACULA_CHECK(!taken, kKey, type_name_, ": ", what, " '", name, "' already exists");
}

Tensor Module::register_parameter(const std::string& name, Tensor tensor, bool requires_grad) {
  check_name(name, "parameter");
  if (tensor.defined()) {
    FACULA_CHECK(!grad_fn(tensor), kValue, type_name_, ": cannot make a parameter '", name,
                 "' of a tensor that was computed with gradients; detach it");
    if (requires_grad) set_requires_grad(tensor, true);
  }
  parameters_.emplace_back(name, tensor);
  return tensor;
}

Tensor Module::register_buffer(const std::string& name, Tensor tensor) {
  check_name(name, "buffer");
  buffers_.emplace_back(name, tensor);
  return tensor;
}

void Module::add_child(const std::string& name, std::shared_ptr<Module> module) {
  check_name(name, "module");
  children_.emplace_back(name, std::move(module));
}

void Module::to(DType dtype) { convert(*this, std::nullopt, dtype); }
void Module::to(Device device, std::optional<DType> dtype) { convert(*this, device, dtype); }

void Module::copy_from(const Module& other) {
  std::map<std::string, Tensor> theirs = other.state_dict();
  check_state(state_dict(), theirs);
  NoGrad off;
  NamedTensors parameters = named_parameters(), others = other.named_parameters();
  std::map<std::string, Tensor> wanting(others.begin(), others.end());
  for (const auto& [name, tensor] : parameters) {
    FACULA_CHECK(wanting.contains(name), kRuntime, type_name_, ".copy_from: '", name,
                 "' is a parameter here and a buffer there");
  }
  auto take = [&](const NamedTensors& mine) {
    for (const auto& [name, tensor] : mine) {
      Tensor data = clone(theirs.at(name)), gradient = grad(tensor);
      if (gradient.defined()) gradient = facula::to(gradient, data.device(), data.dtype());
      assign_data(tensor, data);
      if (gradient.defined()) set_grad(tensor, gradient);
    }
  };
  take(parameters);
  take(named_buffers());
  for (const auto& [name, tensor] : parameters) {
    set_requires_grad(tensor, facula::requires_grad(wanting.at(name)));
  }
  std::map<std::string, bool> modes;
  other.visit("", [&](const std::string& path, const Module& m) { modes[path] = m.training_; });
  visit("", [&](const std::string& path, const Module& m) {
    auto mode = modes.find(path);
    if (mode != modes.end()) const_cast<Module&>(m).training_ = mode->second;
  });
}

SameDraws::SameDraws() : state_(Generator::kStateBytes) {
  Generator& generator = default_generator();
  std::lock_guard<std::mutex> lock(generator.mutex());
  generator.get_state(std::span<std::byte, Generator::kStateBytes>(state_));
}
SameDraws::~SameDraws() {
  Generator& generator = default_generator();
  std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_state(state_);
}

}  // namespace facula::nn
