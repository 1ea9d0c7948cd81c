"""Functions of the `facula` namespace that few programs call; they are looked up at first use."""

from __future__ import annotations

from typing import Any

from facula import _C

Tensor = _C.Tensor
_rows = _C._functions

_REDUCTIONS = ("none", "mean", "sum")


def _reduction(value: int | str) -> str:
    """Give the name of a numbered reduction: 0 none, 1 mean, 2 sum."""
    if isinstance(value, str):
        return value
    if not 0 <= value < len(_REDUCTIONS):
        raise ValueError(f"{value} is not a valid value for reduction")
    return _REDUCTIONS[value]


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Give `input1 @ weight[k] @ input2` for each output feature k, plus the bias."""
    return _C._nn.bilinear(input1, input2, weight, bias)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int | str = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """Give the loss of connectionist temporal classification; `reduction` is a number."""
    from facula.nn import functional

    return functional.ctc_loss(
        log_probs,
        targets,
        input_lengths,
        target_lengths,
        blank,
        _reduction(reduction),
        zero_infinity,
    )


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool,
    full: bool,
    eps: float,
    reduction: int | str,
) -> Tensor:
    """Give the negative log-likelihood of Poisson counts; `reduction` is a number."""
    from facula.nn import functional

    return functional.poisson_nll_loss(
        input, target, log_input, full, eps=eps, reduction=_reduction(reduction)
    )


def _expect_tensor(input: Any, op: str) -> Any:
    if not hasattr(input, "detach"):
        raise TypeError(
            f"{op}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}"
        )
    return input


def _expect_floating(input: Any, op: str, kernel: str) -> Any:
    if not _expect_tensor(input, op).is_floating_point():
        raise NotImplementedError(f"{op}: {kernel!r} is not implemented for {input.dtype}")
    return input


def _sample_dirichlet(input: Tensor, generator: Any = None) -> Tensor:
    """Draw points of the simplex along the last dimension, differentiable in the concentrations.

    Example::

        >>> facula._sample_dirichlet(facula.ones(4, 3)).sum(-1)
        tensor([1., 1., 1., 1.])
    """
    from facula.distributions import _gamma_draws

    return _gamma_draws.dirichlet(
        _expect_floating(input, "_sample_dirichlet", "dirichlet"), generator
    )


def _standard_gamma(input: Tensor, generator: Any = None) -> Tensor:
    """Draw gamma distributed numbers of rate 1, differentiable in the shapes `input`."""
    from facula.distributions import _gamma_draws

    return _gamma_draws.standard_gamma(
        _expect_floating(input, "_standard_gamma", "gamma"), generator
    )


def detach(input: Tensor) -> Tensor:
    """Give a tensor over the same data without history."""
    return _expect_tensor(input, "detach").detach()


def detach_(input: Tensor) -> Tensor:
    """Drop the history of a tensor, in place."""
    return _expect_tensor(input, "detach_").detach_()


def get_device(input: Tensor) -> int:
    """Give the number of a tensor's device; -1 for the CPU."""
    return input.get_device()


def is_distributed(input: Tensor) -> bool:
    """Say whether a tensor is a distributed one: never."""
    return False


def set_flush_denormal(mode: bool) -> bool:
    """Say whether denormal numbers could be flushed to zero: they are kept, so only False works."""
    return not mode


def to_dlpack(tensor: Tensor) -> Any:
    """Give a DLPack capsule of a tensor."""
    return tensor.__dlpack__()


def is_anomaly_check_nan_enabled() -> bool:
    """Say whether anomaly mode looks for NaN: it does so when it is on."""
    return _C.is_anomaly_enabled()


def init_num_threads() -> None:
    """Do nothing: threads are set up when the library is loaded."""


def is_vulkan_available() -> bool:
    """Say whether Vulkan can be used: never."""
    return False


def thread_safe_generator() -> Any:
    """Give the generator of a data loader's worker thread: None outside one."""
    return None


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: Any = None,
    layout: Any = _C.strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Give the first `size` numbers of a file, mapped into memory.

    With `shared` writes to the tensor reach the file, which is made as long as needed; without,
    they stay private.
    """
    import mmap
    import os

    kind = _C.get_default_dtype() if dtype is None else dtype
    count = (size or 0) * kind.itemsize
    flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    try:
        number = os.open(filename, flags, 0o666)
    except OSError as error:
        raise RuntimeError(f"unable to open file <{filename}>: {error.strerror}") from error
    try:
        if shared and os.fstat(number).st_size < count:
            os.truncate(number, count)
        if os.fstat(number).st_size < count:
            raise RuntimeError(f"file <{filename}> is smaller than the {count} bytes asked for")
        if count == 0:
            return _rows.empty(0, dtype=kind, requires_grad=requires_grad)
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        memory = mmap.mmap(number, count, access=access)
    finally:
        os.close(number)
    result = _C.frombuffer(memory, dtype=kind, count=size)
    return result.requires_grad_() if requires_grad else result
