"""The two ways to make a tensor with a mask."""

from __future__ import annotations

from facula import Tensor
from facula.masked.maskedtensor.core import MaskedTensor

__all__ = ["as_masked_tensor", "masked_tensor"]


def masked_tensor(data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
    """Make a leaf from copies of data and mask: see `MaskedTensor`."""
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Tensor, mask: Tensor) -> MaskedTensor:
    """Make a tensor with a mask whose gradient flows to `data`.

    >>> import facula
    >>> x = facula.ones(3, requires_grad=True)
    >>> mask = facula.tensor([True, True, False])
    >>> (2 * facula.masked.as_masked_tensor(x, mask)).sum().backward()
    >>> x.grad
    MaskedTensor(
      [  2.0000,   2.0000,       --]
    )
    """
    return MaskedTensor._from_values(data, mask)
