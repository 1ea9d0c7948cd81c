"""Element-wise functions of the array API standard.

Most are an operator of Facula behind the promotion of the standard; a table says which. Functions
of two arrays take a Python number in place of one of them.
"""

from __future__ import annotations

import builtins

import facula
from facula._naming import named
from facula.array_api._promotion import Tensor, beside_number, constant, operands

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from collections.abc import Callable

    from facula.array_api._promotion import Array, Number

__all__ = (
    "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert "
    "bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos "
    "cosh divide equal exp expm1 floor floor_divide greater greater_equal hypot imag isfinite "
    "isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or "
    "logical_xor maximum minimum multiply negative nextafter not_equal positive pow real "
    "reciprocal remainder round sign signbit sin sinh sqrt square subtract tan tanh trunc"
).split()


def _unary(name: str, operator: Callable[[Array], Array], doc: str) -> Callable[[Array], Array]:
    def function(x: Array, /) -> Array:
        return operator(x)

    return named(function, "facula.array_api", name, doc)


def _binary(
    name: str, operator: Callable[[Array, Array], Array], doc: str
) -> Callable[[Array | Number, Array | Number], Array]:
    def function(x1: Array | Number, x2: Array | Number, /) -> Array:
        return operator(*operands(x1, x2))

    return named(function, "facula.array_api", name, doc)


def _by_parts(operator: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Apply an operator to the real and the imaginary parts of a complex array."""

    def function(x: Array) -> Array:
        if x.dtype.is_complex:
            return facula.complex(operator(x.real), operator(x.imag))
        return operator(x)

    return function


# ---- one array

abs = _unary("abs", facula.abs, "`|x|`; of complex numbers, real: their magnitude.")
acos = _unary("acos", facula.acos, "The angle in [0, pi] whose cosine is `x`.")
acosh = _unary("acosh", facula.acosh, "The number whose hyperbolic cosine is `x`.")
asin = _unary("asin", facula.asin, "The angle in [-pi/2, pi/2] whose sine is `x`.")
asinh = _unary("asinh", facula.asinh, "The number whose hyperbolic sine is `x`.")
atan = _unary("atan", facula.atan, "The angle in [-pi/2, pi/2] whose tangent is `x`.")
atanh = _unary("atanh", facula.atanh, "The number whose hyperbolic tangent is `x`.")
bitwise_invert = _unary("bitwise_invert", facula.bitwise_not, "Every bit inverted.")
ceil = _unary("ceil", facula.ceil, "The least integer that is not less than `x`.")
conj = _unary("conj", facula.conj, "The complex conjugate; real arrays are given back.")
cos = _unary("cos", facula.cos, "The cosine of `x` in radians.")
cosh = _unary("cosh", facula.cosh, "The hyperbolic cosine.")
exp = _unary("exp", facula.exp, "`e ** x`.")
expm1 = _unary("expm1", facula.expm1, "`e ** x - 1`, exact near zero.")
floor = _unary("floor", facula.floor, "The greatest integer that is not greater than `x`.")
isfinite = _unary("isfinite", facula.isfinite, "Whether `x` is neither infinite nor NaN.")
isinf = _unary("isinf", facula.isinf, "Whether `x`, or a part of it, is infinite.")
isnan = _unary("isnan", facula.isnan, "Whether `x`, or a part of it, is NaN.")
log = _unary("log", facula.log, "The natural logarithm.")
log10 = _unary("log10", facula.log10, "The logarithm of base 10.")
log1p = _unary("log1p", facula.log1p, "`log(1 + x)`, exact near zero.")
log2 = _unary("log2", facula.log2, "The logarithm of base 2.")
logical_not = _unary("logical_not", facula.logical_not, "Whether `x` is false or zero.")
negative = _unary("negative", facula.negative, "`-x`.")
positive = _unary("positive", facula.positive, "`+x`: the array itself.")
real = _unary("real", facula.real, "The real part; real arrays are given back.")
reciprocal = _unary("reciprocal", facula.reciprocal, "`1 / x`.")
round = _unary(
    "round", _by_parts(facula.round), "The nearest integer, of two equally near ones the even."
)
signbit = _unary("signbit", facula.signbit, "Whether the sign of `x` is negative, as of -0.0.")
sin = _unary("sin", facula.sin, "The sine of `x` in radians.")
sinh = _unary("sinh", facula.sinh, "The hyperbolic sine.")
sqrt = _unary("sqrt", facula.sqrt, "The square root; of complex numbers, with real part >= 0.")
square = _unary("square", facula.square, "`x * x`.")
tan = _unary("tan", facula.tan, "The tangent of `x` in radians.")
tanh = _unary("tanh", facula.tanh, "The hyperbolic tangent.")
trunc = _unary("trunc", facula.trunc, "The nearest integer that is not farther from zero.")


def imag(x: Array, /) -> Array:
    """Give the imaginary part: of a real array, zeros."""
    return x.imag if x.dtype.is_complex else facula.zeros_like(x)


def sign(x: Array, /) -> Array:
    """Give -1, 0 or 1; of a complex number `x / |x|`, or 0; NaN stays NaN."""
    return facula.sgn(x)


# ---- two arrays, or an array and a number

add = _binary("add", facula.add, "`x1 + x2`.")
atan2 = _binary("atan2", facula.atan2, "The angle of the point (x2, x1), in [-pi, pi].")
bitwise_and = _binary("bitwise_and", facula.bitwise_and, "`x1 & x2`, bit by bit.")
bitwise_left_shift = _binary(
    "bitwise_left_shift", facula.bitwise_left_shift, "`x1 << x2`, for x2 >= 0."
)
bitwise_or = _binary("bitwise_or", facula.bitwise_or, "`x1 | x2`, bit by bit.")
bitwise_right_shift = _binary(
    "bitwise_right_shift", facula.bitwise_right_shift, "`x1 >> x2`, keeping the sign; x2 >= 0."
)
bitwise_xor = _binary("bitwise_xor", facula.bitwise_xor, "`x1 ^ x2`, bit by bit.")
copysign = _binary("copysign", facula.copysign, "`|x1|` with the sign of `x2`.")
divide = _binary("divide", facula.divide, "`x1 / x2`.")
equal = _binary("equal", facula.eq, "`x1 == x2`, of dtype bool.")
greater = _binary("greater", facula.gt, "`x1 > x2`, of dtype bool.")
greater_equal = _binary("greater_equal", facula.ge, "`x1 >= x2`, of dtype bool.")
hypot = _binary("hypot", facula.hypot, "`sqrt(x1**2 + x2**2)` without overflow on the way.")
less = _binary("less", facula.lt, "`x1 < x2`, of dtype bool.")
less_equal = _binary("less_equal", facula.le, "`x1 <= x2`, of dtype bool.")
logaddexp = _binary("logaddexp", facula.logaddexp, "`log(exp(x1) + exp(x2))`.")
logical_and = _binary("logical_and", facula.logical_and, "Whether both are true.")
logical_or = _binary("logical_or", facula.logical_or, "Whether any of the two is true.")
logical_xor = _binary("logical_xor", facula.logical_xor, "Whether exactly one of two is true.")
maximum = _binary("maximum", facula.maximum, "The greater of two, NaN where any is NaN.")
minimum = _binary("minimum", facula.minimum, "The lesser of two, NaN where any is NaN.")
multiply = _binary("multiply", facula.multiply, "`x1 * x2`.")
nextafter = _binary("nextafter", facula.nextafter, "The number next to `x1` towards `x2`.")
not_equal = _binary("not_equal", facula.ne, "`x1 != x2`, of dtype bool.")
pow = _binary("pow", facula.pow, "`x1 ** x2`.")
remainder = _binary("remainder", facula.remainder, "`x1 % x2`, with the sign of `x2`.")
subtract = _binary("subtract", facula.subtract, "`x1 - x2`.")


def floor_divide(x1: Array | Number, x2: Array | Number, /) -> Array:
    """`floor(x1 / x2)`, also of infinities, where `x1 // x2` is NaN or -1 as in Python."""
    a, b = operands(x1, x2)
    quotient = facula.floor_divide(a, b)
    if not a.dtype.is_floating_point:
        return quotient
    infinite = facula.isinf(a) | facula.isinf(b)
    return facula.where(infinite, facula.floor(facula.divide(a, b)), quotient)


def clip(
    x: Array, /, min: Array | Number | None = None, max: Array | Number | None = None
) -> Array:
    """Limit `x` from below by `min` and from above by `max`, arrays or numbers (None: no limit).

    The three broadcast together; the result has the dtype of `x`. NaN of `x` stays NaN.

        >>> clip(facula.tensor([-2, 0, 7]), 0, facula.tensor(5))
        tensor([0, 0, 5])
    """
    low, high = _limit(min, x, is_low=True), _limit(max, x, is_low=False)
    if low is None and high is None:
        return x.clone()
    return facula.clamp(x, low, high)


def _limit(limit: Array | Number | None, x: Array, is_low: builtins.bool) -> Array | None:
    """Give a limit as an array of the dtype of `x`, or None where it limits nothing."""
    if limit is None or isinstance(limit, Tensor):
        return None if limit is None else limit.to(x.dtype)
    if isinstance(limit, int) and not (x.dtype.is_floating_point or x.dtype == facula.bool):
        info = facula.iinfo(x.dtype)
        if limit < info.min:
            limit = None if is_low else info.min
        elif limit > info.max:
            limit = info.max if is_low else None
        return None if limit is None else constant(limit, x.dtype, x.device)
    if beside_number(x.dtype, limit) != x.dtype:
        raise TypeError(f"clip: a limit of type {type(limit).__name__} does not fit {x.dtype}")
    return constant(limit, x.dtype, x.device)
