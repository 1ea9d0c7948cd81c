// Simple, a module without weights: its options, and one function of them and of its inputs.
// Options are given in order or by name:
//   nn::ELU a(0.5);
//   nn::MaxPool1d b({.kernel_size = 3, .stride = 2});
// The modules are in activations.h, pooling.h, padding.h, reshaping.h and criteria.h.
#pragma once
#include <array>
#include <concepts>
#include <optional>
#include <string>

#include "facula/base/error.h"
#include "facula/nn/module.h"

namespace facula::nn {

// Extent is a size for each of N dimensions: one number for all, or a list.
template <size_t N>
struct Extent {
  std::array<int64_t, N> values;
  Extent(int64_t all) { values.fill(all); }
  Extent(std::array<int64_t, N> each) : values(each) {}
  template <class... I>
    requires(sizeof...(I) + 1 == N && N > 1 && (std::integral<I> && ...))
  Extent(int64_t first, I... rest) : values{first, static_cast<int64_t>(rest)...} {}
  Sizes list() const { return Sizes(values.begin(), values.end()); }
  int64_t product() const {
    int64_t n = 1;
    for (int64_t v : values) n *= v;
    return n;
  }
  int64_t operator[](size_t i) const { return values[i]; }
  friend bool operator==(const Extent&, const Extent&) = default;
};

// shown writes an option as Python prints it; several equal sizes print as one number.
inline std::string shown(double v) { return float_text(v); }
inline std::string shown(bool v) { return v ? "True" : "False"; }
inline std::string shown(int64_t v) { return std::to_string(v); }
inline std::string shown(const std::string& v) { return "'" + v + "'"; }
FACULA_API std::string tuple_text(IntList values);
template <size_t N>
std::string shown(const Extent<N>& e) {
  return e == Extent<N>(e[0]) ? shown(e[0]) : tuple_text(e.list());
}
template <class T>
std::string shown(const std::optional<T>& v) {
  return v ? shown(*v) : "None";
}

// fields writes pairs of names and values: "kernel_size=3, stride=2".
inline std::string fields() { return ""; }
template <class T, class... Rest>
std::string fields(const char* name, const T& value, const Rest&... rest) {
  std::string tail = fields(rest...);
  return std::string(name) + "=" + shown(value) + (tail.empty() ? "" : ", " + tail);
}

template <class O>
class Simple : public Module {
 public:
  Simple()
    requires std::default_initializable<O>
      : Simple(O{}) {}
  explicit Simple(const O& options) : Module(O::kName), options_(options) {
    if constexpr (requires { options_.check(); }) options_.check();
  }
  template <class... A>
    requires(sizeof...(A) > 0 && !(std::derived_from<std::remove_cvref_t<A>, Module> || ...) &&
             !(std::same_as<std::remove_cvref_t<A>, O> || ...))
  explicit Simple(A&&... options) : Simple(O(std::forward<A>(options)...)) {}

  Tensor forward(const Tensor& input) override {
    if constexpr (requires { options_.call(input, this->is_training()); }) {
      return options_.call(input, is_training());
    } else if constexpr (requires { options_.call(input); }) {
      return options_.call(input);
    } else {
      return Module::forward(input);
    }
  }
  // Calls with several inputs go to the options' function.
  using Module::operator();
  template <class... T>
    requires(sizeof...(T) > 1)
  auto operator()(const T&... inputs) const {
    return options_.call(inputs...);
  }
  const O& options() const { return options_; }

 protected:
  std::string extra_repr() const override {
    if constexpr (requires { options_.text(); }) return options_.text();
    return "";
  }

 private:
  O options_;
};

}  // namespace facula::nn
