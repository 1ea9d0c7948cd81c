"""How tensors are placed on devices: not built."""

from facula import _absent
from facula.distributed.tensor import Partial, Placement, Replicate, Shard  # noqa: F401

_absent.add_absent(
    globals(), "", "DTensorSpec TensorMeta _StridedShard", "process groups are not built"
)
