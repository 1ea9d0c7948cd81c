"""Checkpoints in safetensors files of several processes: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "",
    "HuggingFaceStorageReader HuggingFaceStorageWriter",
    "process groups are not built",
)
