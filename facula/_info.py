"""facula.finfo and facula.iinfo: the ranges and precisions of dtypes."""

from __future__ import annotations

from facula import _C

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

# bits, mantissa bits, exponent of the largest power of two, decimal resolution
_FLOATS = {
    _C.float16: (16, 10, 15, 1e-3),
    _C.bfloat16: (16, 7, 127, 1e-2),
    _C.float32: (32, 23, 127, 1e-6),
    _C.float64: (64, 52, 1023, 1e-15),
}


class finfo:
    """The numbers that describe a floating-point type; of complex types, that of their parts."""

    def __init__(self, type: Any = None) -> None:
        dtype = _C.get_default_dtype() if type is None else type
        if not isinstance(dtype, _C.dtype):
            raise TypeError(
                _C._package_words("finfo(): argument 'type' must be facula.dtype, not ")
                + repr(type)
            )
        if dtype.itemsize == 1 and dtype.is_floating_point:  # a type that no tensor has
            from facula import _names

            self.dtype = repr(dtype).rsplit(".", 1)[-1]
            numbers = _names._EIGHT_BITS.get(self.dtype.removeprefix("float8_"))
            if numbers is None:
                raise _names._absent.missing(f"finfo of {dtype!r}")
            self.bits, self.eps, self.max, self.min, self.tiny = numbers
            self.smallest_normal, self.resolution = self.tiny, 1.0
            return
        dtype = dtype.to_real()
        if dtype not in _FLOATS:
            raise TypeError(
                _C._package_words(
                    "facula.finfo() requires a floating point input type. Use facula.iinfo to "
                    f"handle '{dtype}'"
                )
            )
        self.bits, mantissa, top, self.resolution = _FLOATS[dtype]
        self.eps = 2.0**-mantissa
        self.max = (2.0 - self.eps) * 2.0**top
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - top)
        self.dtype = repr(dtype).rsplit(".", 1)[-1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(("finfo", self.dtype))

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        numbers = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({numbers}, dtype={self.dtype})"


class iinfo:
    """The numbers that describe an integer type."""

    def __init__(self, type: Any) -> None:
        if not isinstance(type, _C.dtype):
            raise TypeError(
                _C._package_words("iinfo(): argument 'type' must be facula.dtype, not ")
                + repr(type)
            )
        if type.is_floating_point or type.is_complex:
            raise TypeError(
                _C._package_words(
                    "facula.iinfo() requires an integer input type. Use facula.finfo to handle "
                    f"'{type}'"
                )
            )
        if type is _C.bool:
            raise TypeError(_C._package_words("facula.bool is not supported by iinfo"))
        self.bits = type.itemsize * 8
        signed = type.is_signed
        self.max = 2 ** (self.bits - signed) - 1
        self.min = -(2 ** (self.bits - 1)) if signed else 0
        self.dtype = repr(type).rsplit(".", 1)[-1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(("iinfo", self.dtype))

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
