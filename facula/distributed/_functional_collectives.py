"""Collective functions that return new tensors: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "all_gather_single all_gather_tensor all_gather_tensor_autograd all_reduce "
    "all_to_all_single all_to_all_single_autograd broadcast reduce_scatter_tensor "
    "reduce_scatter_tensor_autograd wait_tensor",
    "AsyncCollectiveTensor",
    "process groups are not built",
)
