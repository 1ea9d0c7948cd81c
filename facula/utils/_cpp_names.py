"""torch/operators.h for extensions: the operators of the C++ interface as functions of a namespace
`torch` and as methods of its Tensor, written from the declarations in the installed headers.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

__all__ = ["operators_header"]

_KEYWORDS = {"and", "or", "not", "xor", "bitand", "bitor", "compl", "union", "default", "new"}
#: Members that the class below defines itself.
_OWN = set("size dim numel sizes strides stride dtype device data to grad".split())

_HEAD = """// Written by facula.utils.cpp_extension from the headers of the operators.
#pragma once
#include <initializer_list>
#include <optional>
#include <tuple>
#include <vector>

#include "facula/autograd/engine.h"
#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/core/thread_state.h"
#include "facula/nn/values.h"
#include "facula/ops/functions.h"

namespace torch {
using namespace facula;

class Tensor;
using NoGradGuard = facula::NoGrad;
using ScalarType = facula::DType;
using Dtype = facula::DType;
using IntArrayRef = facula::IntList;
inline constexpr auto kFloat = facula::kFloat32, kDouble = facula::kFloat64,
                      kHalf = facula::kFloat16, kInt = facula::kInt32, kLong = facula::kInt64,
                      kShort = facula::kInt16, kChar = facula::kInt8, kByte = facula::kUInt8;
inline constexpr auto nullopt = std::nullopt;

// TensorOptions carries the dtype of new tensors; there is one device.
struct TensorOptions {
  std::optional<facula::DType> type;
  TensorOptions dtype(facula::DType t) const { return {t}; }
  template <class T>
  TensorOptions device(const T&) const { return *this; }
  operator std::optional<facula::DType>() const { return type; }
};
inline TensorOptions dtype(facula::DType t) { return {t}; }

// TensorAccessor gives elements by N indices, unchecked.
template <class T, size_t N>
struct TensorAccessor {
  T* data;
  const int64_t *sizes, *strides;
  TensorAccessor<T, N - 1> operator[](int64_t i) const {
    return {data + i * strides[0], sizes + 1, strides + 1};
  }
  int64_t size(int64_t d) const { return sizes[d]; }
};
template <class T>
struct TensorAccessor<T, 1> {
  T* data;
  const int64_t *sizes, *strides;
  T& operator[](int64_t i) const { return data[i * strides[0]]; }
  int64_t size(int64_t d) const { return sizes[d]; }
};

inline facula::TensorList as_list(const std::vector<Tensor>& v);
inline std::vector<Tensor> as_own(const std::vector<facula::Tensor>& v);

class Tensor : public facula::Tensor {
 public:
  Tensor() = default;
  Tensor(const facula::Tensor& t) : facula::Tensor(t) {}
  Tensor(facula::Tensor&& t) : facula::Tensor(std::move(t)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & = default;
  // What is assigned to a part goes into what it is a part of: t[0] = u, t[0] = 1.
  Tensor& operator=(const Tensor& t) && {
    facula::copy_(*this, t);
    return *this;
  }
  Tensor& operator=(const facula::Scalar& value) && {
    facula::fill_(*this, value);
    return *this;
  }

  facula::DType scalar_type() const { return dtype(); }
  TensorOptions options() const { return {dtype()}; }
  int64_t ndimension() const { return dim(); }
  Tensor to(facula::DType t) const { return facula::to(*this, std::nullopt, t); }
  Tensor cpu() const { return *this; }
  bool is_cuda() const { return false; }
  Tensor grad() const { return facula::grad(*this); }
  bool requires_grad() const { return facula::requires_grad(*this); }
  Tensor set_requires_grad(bool on) const {
    facula::set_requires_grad(*this, on);
    return *this;
  }
  void backward() const { facula::backward(*this); }
  Tensor operator[](int64_t i) const { return facula::select(*this, 0, i); }
  template <class T>
  T* data_ptr() const {
    return facula::data_ptr<T>(*this);
  }
  template <class T = double>
  T item() const {
    return facula::item<T>(*this);
  }
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const {
    FACULA_CHECK(dim() == static_cast<int64_t>(N), kRuntime, "accessor: expected ", N,
                 " dimensions, got ", dim());
    return {data_as<T>(), sizes().data(), strides().data()};
  }
"""
_AFTER = """};

inline facula::TensorList as_list(const std::vector<Tensor>& v) {
  static_assert(sizeof(Tensor) == sizeof(facula::Tensor));
  return {static_cast<const facula::Tensor*>(v.data()), v.size()};
}
inline std::vector<Tensor> as_own(const std::vector<facula::Tensor>& v) {
  return {v.begin(), v.end()};
}
inline Tensor tensor(std::initializer_list<double> values) {
  std::vector<float> v(values.begin(), values.end());
  return facula::tensor_of(v, IntList({static_cast<int64_t>(v.size())}));
}
"""
#: What stands between two operands, with an in-place form.
_SIGNS = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "%": "remainder",
    "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor",
}  # fmt: skip
#: Comparisons, with the operator of the operands the other way round.
_COMPARISONS = {
    "==": ("eq", "eq"), "!=": ("ne", "ne"), "<": ("lt", "gt"), "<=": ("le", "ge"),
    ">": ("gt", "lt"), ">=": ("ge", "le"),
}  # fmt: skip
_UNARY = {"-": "neg", "!": "logical_not", "~": "bitwise_not"}


class Declaration(NamedTuple):
    """A function of the C++ interface."""

    result: str
    name: str
    parameters: list[tuple[str, str, str]]  # type, name, default


def _split(text: str) -> list[str]:
    """Splits at the commas that are outside of brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<({") - (c in ">)}")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in [*parts, text[start:]] if p.strip()]


def _declarations(folder: Path) -> list[Declaration]:
    """Reads what the headers of the operators declare."""
    found: dict[str, Declaration] = {}
    for header in sorted(folder.glob("*_functions.h")):
        text = re.sub(r"//.*", "", header.read_text())
        for result, name, inside in re.findall(
            r"FACULA_API\s+([\w:<>, ]+?)\s+(\w+)\((.*?)\);", text, re.DOTALL
        ):
            parameters = []
            for part in _split(" ".join(inside.split())):
                left, _, default = part.partition(" = ")
                kind, _, variable = left.rpartition(" ")
                parameters.append((kind, variable, default))
            if name not in _KEYWORDS:
                found.setdefault(name, Declaration(result, name, parameters))
    return list(found.values())


def _parameter(kind: str, name: str, default: str) -> str:
    kind = {"TensorList": "const std::vector<Tensor>&"}.get(kind, kind)
    return f"{kind} {name}" + (f" = {default}" if default else "")


def _call(d: Declaration, values: list[str]) -> str:
    words = [
        f"as_list({v})" if kind == "TensorList" else v
        for (kind, _, _), v in zip(d.parameters, values, strict=True)
    ]
    call = f"facula::{d.name}({', '.join(words)})"
    return f"as_own({call})" if d.result == "std::vector<Tensor>" else call


def _signs() -> list[str]:
    """Writes every sign for the class itself: those of its base would take two operands as well."""
    others = ("TensorOrScalar", "facula::Tensor")
    pairs = [
        ("Tensor", "Tensor"),
        *(("Tensor", o) for o in others),
        *((o, "Tensor") for o in others),
    ]
    both = {sign: (name, "") for sign, name in _SIGNS.items()} | _COMPARISONS
    lines = []
    for sign, (name, mirrored) in both.items():
        for a, b in pairs:
            swap = mirrored and a != "Tensor"
            call = f"facula::{mirrored}(b, a)" if swap else f"facula::{name}(a, b)"
            lines.append(f"inline Tensor operator{sign}(const {a}& a, const {b}& b) "
                         f"{{ return {call}; }}")  # fmt: skip
    for sign, name in _SIGNS.items():
        lines.append(f"inline Tensor& operator{sign}=(Tensor& a, const TensorOrScalar& b) "
                     f"{{ facula::{name}_(a, b); return a; }}")  # fmt: skip
        lines.append(f"inline Tensor operator{sign}=(const Tensor& a, const TensorOrScalar& b) "
                     f"{{ return facula::{name}_(a, b); }}")  # fmt: skip
    for sign, name in _UNARY.items():
        lines.append(
            f"inline Tensor operator{sign}(const Tensor& a) {{ return facula::{name}(a); }}"
        )
    return lines


def operators_header(folder: Path) -> str:
    """Returns the text of torch/operators.h for the operators whose headers lie in a folder."""
    methods, functions = [], []
    for d in _declarations(folder):
        names = [name for _, name, _ in d.parameters]
        listed = ", ".join(_parameter(*p) for p in d.parameters)
        functions.append(f"inline {d.result} {d.name}({listed}) {{ return {_call(d, names)}; }}")
        first = d.parameters[0] if d.parameters else ("", "", "")
        if first[0] == "const Tensor&" and first[1] in ("self", "input") and d.name not in _OWN:
            rest = ", ".join(_parameter(*p) for p in d.parameters[1:])
            call = _call(d, ["*this", *names[1:]])
            methods.append(f"  {d.result} {d.name}({rest}) const {{ return {call}; }}")
        elif first[0] == "const TensorOrScalar&" and d.name not in _OWN:
            rest = ", ".join(_parameter(*p) for p in d.parameters[1:])
            call = _call(d, ["*this", *names[1:]])
            methods.append(f"  {d.result} {d.name}({rest}) const {{ return {call}; }}")
    parts = [_HEAD, *methods, _AFTER, *functions, *_signs(), "}  // namespace torch", ""]
    return "\n".join(parts)
