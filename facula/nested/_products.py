"""Products of jagged nested tensors: linear, matmul, embedding, attention."""

from __future__ import annotations

from typing import Any

import facula
from facula.nested._functions import (
    call_on_values,
    handles,
    nested_in,
    pad,
    rows_first,
    shape_text,
    unpad,
)
from facula.nested._jagged import NestedTensor, wrap

Tensor = facula.Tensor


@handles("linear")
def linear(
    func: Any, name: str, this: NestedTensor, weight: Tensor, bias: Tensor | None = None
) -> Any:
    if not isinstance(this, NestedTensor) or this._structure.ragged == this.dim():
        raise RuntimeError(
            f"linear(): expected a nested input whose last dimension is not ragged, got "
            f"{shape_text(this)}"
        )
    return call_on_values(func, this._structure, this, weight, bias)


@handles("embedding")
def embedding(func: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    like = nested_in((*args, *kwargs.values()))
    return call_on_values(func, like._structure, *args, **kwargs)


@handles("one_hot")
def one_hot(func: Any, name: str, this: NestedTensor, num_classes: int = -1) -> Any:
    return call_on_values(func, this._structure, this, num_classes)


def _both_nested(name: str, a: NestedTensor, b: NestedTensor) -> Tensor:
    """(B, ..., M, *) @ (B, ..., *, N): the ragged dimension is summed away."""
    s, t = a._structure, b._structure
    fits = s.same_rows(t) and s.ragged == a.dim() and t.ragged == b.dim() - 1
    if not fits:
        raise RuntimeError(
            f"{name}(): not supported for nested tensors of shapes {shape_text(a)} and "
            f"{shape_text(b)}"
        )
    return pad(a, 0).movedim(1, -1) @ pad(b, 0).movedim(1, -2)


@handles("matmul __matmul__ mm bmm")
def matmul(func: Any, name: str, a: Tensor, b: Tensor) -> Any:
    if isinstance(a, NestedTensor) and isinstance(b, NestedTensor):
        return _both_nested(name, a, b)
    if isinstance(a, NestedTensor):
        s = a._structure
        if s.ragged < a.dim() and b.dim() == 2 and name != "bmm":
            return call_on_values(facula.matmul, s, a, b)
        if s.ragged == 1 and a.dim() == 2 and b.dim() == 3 and b.size(0) in (1, s.batch):
            return unpad(pad(a, 0) @ b, a)
        if s.ragged == a.dim() - 1 and b.dim() == a.dim() + 1 and b.size(0) in (1, s.batch):
            product = pad(a, 0).movedim(1, -2) @ b
            return unpad(product.movedim(-2, 1), a)
    raise RuntimeError(
        f"{name}(): not supported between inputs of shapes {shape_text(a)} and {shape_text(b)}"
    )


def _rows_heads(t: NestedTensor) -> Tensor:
    """Return (rows, heads, size) of a query, key or value."""
    rows = rows_first(t)
    return rows.unsqueeze(1) if rows.dim() == 2 else rows


@handles("scaled_dot_product_attention")
def attention(
    func: Any,
    name: str,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> NestedTensor:
    """(B, heads, *, size) or (B, *, size); the result has the rows of the query."""
    for t in (query, key, value):
        fits = isinstance(t, NestedTensor) and t._structure.ragged == t.dim() - 1
        if not fits or t.dim() not in (2, 3) or t.dim() != query.dim():
            raise ValueError(
                "scaled_dot_product_attention: expected nested query, key and value of shape "
                f"(B, heads, *, size) or (B, *, size), got {shape_text(query)}, "
                f"{shape_text(key)} and {shape_text(value)}"
            )
    s, keys = query._structure, key._structure
    if s.batch != keys.batch or not keys.same_rows(value._structure):
        raise ValueError(
            "scaled_dot_product_attention: expected key and value with the same rows, as many "
            f"items as the query has, got {shape_text(query)}, {shape_text(key)} and "
            f"{shape_text(value)}"
        )
    if attn_mask is not None:
        raise NotImplementedError("scaled_dot_product_attention: attn_mask with nested tensors")
    if dropout_p > 0:
        return _by_items(func, query, key, value, dropout_p, is_causal, scale, enable_gqa)
    q, k, v = (_rows_heads(t) for t in (query, key, value))
    if not enable_gqa and q.size(1) != k.size(1):
        raise RuntimeError(
            "scaled_dot_product_attention: query and key differ in their number of heads "
            f"({q.size(1)} and {k.size(1)})"
        )
    out = facula._attend_ragged(q, k, v, s.spans(), keys.spans(), is_causal, scale=scale)
    out = out.squeeze(1) if query.dim() == 2 else out
    return wrap(out.movedim(0, s.ragged - 1), s)


def _by_items(
    func: Any,
    query: NestedTensor,
    key: NestedTensor,
    value: NestedTensor,
    p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> NestedTensor:
    """Attend item by item, with dropout; rows of no item are 0."""

    def items(t: NestedTensor) -> list[Tensor]:
        dim = t._structure.ragged - 1
        values = t.as_subclass(Tensor)
        return [values.narrow(dim, first, n) for first, n in t._structure.rows()]

    dim = query._structure.ragged - 1
    outs = [
        func(q, k, v, None, p, is_causal, scale=scale, enable_gqa=enable_gqa)
        for q, k, v in zip(items(query), items(key), items(value), strict=True)
    ]
    rows = facula.cat(outs, dim)
    total = query.size(dim)
    covered = query._structure.covered()
    if covered.numel() != total:
        shape = list(rows.shape)
        shape[dim] = total
        rows = rows.new_zeros(shape).index_add(dim, covered, rows)
    return wrap(rows, query._structure)
