"""Convolutions and transposed convolutions in one to three dimensions, and their lazy forms."""

from __future__ import annotations

import math
from typing import Any

import facula
from facula.nn import functional as F
from facula.nn import init
from facula.nn.modules.lazy import LazyModuleMixin
from facula.nn.modules.module import Module
from facula.nn.modules.utils import _pair, _reverse_repeat_tuple, _single, _triple
from facula.nn.parameter import Parameter, UninitializedParameter

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
    "LazyConv1d", "LazyConv2d", "LazyConv3d",
    "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
]  # fmt: skip

Tensor = facula.Tensor

_PADDING_MODES = {"zeros", "reflect", "replicate", "circular"}


class _ConvNd(Module):
    """What all convolutions share: their options, parameters and line in `print`."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple,
        stride: tuple,
        padding: tuple | str,
        dilation: tuple,
        transposed: bool,
        output_padding: tuple,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._check(in_channels, out_channels, stride, padding, groups, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        if isinstance(padding, str):
            sides = [0, 0] * len(kernel_size)
            if padding == "same":
                for d, k, i in zip(
                    dilation, kernel_size, range(len(kernel_size) - 1, -1, -1), strict=False
                ):
                    total = d * (k - 1)
                    sides[2 * i], sides[2 * i + 1] = total // 2, total - total // 2
            self._reversed_padding_repeated_twice = sides
        else:
            self._reversed_padding_repeated_twice = _reverse_repeat_tuple(padding, 2)
        lead = (
            (in_channels, out_channels // groups)
            if transposed
            else (out_channels, in_channels // groups)
        )
        self.weight = Parameter(facula.empty((*lead, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(facula.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    @staticmethod
    def _check(
        in_channels: int,
        out_channels: int,
        stride: tuple,
        padding: Any,
        groups: int,
        padding_mode: str,
    ) -> None:
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        valid = {"same", "valid"}
        if isinstance(padding, str):
            if padding not in valid:
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {valid}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PADDING_MODES:
            raise ValueError(
                f"padding_mode must be one of {_PADDING_MODES}, but got "
                f"padding_mode='{padding_mode}'"
            )

    def reset_parameters(self) -> None:
        """Draw weight and bias from U(-1/sqrt(fan_in), 1/sqrt(fan_in))."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        s = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if self.padding != (0,) * len(self.padding):
            s += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.dilation):
            s += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.output_padding):
            s += f", output_padding={self.output_padding}"
        if self.groups != 1:
            s += f", groups={self.groups}"
        if self.bias is None:
            s += ", bias=False"
        if self.padding_mode != "zeros":
            s += f", padding_mode={self.padding_mode}"
        return s

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")

    def _pad(self, input: Tensor) -> Tensor:
        return F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)


class _PlainConvNd(_ConvNd):
    """The constructor and the call of convolutions that are not transposed."""

    _ntuple: Any
    _functional_name: str

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        n = type(self)._ntuple
        super().__init__(
            in_channels, out_channels, n(kernel_size), n(stride),
            padding if isinstance(padding, str) else n(padding), n(dilation), False,
            n(0), groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = self._pad(input), 0
        convolve = getattr(F, self._functional_name)
        return convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_PlainConvNd):
    """Convolution over (N, C, L) or (C, L); weight is (out_channels, in_channels / groups, K)."""

    _ntuple = staticmethod(_single)
    _functional_name = "conv1d"


class Conv2d(_PlainConvNd):
    """Convolution over (N, C, H, W) or (C, H, W); weight is (out_channels, in_channels / groups,
    KH, KW).
    """

    _ntuple = staticmethod(_pair)
    _functional_name = "conv2d"


class Conv3d(_PlainConvNd):
    """Convolution over (N, C, D, H, W) or (C, D, H, W); weight is (out_channels, in_channels /
    groups, KD, KH, KW).
    """

    _ntuple = staticmethod(_triple)
    _functional_name = "conv3d"


class _ConvTransposeNd(_ConvNd):
    """Transposed convolutions share the choice of `output_padding` from a wanted output size."""

    _ntuple: Any
    _spatial: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        n = type(self)._ntuple
        super().__init__(
            in_channels, out_channels, n(kernel_size), n(stride), n(padding), n(dilation), True,
            n(output_padding), groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def _output_padding(self, input: Tensor, output_size: Any) -> tuple:
        if output_size is None:
            return self.output_padding
        n = self._spatial
        batched = input.dim() == n + 2
        lead = 2 if batched else 1
        output_size = list(output_size)
        if len(output_size) == lead + n:
            output_size = output_size[lead:]
        if len(output_size) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or "
                f"{lead + n} elements (got "
                f"{len(output_size)})"
            )
        spatial = input.shape[lead:]
        low = [
            (spatial[d] - 1) * self.stride[d]
            - 2 * self.padding[d]
            + self.dilation[d] * (self.kernel_size[d] - 1)
            + 1
            for d in range(n)
        ]
        high = [low[d] + self.stride[d] - 1 for d in range(n)]
        if any(not a <= s <= b for a, s, b in zip(low, output_size, high, strict=False)):
            raise ValueError(
                f"requested an output size of {tuple(output_size)}, but valid sizes range from "
                f"{low} to {high} (for an input of "
                f"{input.size()[2:]})"
            )
        return tuple(s - a for s, a in zip(output_size, low, strict=False))


def _transpose_forward(name: str) -> Any:
    def forward(self: Any, input: Tensor, output_size: Any = None) -> Tensor:
        output_padding = self._output_padding(input, output_size)
        return getattr(F, name)(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            output_padding,
            self.groups,
            self.dilation,
        )

    return forward


class ConvTranspose1d(_ConvTransposeNd):
    """The transpose of Conv1d as a layer; weight is (in_channels, out_channels / groups, K)."""

    _ntuple = staticmethod(_single)
    _spatial = 1
    forward = _transpose_forward("conv_transpose1d")


class ConvTranspose2d(_ConvTransposeNd):
    """The transpose of Conv2d : weight is (in_channels, out_channels / groups, KH, KW)."""

    _ntuple = staticmethod(_pair)
    _spatial = 2
    forward = _transpose_forward("conv_transpose2d")


class ConvTranspose3d(_ConvTransposeNd):
    """The transpose of Conv3d as a layer; weight is (in_channels, out_channels / groups, KD, KH,
    KW).
    """

    _ntuple = staticmethod(_triple)
    _spatial = 3
    forward = _transpose_forward("conv_transpose3d")


class _LazyConvXdMixin(LazyModuleMixin):
    """A convolution that learns `in_channels` from its first input."""

    groups: int
    _spatial_dims: int

    def _prepare(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the weights, once they exist."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Make the parameters to fit `input`."""
        if not self.has_uninitialized_params():
            return
        n = self._spatial_dims
        if input.dim() not in (n + 1, n + 2):
            raise RuntimeError(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: "
                f"{input.shape}"
            )
        self.in_channels = input.shape[-n - 1]
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        lead = (self.out_channels, self.in_channels // self.groups)
        if self.transposed:
            lead = (self.in_channels, self.out_channels // self.groups)
        self.weight.materialize((*lead, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyConv(_LazyConvXdMixin):
    """The constructor of the lazy convolutions: PyTorch's argument order without `in_channels`."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._prepare(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvXdMixin):
    """The constructor of the lazy transposed convolutions: PyTorch's argument order without
    `in_channels`.
    """

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            0,
            0,
            kernel_size,
            stride,
            padding,
            output_padding,
            groups,
            False,
            dilation,
            padding_mode,
        )
        self._prepare(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """A Conv1d that learns `in_channels` from its first input."""

    cls_to_become = Conv1d
    _spatial_dims = 1


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d that learns `in_channels` from its first input."""

    cls_to_become = Conv2d
    _spatial_dims = 2


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d that learns `in_channels` from its first input."""

    cls_to_become = Conv3d
    _spatial_dims = 3


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A ConvTranspose1d that learns `in_channels` from its first input."""

    cls_to_become = ConvTranspose1d
    _spatial_dims = 1


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A ConvTranspose2d that learns `in_channels` from its first input."""

    cls_to_become = ConvTranspose2d
    _spatial_dims = 2


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A ConvTranspose3d that learns `in_channels` from its first input."""

    cls_to_become = ConvTranspose3d
    _spatial_dims = 3
