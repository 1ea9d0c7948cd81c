"""Sizes of the parts of distributed tensors: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "compute_global_tensor_info compute_local_shape compute_local_shape_and_global_offset",
    "",
    "process groups are not built",
)
