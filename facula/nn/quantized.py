"""Arithmetic as modules, so that quantisation can watch it: plain arithmetic here."""

from __future__ import annotations

from typing import Any

import facula
from facula import _absent, nn

__all__ = ["FloatFunctional"]


class FloatFunctional(nn.Module):
    """Sums, products and concatenations as methods of a module."""

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = nn.Identity()

    def forward(self, x: Any) -> Any:
        """Raise: the methods are to be called."""
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'.")

    def add(self, x: Any, y: Any) -> Any:
        """Return the sum."""
        return self.activation_post_process(facula.add(x, y))

    add_scalar = add

    def mul(self, x: Any, y: Any) -> Any:
        """Return the product."""
        return self.activation_post_process(facula.mul(x, y))

    mul_scalar = mul

    def matmul(self, x: Any, y: Any) -> Any:
        """Return the matrix product."""
        return self.activation_post_process(facula.matmul(x, y))

    def cat(self, x: Any, dim: int = 0) -> Any:
        """Return the concatenation."""
        return self.activation_post_process(facula.cat(x, dim=dim))

    def add_relu(self, x: Any, y: Any) -> Any:
        """Return the sum, negative elements set to zero."""
        return self.activation_post_process(nn.functional.relu(facula.add(x, y)))


_absent.add_absent(
    globals(), "", "Conv1d Conv2d Conv3d Linear QFunctional", "models are not quantised"
)
