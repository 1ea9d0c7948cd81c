"""Sharded data parallelism: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "fully_shard register_fsdp_forward_method",
    "FullyShardedDataParallel FSDPModule BackwardPrefetch CPUOffload CPUOffloadPolicy "
    "OffloadPolicy FullOptimStateDictConfig FullStateDictConfig LocalOptimStateDictConfig "
    "LocalStateDictConfig MixedPrecision MixedPrecisionPolicy OptimStateDictConfig "
    "OptimStateKeyType ShardedOptimStateDictConfig ShardedStateDictConfig ShardingStrategy "
    "StateDictConfig StateDictSettings StateDictType FlatParameter UnshardHandle",
    "process groups are not built",
)
