"""Products of matrices by groups, as the `facula` namespace names them."""

from __future__ import annotations

from facula import _C

Tensor = _C.Tensor


def _grouped_mm(
    self: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: _C.dtype | None = None,
) -> Tensor:
    """Multiply matrices by groups: `grouped_mm` as the `facula` namespace names it."""
    return _C._nn.grouped_mm(self, mat2, offs=offs, bias=bias, out_dtype=out_dtype)
