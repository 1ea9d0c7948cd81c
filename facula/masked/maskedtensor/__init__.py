"""Tensors that carry a mask."""

from facula.masked.maskedtensor.core import MaskedTensor, is_masked_tensor
from facula.masked.maskedtensor.creation import as_masked_tensor, masked_tensor

__all__ = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]
