"""Texts about the build: `show` and `parallel_info`."""

from __future__ import annotations

__all__ = ["parallel_info", "show"]


def show() -> str:
    """Return a text about how Facula was built and what the processor can do."""
    from facula import _C
    from facula.backends import cpu

    with open(__file__.replace("__config__.py", "version.txt")) as file:
        number = file.read().strip()
    lines = [
        f"Facula {number} built with:",
        "  - C++ Version: 202002",
        "  - matrix products and convolutions: oneDNN",
        "  - linear algebra: LAPACK of OpenBLAS",
        f"  - CPU capability usage: {cpu.get_cpu_capability()}",
        f"  - threads: {_C.get_num_threads()}",
        "  - CUDA: no",
    ]
    return "\n".join(lines) + "\n"


def parallel_info() -> str:
    """Return a text about the threads that operators use."""
    from facula import _C

    return f"Facula's own pool of {_C.get_num_threads()} threads\n"


def _cxx_flags() -> str:
    return "-std=c++20 -O3"
