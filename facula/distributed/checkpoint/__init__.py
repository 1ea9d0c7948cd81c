"""Checkpoints of several processes: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "async_save load load_state_dict save save_state_dict",
    "DefaultLoadPlanner DefaultSavePlanner FileSystemReader FileSystemWriter LoadPlan "
    "LoadPlanner SavePlan SavePlanner StorageReader StorageWriter Metadata",
    "process groups are not built",
)
