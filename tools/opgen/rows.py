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
  inplace_grad=  rules in terms of `result` for the in-place form of rows whose formula needs the old self
  out=        whether out= is accepted; default: pointwise, kernel and manual rows with a public name and tensor results
  nondifferentiable="reason"   no gradient, on purpose
  factory=True   appends *, DType? dtype=None, Layout? layout=None, Device? device=None, bool pin_memory=False,
        bool requires_grad=False to the Python signature (C++: dtype and device, as the last two parameters)
  defaults of the Python doc: doc="One sentence. More text."   samples=  test samples where the generated ones do not fit
  A row whose name ends in "_" writes into self and returns it: forward::copy_(const Tensor& self, ...).
  bool_inputs="condition"      pointwise inputs that are read as bool and take no part in promotion.

Expressions may use + - * / ** and comparisons on tensors and numbers, `a if c else b`, tuples, names of rows (public or
hidden), keyword arguments, and the metadata helpers shape(x) dtype(x) dim(x) size(x, d) numel(x) strides(x) is_complex(x)
device(x) defined(x). Unknown names and wrong arity are build errors.
"""
