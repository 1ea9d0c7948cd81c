"""nn.functional: every function of the layers in nn, with PyTorch's arguments.

Most come as they are from the operator table (`facula._C._nn`); the private modules beside this one
add old arguments, in-place forms and choices among operators; embeddings stand here, attention in
`_functional_attention.py`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import facula
from facula._C import _nn
from facula.nn._functional_activation import (  # noqa: F401
    alpha_dropout,
    celu,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    elu,
    feature_alpha_dropout,
    gumbel_softmax,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_softmax,
    mish,
    relu,
    relu6,
    rrelu,
    selu,
    silu,
    softmax,
    softmin,
    threshold,
)
from facula.nn._functional_attention import (  # noqa: F401
    multi_head_attention_forward,
)
from facula.nn._functional_loss import (  # noqa: F401
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cross_entropy,
    ctc_loss,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    linear_cross_entropy,
    margin_ranking_loss,
    mse_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from facula.nn._functional_pooling import (  # noqa: F401
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from facula.nn._functional_vision import (  # noqa: F401
    affine_grid,
    grid_sample,
    interpolate,
    local_response_norm,
    normalize,
    pad,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)

if TYPE_CHECKING:
    from facula._C._nn import *  # noqa: F403

for _name in dir(_nn):
    if not _name.startswith("_"):
        globals().setdefault(_name, getattr(_nn, _name))

Tensor = facula.Tensor


def _renormalize(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    with facula.no_grad():
        _nn.embedding_renorm_(weight.detach(), indices, max_norm, norm_type)


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
    if padding_idx == -1 and not scale_grad_by_freq and not sparse:
        return _nn.embedding(weight, input)
    return _nn.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


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
    number = ("sum", "mean", "max").index(mode)
    return _nn.embedding_bag(
        weight,
        input,
        offsets,
        scale_grad_by_freq,
        number,
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )[0]
