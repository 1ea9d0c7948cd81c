"""Sharded data parallelism under the name of its module: not built."""

from facula import _absent
from facula.distributed.fsdp import (
    BackwardPrefetch,  # noqa: F401
    CPUOffload,  # noqa: F401
    FullOptimStateDictConfig,  # noqa: F401
    FullStateDictConfig,  # noqa: F401
    FullyShardedDataParallel,  # noqa: F401
    LocalStateDictConfig,  # noqa: F401
    MixedPrecision,  # noqa: F401
    OptimStateKeyType,  # noqa: F401
    ShardedOptimStateDictConfig,  # noqa: F401
    ShardedStateDictConfig,  # noqa: F401
    ShardingStrategy,  # noqa: F401
    StateDictType,  # noqa: F401
)

FSDP_WRAPPED_MODULE = "_fsdp_wrapped_module"
_absent.add_absent(globals(), "", "FlatParameter", "process groups are not built")
