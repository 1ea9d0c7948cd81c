"""Settings of sharded data parallelism: not built."""

from facula.distributed.fsdp.fully_sharded_data_parallel import (
    FullOptimStateDictConfig,  # noqa: F401
    FullStateDictConfig,  # noqa: F401
    ShardedOptimStateDictConfig,  # noqa: F401
    ShardedStateDictConfig,  # noqa: F401
    ShardingStrategy,  # noqa: F401
    StateDictType,  # noqa: F401
)
