"""Switches of how modules change their parameters, for `Module.to` and `load_state_dict`.

Both are off: a converted parameter stays the object that it was and gets other data.
"""

from __future__ import annotations

__all__ = [
    "get_overwrite_module_params_on_conversion",
    "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion",
    "set_swap_module_params_on_conversion",
]

_overwrite = False
_swap = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Let conversions of modules put new parameters in the place of the old ones."""
    global _overwrite
    _overwrite = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether conversions of modules put new parameters in the place of the old ones."""
    return _overwrite


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Let conversions of modules and `load_state_dict` exchange parameters by `swap_tensors`, so
    that they keep their identity whatever their new type or device.
    """
    global _swap
    _swap = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether conversions and `load_state_dict` exchange parameters by `swap_tensors`."""
    return _swap
