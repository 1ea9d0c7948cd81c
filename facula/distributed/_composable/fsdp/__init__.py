"""Sharding by a function over modules: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "fully_shard",
    "FSDPModule MixedPrecisionPolicy CPUOffloadPolicy OffloadPolicy",
    "process groups are not built",
)
