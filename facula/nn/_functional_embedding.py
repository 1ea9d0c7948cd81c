"""embedding and embedding_bag: rows of a table, one by one or bag by bag."""

from __future__ import annotations

import warnings

import facula

Tensor = facula.Tensor


def _renormalize(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    with facula.no_grad():
        facula.embedding_renorm_(weight.detach(), indices, max_norm, norm_type)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Look up the rows of `weight` at the indices `input`.

    The row `padding_idx` gets no gradient; rows longer than `max_norm` are shortened in place
    first.
    """
    if padding_idx is None:
        padding_idx = -1
    elif padding_idx >= 0:
        assert padding_idx < weight.size(0), "Padding_idx must be within num_embeddings"
    else:
        assert padding_idx >= -weight.size(0), "Padding_idx must be within num_embeddings"
        padding_idx += weight.size(0)
    if max_norm is not None:
        _renormalize(weight, input.contiguous(), max_norm, norm_type)
    sparse = sparse and weight.requires_grad  # it matters for the gradient alone
    if padding_idx == -1 and not scale_grad_by_freq and not sparse:
        return facula.embedding(weight, input)
    return facula.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _bag_offsets(input: Tensor, offsets: Tensor | None) -> tuple[Tensor, Tensor]:
    """Flatten a 2-D input, whose rows are the bags, and give the bags' starts."""
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                "of fixed length sequences. "
                f"However, found offsets of type {type(offsets)}"
            )
        rows, length = input.shape
        starts = facula.arange(rows, dtype=input.dtype, device=input.device) * length
        return input.reshape(-1), starts
    if input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
        return input, offsets
    raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")


def _bag_of_each(
    input: Tensor, offsets: Tensor, include_last_offset: bool
) -> tuple[Tensor, Tensor]:
    """Give the bag of each index, and the number of indices in each bag."""
    if offsets.is_meta:
        raise NotImplementedError("embedding_bag: the bags depend on offsets, which have no values")
    starts = offsets.tolist()
    if any(start < 0 for start in starts):
        raise IndexError(f"embedding_bag: offsets must not be negative, but got {min(starts)}")
    if starts and starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {starts[0]}"
        )
    ends = [*starts[1:], input.numel()] if starts else []
    if starts and starts[-1] > input.numel():
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length({input.numel()}) but got "
            f"offsets[-1] of {starts[-1]}"
        )
    if include_last_offset:
        if not starts:
            raise RuntimeError("include_last_offset: number of offsets should be at least 1")
        starts, ends = starts[:-1], ends[:-1]
    sizes = [end - start for start, end in zip(starts, ends, strict=True)]
    counts = facula.tensor(sizes, dtype=facula.int64, device=input.device)
    bags = [i for i, size in enumerate(sizes) for _ in range(size)]
    return facula.tensor(bags, dtype=facula.int64, device=input.device), counts


def _bag_types(
    input: Tensor, weight: Tensor, offsets: Tensor, per_sample_weights: Tensor | None
) -> Tensor:
    """Refuse dtypes that have no bags; give the indices as integers of 32 or 64 bits."""
    if not weight.is_floating_point():
        raise RuntimeError(
            "embedding_bag: expected 'weight' to have a floating point dtype, but got "
            f"{weight.dtype}"
        )
    for name, tensor in (("input", input), ("offsets", offsets)):
        if tensor.is_floating_point() or tensor.is_complex():
            raise RuntimeError(
                f"embedding_bag: expected '{name}' to hold integers of 32 or 64 bits, but got "
                f"{tensor.dtype}"
            )
    if per_sample_weights is not None and per_sample_weights.dtype != weight.dtype:
        raise RuntimeError(
            "embedding_bag: expected 'per_sample_weights' to have the dtype of 'weight', "
            f"{weight.dtype}, but got {per_sample_weights.dtype}"
        )
    return input if input.dtype in (facula.int32, facula.int64) else input.long()


def _without_padding(
    input: Tensor, rows: Tensor, bags: Tensor, counts: Tensor, padding_idx: int, size: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Take the indices that are padding out of their bags."""
    if not -size <= padding_idx < size:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-size} through {size - 1}, but "
            f"got {padding_idx}"
        )
    kept = facula.arange(input.numel(), device=input.device)[input != padding_idx % size]
    rows, bags = rows.index_select(0, kept), bags.index_select(0, kept)
    ones = facula.ones(bags.size(0), dtype=facula.int64, device=bags.device)
    return rows, bags, facula.zeros_like(counts).index_add(0, bags, ones)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or maximum of the rows of `weight` in each bag of indices."""
    if weight.dtype in (facula.int64, facula.int32) and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage "
            "`embedding_bag(weight, input, ...)` is deprecated, "
            "and should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        weight, input = input, weight
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then "
            "it must have the same shape as "
            f"the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(
            f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}"
        )
    input, offsets = _bag_offsets(input, offsets)
    if per_sample_weights is not None:
        per_sample_weights = per_sample_weights.reshape(-1)
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and (scale_grad_by_freq or sparse):
        what = "scaling the gradient by the frequency" if scale_grad_by_freq else "sparse weights"
        raise ValueError(f"max mode does not support {what}")
    if max_norm is not None:
        _renormalize(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            "for mode='sum' (got "
            f"mode='{mode}')."
        )
    input = _bag_types(input, weight, offsets, per_sample_weights)
    bags, counts = _bag_of_each(input, offsets, include_last_offset)
    if bags.size(0) < input.size(0):  # what no bag takes
        input = input[: bags.size(0)]
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights[: bags.size(0)]
    try:
        rows = embedding(input, weight, None, None, 2.0, scale_grad_by_freq, sparse)
    except IndexError as error:
        raise RuntimeError(f"embedding_bag: {error}") from None
    if mode != "max" and weight.dtype in (facula.float16, facula.bfloat16):
        rows = rows.float()  # sums are rounded once
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1).to(rows.dtype)
    if padding_idx is not None:
        rows, bags, counts = _without_padding(
            input, rows, bags, counts, padding_idx, weight.size(0)
        )
    return _reduce_bags(rows, bags, counts, mode).to(weight.dtype)


def _reduce_bags(rows: Tensor, bags: Tensor, counts: Tensor, mode: str) -> Tensor:
    shape = (counts.size(0), rows.size(1))
    if mode == "max":
        index = bags.unsqueeze(-1).expand(-1, rows.size(1))
        start = facula.zeros(shape, dtype=rows.dtype, device=rows.device)
        return start.scatter_reduce(0, index, rows, "amax", include_self=False)
    total = facula.zeros(shape, dtype=rows.dtype, device=rows.device).index_add(0, bags, rows)
    return total / counts.clamp(min=1).unsqueeze(-1).to(total.dtype) if mode == "mean" else total
