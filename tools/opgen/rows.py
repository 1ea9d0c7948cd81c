"""The language of the operator table: the functions that ops/*.py call, one call a row.

A row's signature is text: "softmax(Tensor self, int dim, *, DType? dtype=None) -> Tensor".
Types: Tensor, Tensor?, Tensor[], Tensor?[], Tensor|Scalar, Scalar, Scalar?, int, int?, int[], int[]?, int... (the rest of
the positional arguments or a list), Dim (an int that counts elements), float, float?, float[], float[]?, bool, bool?, str,
str?, DType, DType?, Device?, Generator?, MemoryFormat?. Results: Tensor (the default), "(Tensor values, Tensor indices)",
Tensor[], or one of bool, int, float, Scalar, Size, None.

Kinds of rows
  pointwise(sig, expr, d={input: derivative}, ...)   expr is the scalar expression of one element; from it come the loops of all
        dtypes. d gives d(result)/d(input) as an expression over inputs and `result`; rows that are not holomorphic, or whose
        reverse rule is not a product, give grad={input: rule} instead, in which `grad` is the incoming gradient.
  kernel(sig, shape=, dtype=, family=, ...)          result of a shape and dtype rule (C++ expressions from ops/shape_rules.h),
        filled by kernels::FAMILY->NAME(out..., inputs as View, other arguments as they are, Fault* when faults=True).
  manual(sig, ...)                                   C++ `facula::forward::NAME(...)` in src/facula/ops computes the result from
        plain data; gradients by grad= as for kernels.
  view(sig, geometry, ...)                           geometry is a C++ expression of type Geometry (ops/geometry.h).
  composite(sig, expr=None, ...)                     built from other rows by expr, or by a C++ function `facula::NAME` of the
        row's signature in src/facula/ops; records nothing of its own.

Common keywords
  grad={"self": "expr", ("a", "b"): "f(grad, ..., mask)"}   reverse rules of kernel, manual and view rows. With several outputs
        the gradients are grad_<output name>, and results are named as in the signature. A tuple key calls a row that
        returns as many tensors; `mask` there is the bool[] of inputs that need a gradient.
  types=      dtypes of the loops or allowed inputs: all number real integer bitwise inexact floating bool (pointwise rows)
  result=     same (promoted), float (integers become the default float), bool, real (complex to its real part)
  names=      public names, space separated, relative to the package: "softmax nn.functional.softmax"; "" hides the row
  method=     whether it is a Tensor method; default: the first parameter is called self and the name has no dots
  inplace=    pointwise: default True if it is a method. Others: False, True (functional, then stored), "direct" (C++
        `facula::forward::NAME_(self, ...)` writes into self)
  saves_self=True    composites with an in-place form: what they are built from keeps self for its derivatives, so that form
        computes from a copy of self where one of the tensors wants a gradient
  inplace_grad=  rules in terms of `result` for the in-place form of rows whose formula needs the old self
  out=        whether the function accepts out= (methods and in-place forms never do); default: pointwise, kernel, manual and
              composite rows with a public name and tensor results, lists of them left out
              True: results are cast to the dtypes of the out= tensors, where that loses no kind of number; a row with a
              parameter `dtype` and one result computes in the dtype of out=.   "exact": out= must have the results' dtypes
  overlap=    memory that an out= tensor may share with the arguments, as in PyTorch: "any" (the default of rows that are not
              pointwise), "whole" (an argument's whole memory, the default of pointwise rows), "none"
  nondifferentiable="reason"   no gradient, on purpose
  factory=True   appends *, DType? dtype=None, Layout? layout=None, Device? device=None, bool pin_memory=False,
        bool requires_grad=False to the Python signature (C++: dtype and device, as the last two parameters)
  defaults of the Python doc: doc="One sentence. More text."   samples=  test samples where the generated ones do not fit
  A row whose name ends in "_" writes into self and returns it: forward::copy_(const Tensor& self, ...).
  linear=True    linear in all arguments that have gradients together: forward mode applies the row itself to tangents
  batch=         how a row runs on all samples of a vmap at once, which lie in front of the first tensor's dimensions:
        "along"     along the dimensions in its parameter `dim`, which move up by one (views with an `int dim`: by default)
        "leading"   dimensions in front make no difference to it;   "matrices"  nor to it, where a sample has two or more
        "boxed"     a composite in C++ that offers itself to interpreters by boxed_NAME, as other kinds do
        Pointwise rows need none; other rules stand in src/facula/modes/batch_*.cpp; a row without any runs sample by sample.
  bool_inputs="condition"      pointwise inputs that are read as bool and take no part in promotion.

Expressions may use + - * / ** and comparisons on tensors and numbers, `a if c else b`, tuples, names of rows (public or
hidden), keyword arguments, and the metadata helpers shape(x) dtype(x) dim(x) size(x, d) numel(x) strides(x) is_complex(x)
device(x) defined(x). Unknown names and wrong arity are build errors.
"""
from __future__ import annotations

import sys
from dataclasses import dataclass, field

from opgen.signature import Param, Signature, parse_signature

TABLE: dict[str, Row] = {}
FACTORY_PARAMS = [Param("DType?", "dtype", "None", True), Param("Layout?", "layout", "None", True),
                  Param("Device?", "device", "None", True), Param("bool", "pin_memory", "False", True),
                  Param("bool", "requires_grad", "False", True)]
FACTORY_CPP_PARAMS = [Param("DType?", "dtype", "None"), Param("Device?", "device", "None")]
KEYWORDS = {"grad", "d", "jvp", "types", "result", "names", "method", "inplace", "inplace_grad", "out",
            "nondifferentiable", "factory", "doc", "samples", "bool_inputs", "shape", "dtype", "family",
            "fused", "faults", "linear", "batch", "amp", "workspace", "cost", "notes", "tuple_name",
            "devices", "check", "aliases", "overlap", "saves_self"}


@dataclass
class Row:
    """One row of the table, with what its keywords mean once defaults are applied."""

    kind: str
    sig: Signature
    expr: str | None
    where: str  # ops/nn.py:41
    family: str  # nn
    options: dict = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.sig.name

    @property
    def mutates(self) -> bool:
        """Whether the row itself writes into self (its name ends in an underscore)."""
        return self.name.endswith("_") and not self.name.endswith("__")

    @property
    def names(self) -> list[str]:
        return self.options.get("names", self.name).split()

    @property
    def method(self) -> bool:
        first = self.sig.params[0].name if self.sig.params else ""
        default = first == "self" and bool(self.names) and all("." not in n for n in self.names)
        return bool(self.options.get("method", default))

    @property
    def inplace(self):
        """False, True or "direct"."""
        default = (self.kind == "pointwise" and self.method and not self.mutates
                   and self.options.get("result") != "bool")
        return self.options.get("inplace", default)

    @property
    def out(self) -> bool:
        default = (self.kind in ("pointwise", "kernel", "manual", "composite") and bool(self.names)
                   and not self.mutates and self.sig.returns in ("Tensor", "tuple")
                   and any("." not in n or n.split(".")[0] in ("linalg", "special", "fft")
                           for n in self.names))
        return self.options.get("out", default)

    @property
    def overlap(self) -> str:
        """What an out= tensor may share with the arguments: any, whole or none."""
        return self.options.get("overlap", "whole" if self.kind == "pointwise" else "any")

    @property
    def gradients(self) -> dict:
        """Rules by input name or tuple of names, as expressions."""
        return self.options.get("grad") or self.options.get("d") or {}

    @property
    def has_node(self) -> bool:
        return bool(self.gradients) and self.kind != "composite"

    @property
    def cpp_params(self) -> list[Param]:
        """Parameters of the C++ function: those of the signature, then dtype and device of a factory."""
        return self.sig.params + (FACTORY_CPP_PARAMS if self.options.get("factory") else [])

    @property
    def class_name(self) -> str:
        stem = "".join(w[:1].upper() + w[1:] for w in self.name.strip("_").split("_"))
        # bernoulli and bernoulli_ are two rows, each with its own node.
        return stem + "Inplace" if self.mutates and self.name[:-1] in TABLE else stem

    @property
    def doc(self) -> str:
        return " ".join(self.options.get("doc", "").split())


def add(kind: str, signature: str, expr: str | None, options: dict, family: str | None = None) -> None:
    """Append a row, noting the place of the call in ops/."""
    frame = sys._getframe(2)
    file = frame.f_code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    where = f"ops/{file}:{frame.f_lineno}"
    unknown = set(options) - KEYWORDS
    if unknown:
        raise SyntaxError(f"{where}: unknown keywords {sorted(unknown)}")
    sig = parse_signature(signature, where)
    if sig.name in TABLE:
        raise SyntaxError(f"{where}: row {sig.name} exists at {TABLE[sig.name].where}")
    row = Row(kind, sig, expr, where, file.removesuffix(".py"), options)
    for key in row.gradients:
        for name in key if isinstance(key, tuple) else (key,):
            if not sig.param(name):
                raise SyntaxError(f"{where}: gradient of unknown input {name!r}")
    TABLE[sig.name] = row


def pointwise(signature: str, expr: str, **options) -> None:
    """A row computed element by element from `expr`."""
    add("pointwise", signature, expr, options)


def kernel(signature: str, **options) -> None:
    """A row whose result has a shape and dtype rule and is filled by a kernel."""
    add("kernel", signature, None, options)


def manual(signature: str, **options) -> None:
    """A row whose forward is written by hand in C++."""
    add("manual", signature, None, options)


def view(signature: str, geometry: str, **options) -> None:
    """A row that returns a view of its first input."""
    add("view", signature, geometry, options)


def composite(signature: str, expr: str | None = None, **options) -> None:
    """A row made of other rows."""
    add("composite", signature, expr, options)
