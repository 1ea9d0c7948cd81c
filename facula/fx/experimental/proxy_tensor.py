"""Tracing by proxies: no mode is ever active."""

from __future__ import annotations

from typing import Any

from facula._absent import absent_function

__all__ = ["get_proxy_mode", "make_fx"]


def get_proxy_mode() -> Any:
    """Return the active tracing mode: None."""
    return None


def maybe_disable_fake_tensor_mode() -> Any:
    """Return a context that changes nothing."""
    import contextlib

    return contextlib.nullcontext()


make_fx = absent_function("facula.fx.experimental.proxy_tensor.make_fx", "programs are not traced")
