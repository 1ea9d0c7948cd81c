"""What the build can use: names that programs ask for before they choose a path."""

import contextlib
from collections.abc import Iterator

from facula.backends import (
    cpu,
    cuda,
    cudnn,
    mkl,
    mkldnn,
    mps,
    nnpack,
    openmp,
    opt_einsum,
    quantized,
)

__all__ = [
    "cpu", "cuda", "cudnn", "flags_frozen", "fp32_precision", "mkl", "mkldnn", "mps", "nnpack",
    "openmp", "opt_einsum", "quantized",
]  # fmt: skip

# The precision that programs ask for in products of float32; they are always computed in float32.
fp32_precision = "none"


def flags_frozen() -> bool:
    """Say that settings of backends may be changed by assignment.

    >>> import facula
    >>> facula.backends.flags_frozen()
    False
    """
    return False


@contextlib.contextmanager
def __allow_nonbracketed_mutation() -> Iterator[None]:
    """Change settings in the block: they may be changed everywhere."""
    yield
