"""Initialisers: functions that fill a tensor in place, without recording gradients, and return it.

The random ones draw from `uniform_` and `normal_` in PyTorch's order, so a seed gives PyTorch's
weights.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import facula

__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_",
    "normal_", "ones_", "orthogonal_",
    "sparse_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
    "constant", "dirac", "eye", "kaiming_normal", "kaiming_uniform", "normal", "orthogonal",
    "sparse", "uniform",
    "xavier_normal", "xavier_uniform",
]  # fmt: skip

Tensor = facula.Tensor

_LINEAR_GAINS = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "sigmoid",
)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Give the factor by which weights before this nonlinearity are scaled so that variances stay
    as they are.
    """
    if nonlinearity in _LINEAR_GAINS:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, (int, float)) and not isinstance(param, bool):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with values from the uniform distribution on [a, b)."""
    with facula.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with values from the normal distribution."""
    with facula.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _redraw(draw: Callable[[], tuple[Tensor, Tensor]]) -> Tensor:
    """Draw (values, accepted) until every place has an accepted value; the first one stays."""
    values, accepted = draw()
    while not bool(accepted.all()):
        more, more_accepted = draw()
        values = facula.where(accepted, values, more)
        accepted = accepted | more_accepted
    return values


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Tensor:
    """Fill with values from the normal distribution cut off outside [a, b], by rejection.

    Where [a, b] holds more than 0.3 of the distribution, normal values outside are drawn again;
    else values are uniform on [a, b] and accepted with the ratio of the density to its maximum.
    """
    if not all(map(math.isfinite, (mean, std))) or std < 0 or not a <= b:
        raise ValueError(
            "trunc_normal_: expected a finite mean, a finite std of at least 0 and a <= b, got "
            f"mean={mean}, std={std}, a={a}, b={b}"
        )
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of "
            "values may be incorrect.",
            stacklevel=2,
        )

    def cdf(x: float) -> float:
        return (1.0 + math.erf((x - mean) / (std * math.sqrt(2.0)))) / 2.0

    peak = min(max(mean, a), b)

    unused = [tensor]

    def fresh() -> Tensor:
        # The first numbers are drawn in place: their order depends on the layout.
        return unused.pop() if unused else facula.empty_like(tensor)

    def normals() -> tuple[Tensor, Tensor]:
        x = fresh().normal_(mean, std, generator=generator)
        return x, (x >= a) & (x <= b)

    def uniforms() -> tuple[Tensor, Tensor]:
        x = fresh().uniform_(a, b, generator=generator)
        log_u = fresh().uniform_(0, 1, generator=generator).log()
        log_ratio = ((peak - mean) / std) ** 2 / 2 - ((x - mean) / std) ** 2 / 2
        return x, log_u <= log_ratio

    with facula.no_grad():
        return tensor.copy_(_redraw(normals if cdf(b) - cdf(a) > 0.3 else uniforms))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with `val`."""
    with facula.no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0."""
    with facula.no_grad():
        return tensor.zero_()


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with facula.no_grad():
        tensor.zero_()
        tensor.diagonal().fill_(1)
        return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a convolution's weight so that, in each group, it hands its input channels through."""
    dimensions = tensor.ndimension()
    if dimensions not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    sizes = tensor.size()
    if sizes[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = sizes[0] // groups
    middle = tuple(s // 2 for s in sizes[2:])
    with facula.no_grad():
        tensor.zero_()
        for g in range(groups):
            for d in range(min(per_group, sizes[1])):
                tensor[(g * per_group + d, d, *middle)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    receptive = math.prod(tensor.shape[2:])
    return tensor.size(1) * receptive, tensor.size(0) * receptive


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill from U(-a, a), a = gain * sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(fan_in + fan_out)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill from N(0, std), std = gain * sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio, 2010)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def _is_empty(tensor: Tensor) -> bool:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return True
    return False


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill from U(-bound, bound), bound = gain * sqrt(3 / fan) (He et al., 2015)."""
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    with facula.no_grad():
        return tensor.uniform_(-bound, bound, generator=generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill from N(0, std), std = gain / sqrt(fan) (He et al., 2015)."""
    if _is_empty(tensor):
        return tensor
    with facula.no_grad():
        return tensor.normal_(0, _kaiming_std(tensor, a, mode, nonlinearity), generator=generator)


def _orthonormal(a: Tensor) -> Tensor:
    """Give the factor Q of A = QR whose R has a positive diagonal, by Gram-Schmidt done twice."""
    wide = a.to(facula.float64)
    q = facula.zeros_like(wide)
    for j in range(wide.size(1)):
        column = wide[:, j]
        for _ in range(2):
            column = column - q[:, :j] @ (q[:, :j].t() @ column)
        q[:, j] = column / (column * column).sum().sqrt()
    return q.to(a.dtype)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill with a (semi-)orthogonal matrix, the trailing dimensions flattened (Saxe, 2013)."""
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    cols = tensor.numel() // rows
    with facula.no_grad():
        flattened = facula.empty((rows, cols), dtype=tensor.dtype, device=tensor.device)
        flattened.normal_(0, 1, generator=generator)
        q = _orthonormal(flattened.t()).t() if rows < cols else _orthonormal(flattened)
        tensor.copy_(q.reshape(tensor.shape))
        return tensor.mul_(gain)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix from N(0, std), then set the share `sparsity` of each column to zero (Martens,
    2010).
    """
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, cols = tensor.shape
    n_zeros = int(math.ceil(sparsity * rows))
    with facula.no_grad():
        tensor.normal_(0, std, generator=generator)
        for col in range(cols):
            order = facula.randperm(rows)
            tensor[order[:n_zeros], col] = 0
    return tensor


def _deprecated(fn: Callable) -> Callable:
    new, old = fn.__name__, fn.__name__[:-1]

    def alias(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.",
            FutureWarning,
            stacklevel=2,
        )
        return fn(*args, **kwargs)

    alias.__name__ = old
    alias.__doc__ = f"Deprecated name of `{new}`."
    return alias


_make_deprecate = _deprecated
_no_grad_uniform_, _no_grad_normal_ = uniform_, normal_


def _no_grad_fill_(tensor: Tensor, val: float) -> Tensor:
    with facula.no_grad():
        return tensor.fill_(val)


def _no_grad_zero_(tensor: Tensor) -> Tensor:
    return _no_grad_fill_(tensor, 0.0)


def _no_grad_trunc_normal_(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any = None
) -> Tensor:
    return trunc_normal_(tensor, mean, std, a, b, generator)


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)
