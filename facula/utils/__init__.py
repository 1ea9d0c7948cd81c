"""Utilities that belong to no single layer; each part is imported at its first use."""

from __future__ import annotations

import importlib
from typing import Any

_PARTS = frozenset(
    "_contextlib _foreach_utils _python_dispatch _pytree backend_registration benchmark "
    "checkpoint collect_env cpp_extension data deterministic dlpack flop_counter hooks "
    "mobile_optimizer model_zoo tensorboard weak".split()
)


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchange what two tensors are: their data, gradients and attributes.

    Raises RuntimeError when a tensor takes part in a graph or has weak references.
    """
    import weakref

    for t in (t1, t2):
        if weakref.getweakrefs(t):
            raise RuntimeError("Cannot swap a tensor that has a weak reference to it")
        if t.grad_fn is not None:
            raise RuntimeError("Cannot swap a tensor that is part of a graph")
    first, second = t1.detach(), t2.detach()
    for t in (t1, t2):
        t._bump_version()  # graphs that saved a tensor must not take the other's values for its
    kinds, wants = (type(t1), type(t2)), (t1.requires_grad, t2.requires_grad)
    grads, names = (t1.grad, t2.grad), (dict(t1.__dict__), dict(t2.__dict__))
    for target, data, i in ((t1, second, 1), (t2, first, 0)):
        target.grad = None
        target.requires_grad_(False)
        target.data = data
        target.requires_grad_(wants[i])
        target.grad = grads[i]
        target.__dict__.clear()
        target.__dict__.update(names[i])
        if type(target) is not kinds[i]:
            target.__class__ = kinds[i]


def set_module(obj: Any, mod: str) -> None:
    """Set the module that an object says it comes from."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(f"facula.utils.{name}")
    if name == "ThroughputBenchmark":
        from facula._absent import absent_class

        return absent_class("facula.utils.ThroughputBenchmark")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
