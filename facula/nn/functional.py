"""nn.functional: every function of the layers in nn, with PyTorch's arguments.

Most come as they are from the operator table (`facula._C._nn`); the private modules beside this one
add old arguments, in-place forms and choices among operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from facula._C import Tensor, _nn  # noqa: F401
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
    sigmoid,
    silu,
    softmax,
    softmin,
    tanh,
    threshold,
)
from facula.nn._functional_attention import (  # noqa: F401
    _canonical_mask,
    _in_projection,
    _in_projection_packed,
    multi_head_attention_forward,
)
from facula.nn._functional_ctc import ctc_loss  # noqa: F401
from facula.nn._functional_embedding import embedding, embedding_bag  # noqa: F401
from facula.nn._functional_loss import (  # noqa: F401
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cross_entropy,
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


def __getattr__(name: str) -> Any:
    if name == "grad":  # which imports this module
        from facula.nn import grad

        return grad
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
