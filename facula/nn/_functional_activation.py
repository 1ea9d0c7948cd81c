"""Activations and dropout of nn.functional: the Python faces of operators that also have an
in-place form or old arguments.
"""

from __future__ import annotations

import warnings
from typing import Any

import facula
from facula._C import _nn

Tensor = facula.Tensor
_UNSIGNED = (facula.uint8, facula.uint16, facula.uint32, facula.uint64)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """`max(x, 0)`, element by element."""
    return _nn.relu_(input) if inplace else _nn.relu(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """`min(max(x, 0), 6)`, element by element."""
    return _nn.relu6_(input) if inplace else _nn.relu6(input)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`x` above zero, `alpha * (exp(x) - 1)` below."""
    return _nn.elu_(input, alpha) if inplace else _nn.elu(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The scaled ELU with the constants of self-normalising networks (Klambauer et al., 2017)."""
    return _nn.selu_(input) if inplace else _nn.selu(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`max(0, x) + min(0, alpha * (exp(x / alpha) - 1))`."""
    return _nn.celu_(input, alpha) if inplace else _nn.celu(input, alpha)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`x` above zero, `negative_slope * x` below."""
    return (
        _nn.leaky_relu_(input, negative_slope) if inplace else _nn.leaky_relu(input, negative_slope)
    )


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Leaky ReLU with a slope drawn from [lower, upper] in training, their mean otherwise."""
    return (
        _nn.rrelu_(input, lower, upper, training)
        if inplace
        else _nn.rrelu(input, lower, upper, training)
    )


def _write_into(input: Tensor, name: str) -> Tensor:
    """Run an in-place operator whose gradient needs the old values, which are copied if it will."""
    if input.requires_grad and facula.is_grad_enabled():
        return input.copy_(getattr(_nn, name)(input.clone()))
    return getattr(_nn, name + "_")(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * sigmoid(x)`."""
    return _write_into(input, "silu") if inplace else _nn.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * tanh(softplus(x))`."""
    return _write_into(input, "mish") if inplace else _nn.mish(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * relu6(x + 3) / 6`."""
    return _write_into(input, "hardswish") if inplace else _nn.hardswish(input)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """`relu6(x + 3) / 6`."""
    return _nn.hardsigmoid_(input) if inplace else _nn.hardsigmoid(input)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Clamp to [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if min_val < 0 and input.dtype in _UNSIGNED:
        # The least number of the type stands for what lies below all of them.
        low, high = int(min_val), int(max_val)
        return input.clamp_(low, high) if inplace else input.clamp(low, high)
    return (
        _nn.hardtanh_(input, min_val, max_val) if inplace else _nn.hardtanh(input, min_val, max_val)
    )


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """`x` above the threshold, `value` elsewhere."""
    return (
        _nn.threshold_(input, threshold, value)
        if inplace
        else _nn.threshold(input, threshold, value)
    )


def sigmoid(input: Tensor) -> Tensor:
    """`1 / (1 + exp(-x))`."""
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return input.tanh()


def _softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """`exp(x) / sum(exp(x))` along `dim`."""
    if dim is None:
        dim = _softmax_dim("softmax", input.dim(), _stacklevel)
    return _nn.softmax(input, dim) if dtype is None else _nn.softmax(input, dim, dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """`x - log(sum(exp(x)))` along `dim`."""
    if dim is None:
        dim = _softmax_dim("log_softmax", input.dim(), _stacklevel)
    return (
        _nn.log_softmax(input, dim) if dtype is None else _nn.log_softmax(input, dim, dtype=dtype)
    )


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """The softmax of `-x` along `dim`."""
    if dim is None:
        dim = _softmax_dim("softmin", input.dim(), _stacklevel)
    return _nn.softmax(-input, dim) if dtype is None else _nn.softmax(-input, dim, dtype=dtype)


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Sample from the Gumbel-softmax distribution; with `hard` one-hot, with the gradient of the
    soft sample.
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbels = -facula.empty_like(logits).exponential_().log()
    soft = _nn.softmax((logits + gumbels) / tau, dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = facula.zeros_like(logits).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero elements with probability `p` and scale the others by `1 / (1 - p)`; the identity when
    not training.
    """
    _check_probability(p)
    return _nn.dropout_(input, p, training) if inplace else _nn.dropout(input, p, training)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that keeps mean and variance of self-normalising networks."""
    _check_probability(p)
    return (
        _nn.alpha_dropout_(input, p, training) if inplace else _nn.alpha_dropout(input, p, training)
    )


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Alpha dropout of whole channels."""
    _check_probability(p)
    if inplace:
        return _nn.feature_alpha_dropout_(input, p, training)
    return _nn.feature_alpha_dropout(input, p, training)


def _feature_dropout(
    input: Tensor, p: float, training: bool, inplace: bool, add_batch: bool
) -> Tensor:
    if add_batch:
        input = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = (
        _nn.feature_dropout_(input, p, training)
        if inplace
        else _nn.feature_dropout(input, p, training)
    )
    if add_batch:
        result = result.squeeze_(0) if inplace else result.squeeze(0)
    return result


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    _check_probability(p)
    ndim = input.dim()
    if ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. Note that "
            "dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an "
            "optional batch dimension "
            "(i.e. 2D or 3D inputs)."
        )
    return _feature_dropout(input, p, training, inplace, ndim == 2)


def _warn_dropout(name: str, got: int, spatial: int, expected: str) -> None:
    plural = "s" if spatial > 1 else ""
    warnings.warn(
        f"{name}: Received a {got}-D input to {name}, which is deprecated and will result in an "
        "error in a future release. To "
        "retain the behavior and silence this warning, please use dropout instead. Note that "
        f"{name} exists to provide "
        f"channel-wise dropout on inputs with {spatial} spatial dimension{plural}, a channel "
        "dimension, and an optional batch "
        f"dimension (i.e. {expected} inputs).",
        stacklevel=3,
    )


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of (N, C, H, W)."""
    _check_probability(p)
    ndim = input.dim()
    if ndim not in (3, 4):
        _warn_dropout("dropout2d", ndim, 2, "3D or 4D")
    if ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired - input "
            "is interpreted as shape (N, C, L), where C is the channel dim. This behavior will "
            "change in a future release to "
            "interpret the input as one without a batch dimension, i.e. shape (C, H, W). To "
            "maintain the 1D channel-wise "
            "dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _feature_dropout(input, p, training, inplace, False)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    _check_probability(p)
    ndim = input.dim()
    if ndim not in (4, 5):
        _warn_dropout("dropout3d", ndim, 3, "4D or 5D")
    return _feature_dropout(input, p, training, inplace, ndim == 4)
