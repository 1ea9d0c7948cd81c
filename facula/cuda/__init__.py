"""CUDA devices: this build has none, and says so.

Questions are answered (`is_available()` is False, `device_count()` 0, memory counts 0), seeds are
accepted, and whatever needs a device raises RuntimeError.
"""

from __future__ import annotations

import importlib as _importlib
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from facula import _C
from facula._C import OutOfMemoryError

#: Typed tensors of a device, for annotations and comparisons.
_KINDS = "Float Double Half BFloat16 Long Int Short Char Byte Bool".split()
_PARTS = ("amp", "memory", "nvtx", "profiler", "random", "streams")
has_half = has_magma = False
_initialized = False  # read by programs that keep the generators of devices
default_generators: tuple = ()


def _none(name: str) -> RuntimeError:
    return RuntimeError(f"cuda.{name}: no CUDA device is available: this build of Facula has none")


def is_available() -> bool:
    """Say that there is no CUDA device."""
    return False


def is_initialized() -> bool:
    """Say that CUDA has not been started."""
    return False


def device_count() -> int:
    """Return the number of CUDA devices: 0."""
    return 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Say that there is no device which computes in bfloat16."""
    return False


def is_tf32_supported() -> bool:
    """Say that there is no device which computes in tf32."""
    return False


def is_current_stream_capturing() -> bool:
    """Say that no graph of kernels is being recorded."""
    return False


def get_arch_list() -> list[str]:
    """Return the architectures that the build has kernels for: none."""
    return []


def get_gencode_flags() -> str:
    """Return the compiler's flags for the architectures of the build: none."""
    return ""


def _is_in_bad_fork() -> bool:
    return False


def _is_compiled() -> bool:
    return False


# Seeds: kept by nobody, as there are no generators.


def manual_seed(seed: int) -> None:
    """Accept a seed for the generator of a device."""


def manual_seed_all(seed: int) -> None:
    """Accept a seed for the generators of all devices."""


def seed() -> None:
    """Accept that the generator of a device is to be seeded."""


def seed_all() -> None:
    """Accept that the generators of all devices are to be seeded."""


def get_rng_state_all() -> list[_C.Tensor]:
    """Return the states of the generators of all devices: none."""
    return []


def set_rng_state_all(new_states: Iterable[_C.Tensor]) -> None:
    """Set the states of the generators of all devices; RuntimeError if there are states."""
    if list(new_states):
        raise _none("set_rng_state_all")


# Memory: nothing is held.


def empty_cache() -> None:
    """Do nothing: no memory of a device is held."""


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """Return statistics of a device's memory: none."""
    return OrderedDict()


def memory_allocated(device: Any = None) -> int:
    """Return the bytes that tensors use on a device: 0."""
    return 0


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return a text about a device's memory."""
    return "no CUDA device is available\n"


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated
memory_cached = max_memory_cached = memory_allocated


def reset_peak_memory_stats(device: Any = None) -> None:
    """Do nothing: nothing is counted."""


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats
reset_accumulated_memory_stats = reset_peak_memory_stats


# Devices and streams.


class device:
    """A context in which a CUDA device is the current one; only "no device" can be entered."""

    def __init__(self, device: Any) -> None:
        self.idx = _index(device)

    def __enter__(self) -> None:
        if self.idx >= 0:
            raise _none("device")

    def __exit__(self, *exc: Any) -> None:
        pass


class device_of(device):
    """A context in which a tensor's device is the current one; CPU tensors change nothing."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


def _index(device: Any) -> int:
    if device is None:
        return -1
    if isinstance(device, int):
        return device
    found = _C.device(device)
    return -1 if found.type != "cuda" else found.index or 0


class _NeedsDevice:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise _none(type(self).__name__)


class Stream(_NeedsDevice):
    """A queue of work on a device. Making one raises: there is no device."""


class ExternalStream(Stream):
    """A queue of work that another library owns. Making one raises: there is no device."""


class Event(_NeedsDevice):
    """A mark in a queue of work. Making one raises: there is no device."""


class CUDAGraph(_NeedsDevice):
    """A recorded sequence of kernels. Making one raises: there is no device."""


class graph(_NeedsDevice):
    """A context that records kernels. Making one raises: there is no device."""


class StreamContext:
    """A context in which work goes to a stream; with None it changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        if stream is not None:
            raise _none("stream")
        self.stream = stream

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        pass


def stream(stream: Stream | None) -> StreamContext:
    """Return a context in which work goes to a stream; with None it changes nothing."""
    return StreamContext(stream)


def set_device(device: Any) -> None:
    """Make a device the current one; RuntimeError unless it is "none" (a negative number)."""
    if _index(device) >= 0:
        raise _none("set_device")


def _needs_device(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise _none(name)

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = "Raise RuntimeError: there is no CUDA device."
    return function


for _name in (
    "can_device_access_peer cudart current_blas_handle current_device current_stream "
    "default_stream get_device_capability get_device_name get_device_properties get_rng_state "
    "init initial_seed ipc_collect list_gpu_processes make_graphed_callables mem_get_info "
    "set_per_process_memory_fraction set_rng_state set_stream synchronize utilization power_draw "
    "temperature clock_rate memory_usage host_memory_stats"
).split():
    globals()[_name] = _needs_device(_name)


class _Kind(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"type cuda.{cls.__name__} not available: this build has no CUDA")

    def __instancecheck__(cls, instance: Any) -> bool:
        return False


for _name in _KINDS:
    globals()[_name + "Tensor"] = _Kind(_name + "Tensor", (), {"__module__": __name__})


def _lazy_init() -> None:
    raise _none("init")


def _lazy_call(callable: Any, **kwargs: Any) -> None:
    """Accept what should be done when CUDA starts."""


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return _importlib.import_module(f"facula.cuda.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
