"""Pooling of nn.functional: forms with and without indices, adaptive sizes with None, unpooling, Lp
and fractional pooling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import facula
from facula._C import _nn
from facula._naming import named
from facula.nn.modules.utils import _list_with_default, _pair, _single, _triple

Tensor = facula.Tensor


def _max_pool(dims: int, layout: str, place: str) -> tuple[Callable[..., Any], ...]:
    """Make max_poolNd_with_indices and max_poolNd of inputs of `layout`; positions count within a
    `place`.
    """
    pooled = getattr(_nn, f"max_pool{dims}d")
    pooled_with_indices = getattr(_nn, f"max_pool{dims}d_with_indices")

    def with_indices(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> tuple[Tensor, Tensor]:
        return pooled_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)

    def pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        operator = pooled_with_indices if return_indices else pooled
        return operator(input, kernel_size, stride, padding, dilation, ceil_mode)

    name, doc = f"max_pool{dims}d", f"The maximum of each window of {layout}"
    where = f"where it was in the {place}."
    return (
        named(with_indices, __name__, f"{name}_with_indices", f"{doc}, and {where}"),
        named(pool, __name__, name, f"{doc}; with `return_indices` also {where}"),
    )


max_pool1d_with_indices, max_pool1d = _max_pool(1, "(N, C, L)", "row")
max_pool2d_with_indices, max_pool2d = _max_pool(2, "(N, C, H, W)", "plane")
max_pool3d_with_indices, max_pool3d = _max_pool(3, "(N, C, D, H, W)", "volume")


def _unpool_output_size(
    input: Tensor, kernel_size: tuple, stride: tuple, padding: tuple, output_size: Any
) -> list[int]:
    """Find the output size, or check the one that is given: it may differ from the default by less
    than a stride.
    """
    n = len(kernel_size)
    spatial = input.shape[-n:]
    default = [(spatial[d] - 1) * stride[d] + kernel_size[d] - 2 * padding[d] for d in range(n)]
    if output_size is None:
        return default
    if len(output_size) == n + 2:
        output_size = output_size[2:]
    if len(output_size) != n:
        raise ValueError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a "
            f"length of '{len(output_size)}'"
        )
    for d in range(n):
        low, high = default[d] - stride[d], default[d] + stride[d]
        if not low < output_size[d] < high:
            raise ValueError(
                f'invalid output_size "{output_size}" (dim {d} must be between {low} and {high})'
            )
    return list(output_size)


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Put each maximum back to where `max_pool1d` found it; zero elsewhere."""
    kernel_size = _single(kernel_size)
    stride = kernel_size if stride is None else _single(stride)
    size = _unpool_output_size(input, kernel_size, stride, _single(padding), output_size)
    return _nn.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1]).squeeze(-1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Put each maximum back to where `max_pool2d` found it; zero elsewhere."""
    kernel_size = _pair(kernel_size)
    stride = kernel_size if stride is None else _pair(stride)
    size = _unpool_output_size(input, kernel_size, stride, _pair(padding), output_size)
    return _nn.max_unpool2d(input, indices, size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Put each maximum back to where `max_pool3d` found it; zero elsewhere."""
    kernel_size = _triple(kernel_size)
    stride = kernel_size if stride is None else _triple(stride)
    padding = _triple(padding)
    size = _unpool_output_size(input, kernel_size, stride, padding, output_size)
    return _nn.max_unpool3d(input, indices, size, list(stride), list(padding))


def _wanted(input: Tensor, output_size: Any) -> Any:
    """Put the input's sizes where `output_size` is None."""
    if isinstance(output_size, int):
        return output_size
    return _list_with_default(output_size, list(input.size()))


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Average over a grid of `output_size` windows; None keeps the input's size there."""
    return _nn.adaptive_avg_pool2d(input, _wanted(input, output_size))


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Average over a grid of `output_size` windows; None keeps the input's size there."""
    return _nn.adaptive_avg_pool3d(input, _wanted(input, output_size))


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Maxima over `output_size` windows, and where they were."""
    return _nn.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over `output_size` windows; with `return_indices` also where they were."""
    result = _nn.adaptive_max_pool1d(input, output_size)
    return tuple(result) if return_indices else result[0]


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Maxima over a grid of `output_size` windows, and where they were."""
    return _nn.adaptive_max_pool2d(input, _list_with_default(output_size, list(input.size())))


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over a grid of `output_size` windows; with `return_indices` also where they were."""
    result = adaptive_max_pool2d_with_indices(input, output_size)
    return tuple(result) if return_indices else result[0]


def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Maxima over a grid of `output_size` windows, and where they were."""
    return _nn.adaptive_max_pool3d(input, _list_with_default(output_size, list(input.size())))


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maxima over a grid of `output_size` windows; with `return_indices` also where they were."""
    result = adaptive_max_pool3d_with_indices(input, output_size)
    return tuple(result) if return_indices else result[0]


def _fractional_size(
    name: str, input: Tensor, output_size: Any, output_ratio: Any, expand: Any
) -> tuple:
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is not None:
        return expand(output_size)
    ratios = expand(output_ratio)
    spatial = input.shape[-len(ratios) :]
    return tuple(int(s * r) for s, r in zip(spatial, ratios, strict=False))


def _samples(input: Tensor, spatial: int) -> Tensor:
    batch = 1 if input.dim() == spatial + 1 else input.size(0)
    channels = input.size(-spatial - 1)
    return facula.rand(batch, channels, spatial, dtype=input.dtype, device=input.device)


def _fractional_max_pool(dims: int, expand: Callable[[Any], tuple]) -> tuple[Callable, ...]:
    """Make fractional_max_poolNd_with_indices and fractional_max_poolNd."""
    name = f"fractional_max_pool{dims}d"
    operator = getattr(_nn, name)

    def with_indices(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        size = _fractional_size(name, input, output_size, output_ratio, expand)
        samples = _samples(input, dims) if _random_samples is None else _random_samples
        return operator(input, expand(kernel_size), size, samples)

    def pool(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        result = with_indices(
            input, kernel_size, output_size, output_ratio, return_indices, _random_samples
        )
        return tuple(result) if return_indices else result[0]

    doc = "Maxima over windows of random position (Graham, 2014)"
    return (
        named(with_indices, __name__, f"{name}_with_indices", f"{doc}, and where they were."),
        named(pool, __name__, name, f"{doc}; with `return_indices` also where they were."),
    )


fractional_max_pool2d_with_indices, fractional_max_pool2d = _fractional_max_pool(2, _pair)
fractional_max_pool3d_with_indices, fractional_max_pool3d = _fractional_max_pool(3, _triple)


def _lp(average: Tensor, norm_type: float, count: int) -> Tensor:
    if norm_type == 0:
        raise ValueError(f"lp_pool: norm_type must be a non-zero value, but got {norm_type}")
    return (average.sign() * _nn.relu(average.abs())).mul(count).pow(1.0 / norm_type)


def lp_pool1d(
    input: Tensor,
    norm_type: int | float,
    kernel_size: int,
    stride: Any = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The p-norm of each window of (N, C, L)."""
    average = _nn.avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return _lp(average, norm_type, _single(kernel_size)[0])


def lp_pool2d(
    input: Tensor,
    norm_type: int | float,
    kernel_size: Any,
    stride: Any = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The p-norm of each window of (N, C, H, W)."""
    h, w = _pair(kernel_size)
    return _lp(_nn.avg_pool2d(input.pow(norm_type), (h, w), stride, 0, ceil_mode), norm_type, h * w)


def lp_pool3d(
    input: Tensor,
    norm_type: int | float,
    kernel_size: Any,
    stride: Any = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The p-norm of each window of (N, C, D, H, W)."""
    d, h, w = _triple(kernel_size)
    return _lp(
        _nn.avg_pool3d(input.pow(norm_type), (d, h, w), stride, 0, ceil_mode), norm_type, d * h * w
    )
