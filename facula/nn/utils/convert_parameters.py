"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

import facula
from facula import _C

__all__ = ["parameters_to_vector", "vector_to_parameters"]

Tensor = facula.Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Join the parameters, flattened, into one vector."""
    return facula.cat([_tensor(p).view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give each parameter its part of `vec` as data."""
    at = 0
    _tensor(vec)
    for p in parameters:
        n = _tensor(p).numel()
        p.data = vec[at : at + n].view_as(p).data
        at += n


def _tensor(value: object) -> Tensor:
    """Give the value back; TypeError if it is no tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(
            _C._package_words(f"expected facula.Tensor, but got: {type(value).__name__}")
        )
    return value
