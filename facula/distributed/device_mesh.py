"""Arrangements of devices: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "init_device_mesh",
    "DeviceMesh",
    "process groups are not built",
)
