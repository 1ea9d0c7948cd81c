"""Quantisation of traced programs: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "convert_fx fuse_fx prepare_fx prepare_qat_fx",
    "",
    "models are not quantised",
)
