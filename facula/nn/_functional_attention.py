"""multi_head_attention_forward: projections, masks and heads around attention."""

from __future__ import annotations

import facula
from facula._C import _nn

Tensor = facula.Tensor


def _check_rank(what: str, mask: Tensor, allowed: tuple[int, ...], kind: str) -> None:
    if mask.dim() not in allowed:
        names = {(1,): "1-D", (2,): "2-D", (2, 3): "2-D or 3-D"}[allowed]
        raise AssertionError(
            f"For {kind} `query`, expected `{what}` to be `None`, {names} but found {mask.dim()}-D "
            "tensor instead"
        )


def _is_batched(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    """Tell 3-D from 2-D input, after checking that all the arguments agree."""
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query "
            "tensor"
        )
    batched = query.dim() == 3
    rank, kind = (3, "batched (3-D)") if batched else (2, "unbatched (2-D)")
    if key.dim() != rank or value.dim() != rank:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {rank}-D but found "
            f"{key.dim()}-D and {value.dim()}-D tensors "
            "respectively"
        )
    if key_padding_mask is not None:
        _check_rank("key_padding_mask", key_padding_mask, (rank - 1,), kind)
    if attn_mask is not None:
        _check_rank("attn_mask", attn_mask, (2, 3), kind)
        if not batched and attn_mask.dim() == 3:
            expected = (num_heads, query.shape[0], key.shape[0])
            if tuple(attn_mask.shape) != expected:
                raise AssertionError(
                    f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}"
                )
    return batched


def _canonical_mask(
    mask: Tensor | None, name: str, target: Tensor, other: Tensor | None, check_other: bool = True
) -> Tensor | None:
    """Make a mask additive: True becomes minus infinity."""
    if mask is None:
        return None
    if mask.dtype != facula.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if check_other and other is not None and mask.dtype != other.dtype:
        import warnings

        warnings.warn(
            f"Support for mismatched {name} and attn_mask is deprecated. Use same type for both "
            "instead.",
            stacklevel=4,
        )
    if mask.is_floating_point():
        return mask
    return facula.zeros_like(mask, dtype=target.dtype).masked_fill_(mask, float("-inf"))


def _in_projection_packed(
    q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Project query, key and value by the stacked matrix (3 * embed, embed), in as few products as
    possible.
    """
    embed = q.size(-1)
    if k is v:
        if q is k:
            q, k, v = _nn.linear(q, w, b).chunk(3, dim=-1)
            return q, k, v
        w_q, w_kv = w.split([embed, embed * 2])
        b_q, b_kv = (None, None) if b is None else b.split([embed, embed * 2])
        k, v = _nn.linear(k, w_kv, b_kv).chunk(2, dim=-1)
        return _nn.linear(q, w_q, b_q), k, v
    ws = w.chunk(3)
    bs = (None, None, None) if b is None else b.chunk(3)
    return _nn.linear(q, ws[0], bs[0]), _nn.linear(k, ws[1], bs[1]), _nn.linear(v, ws[2], bs[2])


def _in_projection(
    q: Tensor, k: Tensor, v: Tensor, weights: tuple, in_proj_bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    embed, dims = q.size(-1), (q.size(-1), k.size(-1), v.size(-1))
    for weight, dim, name in zip(weights, dims, "qkv", strict=False):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
        if tuple(weight.shape) != (embed, dim):
            raise AssertionError(
                f"expecting {name} weights shape of {(embed, dim)}, but got {weight.shape}"
            )
    biases = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
    return tuple(_nn.linear(x, w, b) for x, w, b in zip((q, k, v), weights, biases, strict=False))


def _extend_mask(mask: Tensor | None) -> Tensor | None:
    return None if mask is None else _nn.constant_pad_nd(mask, (0, 1), 0)


def _merge_masks(
    attn_mask: Tensor | None, padding: Tensor | None, bsz: int, heads: int, source: int
) -> Tensor | None:
    if padding is None:
        return attn_mask
    padding = (
        padding.view(bsz, 1, 1, source).expand(-1, heads, -1, -1).reshape(bsz * heads, 1, source)
    )
    return padding if attn_mask is None else attn_mask + padding


def _heads(x: Tensor, bsz: int, num_heads: int) -> Tensor:
    """(length, batch, embed) to (batch * heads, length, head_dim)."""
    sizes = (x.shape[0], bsz * num_heads, x.shape[2] // num_heads)
    return x.contiguous().view(sizes).transpose(0, 1)


def _static(static: Tensor, name: str, first: int, last: int) -> Tensor:
    if static.size(0) != first:
        raise AssertionError(f"expecting {name}.size(0) of {first}, but got {static.size(0)}")
    if static.size(2) != last:
        raise AssertionError(f"expecting {name}.size(2) of {last}, but got {static.size(2)}")
    return static


def _check_shapes(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    separate: bool,
) -> None:
    embed_dim = query.shape[-1]
    if embed_dim != embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}"
        )
    if embed_dim // num_heads * num_heads != embed_dim:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if separate:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's "
                f"{value.shape[:2]}"
            )
    elif key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _check_attn_mask(mask: Tensor, bsz: int, heads: int, target: int, source: int) -> Tensor:
    expected = (target, source) if mask.dim() == 2 else (bsz * heads, target, source)
    if tuple(mask.shape) != expected:
        raise RuntimeError(
            f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {expected}."
        )
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _split_heads(
    qkv: tuple[Tensor, Tensor, Tensor], extras: tuple, masks: tuple, bsz: int, num_heads: int
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Bring the projections to (batch * heads, length, head_dim), extra keys and values added.

    The last result is the sum of both masks, None without masks.
    """
    q, k, v = qkv
    bias_k, bias_v, static_k, static_v, add_zero_attn = extras
    attn_mask, padding = masks
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key.")
        k = facula.cat([k, bias_k.repeat(1, bsz, 1)])
        v = facula.cat([v, bias_v.repeat(1, bsz, 1)])
        attn_mask, padding = _extend_mask(attn_mask), _extend_mask(padding)
    rows = bsz * num_heads
    q = _heads(q, bsz, num_heads)
    head_dim = q.size(2)
    if static_k is None:
        k = _heads(k, bsz, num_heads)
    else:
        k = _static(static_k, "static_k", rows, head_dim)
    if static_v is None:
        v = _heads(v, bsz, num_heads)
    else:
        v = _static(static_v, "static_v", rows, head_dim)
    if add_zero_attn:
        zero = facula.zeros((rows, 1, head_dim), dtype=k.dtype, device=k.device)
        k, v = facula.cat([k, zero], dim=1), facula.cat([v, zero], dim=1)
        attn_mask, padding = _extend_mask(attn_mask), _extend_mask(padding)
    source = k.size(1)
    if padding is not None and tuple(padding.shape) != (bsz, source):
        axis = 0 if padding.shape[0] != bsz else 1
        raise AssertionError(
            f"Expected key_padded_mask.shape[{axis}] to be {(bsz, source)[axis]}, but got "
            f"{padding.shape[axis]}"
        )
    return q, k, v, _merge_masks(attn_mask, padding, bsz, num_heads, source)


def _weigh(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, p: float, average: bool, sizes: tuple
) -> tuple[Tensor, Tensor]:
    """Attend with the weights at hand: (target * batch, embed), and the weights."""
    bsz, heads, target, source = sizes
    scores = facula.bmm(q * (1.0 / q.size(2)) ** 0.5, k.transpose(-2, -1))
    if mask is not None:
        scores = scores + mask
    weights = _nn.softmax(scores, -1)
    used = _nn.dropout(weights, p, True) if p > 0.0 else weights
    out = facula.bmm(used, v).transpose(0, 1).contiguous().view(target * bsz, heads * v.size(2))
    weights = weights.view(bsz, heads, target, source)
    return out, weights.mean(dim=1) if average else weights


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Multi-head attention (Vaswani et al., 2017) of (length, batch, embed) or (length, embed)
    tensors.

    Gives the output and, with `need_weights`, the attention weights (averaged over heads with
    `average_attn_weights`).
    """
    batched = _is_batched(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    target, bsz, _ = query.shape
    key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask", query, attn_mask)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = _canonical_mask(attn_mask, "attn_mask", query, None, False)
        is_causal = is_causal and key_padding_mask is None and attn_mask is None
    _check_shapes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    if use_separate_proj_weight:
        q, k, v = _in_projection(
            query, key, value, (q_proj_weight, k_proj_weight, v_proj_weight), in_proj_bias
        )
    else:
        if in_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        q, k, v = _in_projection_packed(query, key, value, in_proj_weight, in_proj_bias)
    if attn_mask is not None:
        attn_mask = _check_attn_mask(attn_mask, bsz, num_heads, target, key.shape[0])
    extras = (bias_k, bias_v, static_k, static_v, add_zero_attn)
    masks = (attn_mask, key_padding_mask)
    q, k, v, mask = _split_heads((q, k, v), extras, masks, bsz, num_heads)
    sizes = (bsz, num_heads, target, k.size(1))
    p = dropout_p if training else 0.0
    if need_weights:
        out, weights = _weigh(q, k, v, mask, p, average_attn_weights, sizes)
    else:
        out, weights = _attend(q, k, v, mask, p, is_causal, sizes), None
    out = _nn.linear(out, out_proj_weight, out_proj_bias)
    out = out.view(target, bsz, out.size(1))
    if not batched:
        out = out.squeeze(1)
        weights = None if weights is None else weights.squeeze(0)
    return out, weights


def _attend(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, p: float, is_causal: bool, sizes: tuple
) -> Tensor:
    """Attend without forming the weights; the result is (target * batch, embed)."""
    bsz, heads, target, source = sizes
    if mask is not None:
        same = mask.size(0) == 1
        mask = mask.unsqueeze(0) if same else mask.view(bsz, heads, mask.size(1), source)
    head_dim = q.size(2)
    q, k, v = (
        q.view(bsz, heads, target, head_dim),
        k.view(bsz, heads, source, head_dim),
        v.view(bsz, heads, source, v.size(2)),
    )
    out = _nn.scaled_dot_product_attention(q, k, v, mask, p, is_causal)
    return out.permute(2, 0, 1, 3).contiguous().view(bsz * target, heads * v.size(3))
