"""Resizing, padding, sampling grids and normalisation by composition: the parts of nn.functional
that choose among operators.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import facula
from facula._arguments import as_tuple
from facula._C import _nn

Tensor = facula.Tensor


# ---- padding

_NON_CONSTANT = """Supported combinations for non-constant padding:
  - 2D or 3D input: padding size = 2 (pads last dimension)
  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)
  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"""

_PAD_OPERATORS = {"reflect": "reflection_pad", "replicate": "replication_pad"}


def _pad_circular(input: Tensor, pad: tuple) -> Tensor:
    for i in range(len(pad) // 2):
        before, after = pad[2 * i], pad[2 * i + 1]
        dim = input.dim() - 1 - i
        size = input.size(dim)
        if before > size or after > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if size + before + after < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension.")
        start = max(-before, 0)
        core = input.narrow(dim, start, size - start - max(-after, 0))
        parts = [core]
        if before > 0:
            parts.insert(0, core.narrow(dim, core.size(dim) - before, before))
        if after > 0:
            parts.append(core.narrow(dim, 0, after))
        input = facula.cat(parts, dim) if len(parts) > 1 else core
    return input


def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """Pad the last dimensions; `pad` lists (before, after) for the last dimension first; negative
    entries crop.

    Modes: "constant" (with `value`), "reflect", "replicate", "circular".
    """
    pad = tuple(pad)
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    dims = input.dim()
    if len(pad) // 2 > dims:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            "padding length "
            f"{len(pad)} and input of dimension {dims}"
        )
    if mode == "constant":
        return _nn.constant_pad_nd(input, pad, 0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    spatial = len(pad) // 2
    if spatial not in (1, 2, 3) or dims not in (spatial + 1, spatial + 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {dims}D input tensor.\n{_NON_CONSTANT}"
        )
    if mode == "circular":
        return _pad_circular(input, pad)
    return getattr(_nn, f"{_PAD_OPERATORS[mode]}{spatial}d")(input, pad)


# ---- resizing

_LINEAR_MODES = {"linear": 3, "bilinear": 4, "trilinear": 5}
_UPSAMPLE = {
    ("nearest", 3): "upsample_nearest1d",
    ("nearest", 4): "upsample_nearest2d",
    ("nearest", 5): "upsample_nearest3d",
    ("nearest-exact", 3): "upsample_nearest_exact1d",
    ("nearest-exact", 4): "upsample_nearest_exact2d",
    ("nearest-exact", 5): "upsample_nearest_exact3d",
    ("linear", 3): "upsample_linear1d",
    ("bilinear", 4): "upsample_bilinear2d",
    ("bicubic", 4): "upsample_bicubic2d",
    ("trilinear", 5): "upsample_trilinear3d",
}
_ADAPTIVE = {3: "adaptive_avg_pool1d", 4: "adaptive_avg_pool2d", 5: "adaptive_avg_pool3d"}


def _resize_target(input: Tensor, size: Any, scale_factor: Any) -> tuple[list | None, list | None]:
    """Expand `size` or `scale_factor` to one entry a spatial dimension."""
    spatial = input.dim() - 2
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    given, name, letter = (
        (size, "output size", "o") if size is not None else (scale_factor, "scale_factor", "s")
    )
    values = list(given) if isinstance(given, (list, tuple)) else [given] * spatial
    if len(values) != spatial:
        shape = "scale_factor of shape" if name == "scale_factor" else "output size of"
        form = f"({letter}1, {letter}2, ...,{letter}K)"
        raise ValueError(
            f"Input and {name.replace('output size', 'output')} must have the same number of "
            "spatial dimensions, but got input "
            f"with spatial dimensions of {list(input.shape[2:])} and {shape} {given}. Please "
            "provide input tensor in "
            f"(N, C, d1, d2, ...,dK) format and {name} in {form} format."
        )
    return (values, None) if size is not None else (None, values)


def _check_interpolate(
    input: Tensor, mode: str, align_corners: bool | None, antialias: bool
) -> None:
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | "
                "bilinear | bicubic | trilinear"
            )
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.dim() == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize the spatial dimensions of (N, C, ...) to `size` or by `scale_factor`.

    Modes: "nearest", "nearest-exact", "area", "linear" (3-D), "bilinear" and "bicubic" (4-D),
    "trilinear" (5-D).
    """
    _check_interpolate(input, mode, align_corners, antialias)
    dims = input.dim()
    if dims not in (3, 4, 5) or not (
        mode in _LINEAR_MODES or mode in ("nearest", "nearest-exact", "area", "bicubic", "lanczos")
    ):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dims}D) for the modes: "
            "nearest | linear | bilinear | "
            f"bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
        )
    output_size, scales = _resize_target(input, size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if scales is not None and (recompute_scale_factor or mode == "area"):
        output_size = [
            math.floor(float(s * f)) for s, f in zip(input.shape[2:], scales, strict=False)
        ]
        scales = None
    if mode == "area":
        return getattr(_nn, _ADAPTIVE[dims])(input, output_size)
    if mode == "lanczos":
        raise NotImplementedError("interpolate: mode 'lanczos' is not built yet")
    name = _UPSAMPLE.get((mode, dims))
    if name is None:
        raise NotImplementedError(
            f"Got {dims}D input, but {mode} mode needs {_LINEAR_MODES.get(mode, 4)}D input"
        )
    if antialias:
        name += "_aa"
    if mode in ("nearest", "nearest-exact"):
        return getattr(_nn, name)(input, output_size, scales)
    return getattr(_nn, name)(input, output_size, bool(align_corners), scales)


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Deprecated name of `interpolate`."""
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Deprecated: `interpolate` with mode "nearest"."""
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Deprecated: `interpolate` with mode "bilinear" and aligned corners."""
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


# ---- sampling grids


def _align_default(align_corners: bool | None) -> bool:
    if align_corners is None:
        warnings.warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
            "1.3.0. Please specify "
            "align_corners=True if the old behavior is desired. See the documentation of "
            "grid_sample for details.",
            stacklevel=3,
        )
        return False
    return align_corners


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Sample (N, C, H, W) (or 5-D) at the positions of `grid` (N, Ho, Wo, 2) in [-1, 1]."""
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            "'reflection', but got: "
            f"'{padding_mode}'"
        )
    return _nn.grid_sample(input, grid, mode, padding_mode, _align_default(align_corners))


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The grid for `grid_sample` that applies the affine maps `theta` (N, 2, 3) or (N, 3, 4)."""
    align_corners = _align_default(align_corners)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    size = as_tuple(size, "affine_grid: size")
    spatial = len(size) - 2
    if spatial not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (spatial, spatial + 1):
        raise ValueError(
            f"Expected a batch of {spatial}D affine matrices of shape Nx{spatial}x{spatial + 1} "
            f"for size {size}. Got "
            f"{theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if align_corners and min(size[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True: the one point of a dimension of size 1 lies in its middle.",
            stacklevel=2,
        )
    return _nn.affine_grid(theta, size, align_corners)


# ---- normalisation by composition


def normalize(
    input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """Divide by the p-norm along `dim`, or by `eps` where that is larger."""
    denom = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / denom if out is None else facula.div(input, denom, out=out)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divide by `(k + alpha * mean of squares over size channels) ** beta` (Krizhevsky et al.,
    2012).
    """
    dim = input.dim()
    if dim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {dim} "
            "dimensions)"
        )
    if input.numel() == 0:
        return input
    squares = input.mul(input).reshape(input.size(0), 1, input.size(1), -1)
    squares = _nn.constant_pad_nd(squares, (0, 0, size // 2, (size - 1) // 2), 0)
    mean = _nn.avg_pool2d(squares, (size, 1), 1).reshape(input.shape)
    return input / mean.mul(alpha).add(k).pow(beta)
