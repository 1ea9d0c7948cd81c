"""Special functions: the functions of the operator table that are called facula.special.NAME.

>>> facula.special.ndtr(facula.zeros(1))
tensor([0.5000])
"""

from typing import Any

import facula
from facula import _C


def softmax(input: facula.Tensor, dim: int, dtype: Any = None) -> facula.Tensor:
    """Return `exp(x) / sum(exp(x))` along `dim`, computed in `dtype` where one is given."""
    return facula.softmax(input, dim, dtype)


def log_softmax(input: facula.Tensor, dim: int, *, dtype: Any = None) -> facula.Tensor:
    """Return the logarithm of softmax along `dim`, computed in `dtype` where one is given."""
    return facula.log_softmax(input, dim, dtype)


_rows = {k: v for k, v in vars(_C._special).items() if not k.startswith("__")}
_rows |= {"softmax": softmax, "log_softmax": log_softmax}
__all__ = sorted(_rows)
globals().update(_rows)
