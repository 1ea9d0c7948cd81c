"""Quantised modules: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "",
    "quantized intrinsic qat quantizable",
    "models are not quantised",
)
