"""What checkpoints of several processes hold: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "",
    "Metadata STORAGE_TYPES TensorStorageMetadata",
    "process groups are not built",
)
