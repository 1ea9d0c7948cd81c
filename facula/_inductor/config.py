"""Settings of the compiler of kernels: they are kept and change nothing."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

conv_1x1_as_mm = False
coordinate_descent_check_all_directions = False
coordinate_descent_tuning = False
cpp_wrapper = False
epilogue_fusion = True
force_fuse_int_mm_with_mul = False
freezing = False
fx_graph_cache = False
max_autotune = False
max_autotune_gemm_backends = ""
shape_padding = True


class triton:
    """Settings of kernels for GPUs."""

    cudagraphs = False
    cudagraph_trees = False
    unique_kernel_names = False


class cpp:
    """Settings of kernels for the CPU."""

    threads = -1


@contextlib.contextmanager
def patch(changes: Any = None, **kwargs: Any) -> Iterator[None]:
    """Change settings while the block, or the decorated function, runs."""
    changed = {**(changes or {}), **kwargs}
    settings = vars(sys.modules[__name__])
    before = {name: settings.get(name) for name in changed}
    settings.update(changed)
    try:
        yield
    finally:
        settings.update(before)
