"""Operators over the elements where a mask is true, and tensors that carry a mask.

>>> import facula
>>> data, mask = facula.arange(4.0), facula.tensor([True, False, True, True])
>>> facula.masked.sum(data, mask=mask)
tensor(5.)
>>> facula.masked.masked_tensor(data, mask).mean()
MaskedTensor(  1.6667, True)
"""

from facula.masked._ops import (
    amax,
    amin,
    argmax,
    argmin,
    cumprod,
    cumsum,
    log_softmax,
    logaddexp,
    logsumexp,
    mean,
    median,
    norm,
    normalize,
    prod,
    softmax,
    softmin,
    std,
    sum,
    var,
)
from facula.masked.maskedtensor import (
    MaskedTensor,
    as_masked_tensor,
    is_masked_tensor,
    masked_tensor,
)

__all__ = [
    "MaskedTensor",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "as_masked_tensor",
    "cumprod",
    "cumsum",
    "is_masked_tensor",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "masked_tensor",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]
