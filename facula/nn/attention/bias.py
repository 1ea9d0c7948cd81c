"""Causal masks as objects, which attention need not form."""

from __future__ import annotations

import enum
from typing import Any

import facula
from facula import _C
from facula.overrides import DisableTorchFunctionSubclass

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]

Tensor = facula.Tensor


class CausalVariant(enum.IntEnum):
    """Which corner of the mask the diagonal starts from or ends in."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A mask `(seq_len_q, seq_len_kv)`, true where a query may see a key.

    UPPER_LEFT: query i sees keys up to i. LOWER_RIGHT: the last query sees all keys, each one
    before it one less, as when a model goes on from keys that it has seen. As `attn_mask` of
    `scaled_dot_product_attention` the former is never formed; other functions see a bool tensor.
    Queries that see no key get 0.

    >>> from facula.nn.attention.bias import causal_lower_right
    >>> causal_lower_right(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> CausalBias:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        with DisableTorchFunctionSubclass():
            one = facula.ones((), dtype=facula.bool).expand(seq_len_q, seq_len_kv)
            return one.as_subclass(cls)

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv

    def _materialize(self, device: Any = None) -> Tensor:
        """Return the mask as a bool tensor."""
        lower = self.variant is CausalVariant.LOWER_RIGHT
        shift = self.seq_len_kv - self.seq_len_q if lower else 0
        shape = (self.seq_len_q, self.seq_len_kv)
        return facula.ones(shape, dtype=facula.bool, device=device).tril(shift)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        return repr(self._materialize())

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is _C._nn.scaled_dot_product_attention:
            return _attend(*args, **kwargs)

        def formed(x: Any) -> Any:
            if isinstance(x, (list, tuple)):
                return type(x)(map(formed, x))
            return x._materialize() if isinstance(x, CausalBias) else x

        return func(*map(formed, args), **{key: formed(x) for key, x in kwargs.items()})


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: CausalBias,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    **options: Any,
) -> Tensor:
    if is_causal:
        raise ValueError("CausalBias should not be used with causal=True")
    sizes = (attn_mask.seq_len_q, attn_mask.seq_len_kv)
    if sizes != (query.size(-2), key.size(-2)):
        raise RuntimeError(
            f"scaled_dot_product_attention: a CausalBias of {sizes} does not fit queries and keys "
            f"of lengths {query.size(-2)} and {key.size(-2)}"
        )
    attend = _C._nn.scaled_dot_product_attention
    if attn_mask.variant is CausalVariant.UPPER_LEFT or sizes[0] == sizes[1]:
        return attend(query, key, value, None, dropout_p, True, **options)
    mask = attn_mask._materialize(query.device)
    return attend(query, key, value, mask, dropout_p, False, **options)


def causal_upper_left(*size: int) -> CausalBias:
    """Return the mask in which query i sees keys up to i.

    AssertionError unless two sizes are given.
    """
    if len(size) != 2:
        raise AssertionError("causal_upper_left only supports 2D tensors")
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size: int) -> CausalBias:
    """Return the mask in which the last query sees all keys, each one before it one less.

    AssertionError unless two sizes are given.
    """
    if len(size) != 2:
        raise AssertionError("causal_lower_right only supports 2D tensors")
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)
