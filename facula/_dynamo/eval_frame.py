"""The class of compiled modules, for isinstance(): nothing is an instance of it."""

from __future__ import annotations

from facula import nn

__all__ = ["OptimizedModule", "is_dynamo_supported"]


class OptimizedModule(nn.Module):
    """A compiled module. `facula.compile` returns the module itself and never one of these."""

    _orig_mod: nn.Module


def is_dynamo_supported() -> bool:
    """Say that programs are not captured."""
    return False


def is_inductor_supported() -> bool:
    """Say that programs are not compiled."""
    return False
