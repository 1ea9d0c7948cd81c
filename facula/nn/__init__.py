"""Neural networks: modules, their functional forms, initialisers and utilities.

Other parts, such as `nn.parallel` and `nn.attention`, are imported at their first use.
"""

from __future__ import annotations

from typing import Any

from facula.nn import functional, init, modules, parameter, utils
from facula.nn.modules import *
from facula.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

_LAZY = {
    **dict.fromkeys(("attention", "common_types", "grad", "parallel", "quantized")),
    "DataParallel": "parallel",
}


def factory_kwargs(kwargs: dict | None) -> dict:
    """Take device, dtype and memory_format out of `kwargs`, also from its entry "factory_kwargs";
    TypeError for other keys.
    """
    if kwargs is None:
        return {}
    simple = {"device", "dtype", "memory_format"}
    expected = simple | {"factory_kwargs"}
    if not kwargs.keys() <= expected:
        raise TypeError(f"unexpected kwargs {kwargs.keys() - expected}")
    result = dict(kwargs.get("factory_kwargs", {}))
    for key in simple & kwargs.keys():
        if key in result:
            raise TypeError(f"{key} specified twice, in **kwargs and in factory_kwargs")
        result[key] = kwargs[key]
    return result


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        import importlib

        home = _LAZY[name]
        module = importlib.import_module(f"facula.nn.{home or name}")
        return module if home is None else getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
