"""Batch normalisation in one to three dimensions, and its lazy forms."""

from __future__ import annotations

from typing import Any

import facula
from facula.nn import functional as F
from facula.nn import init
from facula.nn.modules.lazy import LazyModuleMixin
from facula.nn.modules.module import Module
from facula.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d",
    "LazyBatchNorm3d", "SyncBatchNorm",
]  # fmt: skip

Tensor = facula.Tensor


class _NormBase(Module):
    """What batch and instance norms share: parameters, running statistics and their forms in old
    state dicts.
    """

    _version = 2

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        factory = {"device": device, "dtype": dtype}
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self.register_parameter(
            "weight", Parameter(facula.empty(num_features, **factory)) if affine else None
        )
        self.register_parameter(
            "bias", Parameter(facula.empty(num_features, **factory)) if affine and bias else None
        )
        if track_running_stats:
            self.register_buffer("running_mean", facula.zeros(num_features, **factory))
            self.register_buffer("running_var", facula.ones(num_features, **factory))
            self.register_buffer(
                "num_batches_tracked", facula.tensor(0, dtype=facula.long, device=device)
            )
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Set the running mean to 0, the running variance to 1, the count of batches to 0."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Set weight to 1, bias to 0, and the running statistics to their start."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: dict, prefix: str, local_metadata: dict, *args: Any
    ) -> None:
        version = local_metadata.get("version", None)
        if (version is None or version < 2) and self.track_running_stats:
            key = prefix + "num_batches_tracked"
            if key not in state_dict:  # the first version had no count
                mine = self.num_batches_tracked
                known = mine is not None and mine.device != facula.device("meta")
                state_dict[key] = mine if known else facula.tensor(0, dtype=facula.long)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)


class _BatchNorm(_NormBase):
    """Batch normalisation of any rank; the subclasses check the rank."""

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        training = self.training
        mean, var = self.running_mean, self.running_var
        if training:
            if self.track_running_stats:
                if self.num_batches_tracked is not None:
                    self.num_batches_tracked.add_(1)
                    if self.momentum is None:  # the cumulative average
                        momentum = 1.0 / float(self.num_batches_tracked)
            else:
                mean = var = None
        elif mean is None and var is None:
            training = True
        return F.batch_norm(input, mean, var, self.weight, self.bias, training, momentum, self.eps)


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """A norm that learns `num_features` from its first input."""

    weight: UninitializedParameter
    bias: UninitializedParameter

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        factory = {"device": device, "dtype": dtype}
        super().__init__(0, eps, momentum, False, False, **factory)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(**factory)
            if bias:
                self.bias = UninitializedParameter(**factory)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**factory)
            self.running_var = UninitializedBuffer(**factory)
            self.num_batches_tracked = facula.tensor(0, dtype=facula.long, device=device)

    def reset_parameters(self) -> None:
        """Set the start values, once the parameters exist."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Make parameters and buffers to fit `input`."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for t in (self.weight, self.bias, self.running_mean, self.running_var):
            if t is not None:
                t.materialize((self.num_features,))
        self.reset_parameters()


class BatchNorm1d(_BatchNorm):
    """Normalise each channel of (N, C) or (N, C, L) over the batch (Ioffe and Szegedy, 2015)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    """Normalise each channel of (N, C, H, W) over the batch (Ioffe and Szegedy, 2015)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class BatchNorm3d(_BatchNorm):
    """Normalise each channel of (N, C, D, H, W) over the batch (Ioffe and Szegedy, 2015)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A BatchNorm1d that learns `num_features` from its first input."""

    cls_to_become = BatchNorm1d
    _check_input_dim = BatchNorm1d._check_input_dim


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """A BatchNorm2d that learns `num_features` from its first input."""

    cls_to_become = BatchNorm2d
    _check_input_dim = BatchNorm2d._check_input_dim


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A BatchNorm3d that learns `num_features` from its first input."""

    cls_to_become = BatchNorm3d
    _check_input_dim = BatchNorm3d._check_input_dim


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over all processes. In training it raises NotImplementedError: process
    groups are not built yet.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        if self.training:
            raise NotImplementedError(
                "SyncBatchNorm: training needs process groups, which are not built yet"
            )
        return super().forward(input)

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """Replace every batch norm in `module` by a SyncBatchNorm with the same parameters and
        statistics.
        """
        result = module
        if isinstance(module, _BatchNorm):
            result = cls(
                module.num_features, module.eps, module.momentum, module.affine,
                module.track_running_stats, process_group,
                bias=module.bias is not None,
            )  # fmt: skip
            if module.affine:
                with facula.no_grad():
                    result.weight = module.weight
                    result.bias = module.bias
            result.running_mean = module.running_mean
            result.running_var = module.running_var
            result.num_batches_tracked = module.num_batches_tracked
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result
