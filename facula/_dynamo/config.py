"""Settings of PyTorch's capture of programs: they are kept and change nothing."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

assume_static_by_default = True
automatic_dynamic_shapes = True
cache_size_limit = recompile_limit = 8
accumulated_cache_size_limit = accumulated_recompile_limit = 256
capture_dynamic_output_shape_ops = False
capture_scalar_outputs = False
disable = True
optimize_ddp = False
skip_fsdp_hooks = True
suppress_errors = False
verbose = False
inline_inbuilt_nn_modules = True


@contextlib.contextmanager
def patch(changes: Any = None, value: Any = None, **kwargs: Any) -> Iterator[None]:
    """Change settings while the block, or the decorated function, runs."""
    if isinstance(changes, str):
        kwargs[changes] = value
    elif changes:
        kwargs.update(changes)
    settings = vars(sys.modules[__name__])
    before = {name: settings.get(name) for name in kwargs}
    settings.update(kwargs)
    try:
        yield
    finally:
        settings.update(before)
