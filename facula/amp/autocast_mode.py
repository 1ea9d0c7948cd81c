"""`autocast`: a context in which products and convolutions compute in a narrower type.

It is a mode over function calls: tensors of float32 (and of the other narrow types) that go into a
function of `_NARROW` are cast to the context's dtype, those that go into a function of `_WIDE` to
float32, and functions of `_WIDEST` bring their tensors to the widest type among them. Everything
else keeps the types it gets. float64 and integers are never touched.
"""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable
from typing import Any

import facula
from facula.overrides import TorchFunctionMode, _without_operators

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_NARROW = frozenset(
    "matmul __matmul__ __rmatmul__ mm bmm addmm addbmm baddbmm linear prelu "
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc "
    "scaled_dot_product_attention chain_matmul multi_dot vecdot _tensordot matrix_power cov "
    "corrcoef".split()
)
_WIDE = frozenset(
    "avg_pool3d binary_cross_entropy binary_cross_entropy_with_logits grid_sample grid_sampler "
    "polar prod quantile nanquantile stft istft cdist trace view_as_complex cholesky "
    "cholesky_inverse cholesky_solve inverse lu_solve orgqr ormqr pinverse "
    "mse_loss nll_loss l1_loss smooth_l1_loss huber_loss cosine_embedding_loss "
    "hinge_embedding_loss kl_div poisson_nll_loss margin_ranking_loss soft_margin_loss "
    "triplet_margin_loss multi_margin_loss multilabel_margin_loss ctc_loss cross_entropy "
    "adaptive_avg_pool3d adaptive_max_pool3d reflection_pad1d reflection_pad2d "
    "replication_pad1d replication_pad2d replication_pad3d max_unpool2d max_unpool3d "
    "fractional_max_pool2d fractional_max_pool3d "
    "fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft "
    "matrix_norm cond matrix_rank solve cholesky_ex svd svdvals eig eigvals eigh eigvalsh inv "
    "inv_ex householder_product tensorinv tensorsolve qr lu_factor lstsq".split()
)
_WIDEST = frozenset("cat concat concatenate stack index_copy".split())

_KINDS = ("cpu", "cuda", "xpu", "mps", "hpu", "mtia", "xla", "privateuseone", "meta", "ipu")


class _State(threading.local):
    def __init__(self) -> None:
        self.enabled = dict.fromkeys(_KINDS, False)
        self.dtype = dict.fromkeys(_KINDS, facula.float16)
        self.dtype.update(cpu=facula.bfloat16, xpu=facula.bfloat16, xla=facula.bfloat16)
        self.cache = True
        self.depth = 0


_state = _State()


def _known(kind: str) -> str:
    if not isinstance(kind, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(kind)}`")
    if kind not in _KINDS:
        raise RuntimeError(
            f"Expected one of {', '.join(_KINDS)} device type at start of device string: {kind}"
        )
    return kind


def _has(kind: str) -> bool:
    if kind in ("cuda", "xpu", "mps"):
        return getattr(facula, kind).is_available()
    return kind == "cpu"


def is_autocast_available(device_type: str) -> bool:
    """Say whether autocast exists for a kind of device."""
    return _known(device_type) in ("cpu", "cuda", "xpu", "mps", "hpu", "mtia", "xla")


def _map(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, facula.Tensor):
        return change(value)
    if isinstance(value, (list, tuple)) and any(isinstance(v, facula.Tensor) for v in value):
        return type(value)(_map(v, change) for v in value)
    return value


def _eligible(t: facula.Tensor) -> bool:
    dtype = t.dtype
    return dtype in (facula.float32, facula.float16, facula.bfloat16) and _state.enabled.get(
        t.device.type, False
    )


def _cast(args: tuple, kwargs: dict, dtype_of: Callable[[Any], Any]) -> tuple[tuple, dict]:
    def change(t: facula.Tensor) -> facula.Tensor:
        return t.to(dtype_of(t)) if _eligible(t) else t

    return (
        tuple(_map(a, change) for a in args),
        {k: v if k == "out" else _map(v, change) for k, v in kwargs.items()},
    )


def _multiplies(name: str, args: tuple) -> bool:
    """Say whether a call sums products as a matrix product does; other calls keep their types."""
    if name == "inner":
        return min(t.dim() for t in args[:2]) > 0 and max(t.dim() for t in args[:2]) > 1
    if name != "_einsum" or len(args[1]) < 2:
        return False
    given, arrow, kept = args[0].replace(" ", "").partition("->")
    letters = given.replace(",", "").replace(".", "")
    if not arrow:
        return any(letters.count(c) > 1 for c in letters)
    return any(c not in kept for c in letters)


class _Mode(TorchFunctionMode):
    """Casts the arguments of calls; one of it is on the stack while any context is entered."""

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = kwargs or {}
        func, args = _without_operators(func, args)
        name = getattr(func, "__name__", "")
        if (name in _NARROW or _multiplies(name, args)) and kwargs.get("out") is None:
            args, kwargs = _cast(args, kwargs, lambda t: _state.dtype[t.device.type])
        elif name in _WIDE:
            args, kwargs = _cast(args, kwargs, lambda t: facula.float32)
        elif name in _WIDEST:
            found: list = []
            _map([*args, *kwargs.values()], lambda t: found.append(t) or t)
            nested = [v for a in args if isinstance(a, (list, tuple)) for v in a]
            found += [t for t in nested if isinstance(t, facula.Tensor)]
            kinds = {t.dtype for t in found if _eligible(t)}
            if len(kinds) > 1:
                args, kwargs = _cast(args, kwargs, lambda t: facula.float32)
        return func(*args, **kwargs)


class autocast:
    """A context, or decorator, in which chosen functions compute in a narrower type.

    `device_type` says which tensors it concerns; the dtype is bfloat16 on the CPU unless given.
    A kind of device that the machine lacks switches it off, with a warning.

    Example:
        >>> with facula.autocast("cpu", dtype=facula.bfloat16):
        ...     y = facula.ones(2, 3) @ facula.ones(3, 2)
        >>> y.dtype
        facula.bfloat16
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        self.device = _known(device_type)
        if not is_autocast_available(device_type):
            raise RuntimeError(
                f"User specified an unsupported autocast device_type '{device_type}'"
            )
        self.fast_dtype = _state.dtype[device_type] if dtype is None else dtype
        self._cache_enabled = _state.cache if cache_enabled is None else cache_enabled
        if enabled and device_type == "cuda" and not _has("cuda"):
            warnings.warn(
                "User provided device_type of 'cuda', but CUDA is not available. Disabling",
                stacklevel=2,
            )
            enabled = False
        if enabled and device_type == "cpu":
            if self.fast_dtype not in (facula.bfloat16, facula.float16):
                warnings.warn(
                    "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                    "CPU Autocast only supports dtype of bfloat16 and float16 currently.",
                    stacklevel=2,
                )
                enabled = False
        self._enabled = bool(enabled)

    def __enter__(self) -> autocast:
        kind = self.device
        self._before = _state.enabled[kind], _state.dtype[kind], _state.cache
        _state.enabled[kind], _state.dtype[kind] = self._enabled, self.fast_dtype
        _state.cache = self._cache_enabled
        self._pushed = self._enabled and _state.depth == 0
        if self._pushed:
            self._mode = _Mode()
            self._mode.__enter__()
            _state.depth += 1
        return self

    def __exit__(self, *exc: Any) -> None:
        if self._pushed:
            _state.depth -= 1
            self._mode.__exit__(*exc)
        kind = self.device
        _state.enabled[kind], _state.dtype[kind], _state.cache = self._before

    def __call__(self, func: Callable) -> Callable:
        """Return the function that runs in this context."""

        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with autocast(self.device, self.fast_dtype, self._enabled, self._cache_enabled):
                return func(*args, **kwargs)

        return wrapped


# What `facula.is_autocast_enabled` and its kin are.


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Say whether a context is entered that concerns a kind of device."""
    return _state.enabled[_known(device_type)]


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Set what `is_autocast_enabled` says; a context must be entered for it to take effect."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    _state.enabled[_known(device_type)] = bool(enabled)


def get_autocast_dtype(device_type: str) -> Any:
    """Return the narrow type for a kind of device."""
    return _state.dtype[_known(device_type)]


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Set the narrow type for a kind of device."""
    _state.dtype[_known(device_type)] = dtype


def is_autocast_cpu_enabled() -> bool:
    """Say whether a context is entered that concerns the CPU."""
    return _state.enabled["cpu"]


def get_autocast_cpu_dtype() -> Any:
    """Return the narrow type for the CPU."""
    return _state.dtype["cpu"]


def get_autocast_gpu_dtype() -> Any:
    """Return the narrow type for CUDA devices."""
    return _state.dtype["cuda"]


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Set what `is_autocast_cpu_enabled` says."""
    _state.enabled["cpu"] = bool(enabled)


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """Set the narrow type for the CPU."""
    _state.dtype["cpu"] = dtype


def set_autocast_gpu_dtype(dtype: Any) -> None:
    """Set the narrow type for CUDA devices."""
    _state.dtype["cuda"] = dtype


def is_autocast_cache_enabled() -> bool:
    """Say whether casts of weights may be kept; here they never are."""
    return _state.cache


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set what `is_autocast_cache_enabled` says."""
    _state.cache = bool(enabled)


def autocast_increment_nesting() -> int:
    """Return the depth of contexts after entering one by hand."""
    _state.depth += 1
    return _state.depth


def autocast_decrement_nesting() -> int:
    """Return the depth of contexts after leaving one by hand."""
    _state.depth -= 1
    return _state.depth


def clear_autocast_cache() -> None:
    """Do nothing: casts of weights are not kept."""


# Decorators for the two halves of a custom autograd Function.


def custom_fwd(
    fwd: Callable | None = None, *, device_type: str, cast_inputs: Any = None
) -> Callable:
    """Decorate `forward`: with `cast_inputs`, tensors are cast to it and autocast is off inside."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = is_autocast_enabled(device_type)
        if cast_inputs is None or not ctx._fwd_used_autocast:
            return fwd(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        with autocast(device_type, enabled=False):

            def change(t: facula.Tensor) -> facula.Tensor:
                wanted = t.is_floating_point() and t.dtype != facula.float64
                return t.to(cast_inputs) if wanted else t

            args = tuple(_map(a, change) for a in args)
            return fwd(ctx, *args, **{k: _map(v, change) for k, v in kwargs.items()})

    return decorated


def custom_bwd(bwd: Callable | None = None, *, device_type: str) -> Callable:
    """Decorate `backward`: it runs with autocast as `forward` did."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)

    return decorated
