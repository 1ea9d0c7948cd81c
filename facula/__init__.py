"""Facula: tensors, automatic differentiation and neural networks, spoken in PyTorch's interface.

The namespace is put together from the compiled part (`facula._C`) here; packages below it (nn,
optim, utils, ...) are imported at their first use, so that `import facula` stays cheap.
"""

from __future__ import annotations

import importlib as _importlib
import math as _math

from facula import _C
from facula._C import (
    Generator,
    OutOfMemoryError,
    Size,
    Tensor,
    UntypedStorage,
    as_tensor,
    can_cast,
    default_generator,
    device,
    dtype,
    from_numpy,
    frombuffer,
    get_default_device,
    get_default_dtype,
    get_num_threads,
    is_anomaly_enabled,
    is_grad_enabled,
    is_inference_mode_enabled,
    is_tensor,
    layout,
    memory_format,
    promote_types,
    set_anomaly_enabled,
    set_default_device,
    set_default_dtype,
    set_num_threads,
    tensor,
)
from facula.version import __version__

TYPE_CHECKING = False  # typing is costly to import

for _name in (
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128 strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc jagged "
    "contiguous_format channels_last channels_last_3d preserve_format"
).split():
    globals()[_name] = getattr(_C, _name)

if TYPE_CHECKING:  # what the loops above and below put into the namespace
    from typing import Any as _Any

    from facula import autograd, fft, linalg, nn, optim, special, utils
    from facula._C import (
        bfloat16,
        bool,
        channels_last,
        channels_last_3d,
        complex64,
        complex128,
        contiguous_format,
        float16,
        float32,
        float64,
        int8,
        int16,
        int32,
        int64,
        preserve_format,
        strided,
        uint8,
        uint16,
        uint32,
        uint64,
    )
    from facula._C._functions import *
    from facula._tensor_str import get_printoptions, set_printoptions
    from facula.random import fork_rng
    from facula.serialization import load, save

# The functions of the operator table.
globals().update({k: v for k, v in vars(_C._functions).items() if not k.startswith("__")})

from facula import _tensor as _tensor  # noqa: E402  attaches the methods written in Python
from facula._functions import (  # noqa: E402
    are_deterministic_algorithms_enabled,
    asarray,
    compiled_with_cxx11_abi,
    from_dlpack,
    get_device_module,
    get_float32_matmul_precision,
    get_num_interop_threads,
    is_storage,
    result_type,
    set_default_tensor_type,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_num_interop_threads,
    set_warn_always,
    typename,
    use_deterministic_algorithms,
)
from facula._info import finfo, iinfo  # noqa: E402
from facula._legacy import *  # noqa: E402
from facula._sets import nonzero, unique, unique_consecutive, unravel_index  # noqa: E402
from facula._variadic import (  # noqa: E402
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_shapes,
    broadcast_tensors,
    cartesian_prod,
    einsum,
    gradient,
    meshgrid,
    tensordot,
)
from facula.autograd.grad_mode import (  # noqa: E402
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from facula.random import (  # noqa: E402
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

inf = _math.inf
nan = _math.nan
pi = _math.pi
e = _math.e
newaxis = None

#: Packages and modules that are imported when they are first used.
_SUBMODULES = frozenset(
    "amp autograd backends compiler cpu cuda distributed distributions export fft func fx hub jit "
    "linalg mps multiprocessing nested nn onnx optim overrides profiler quantization random "
    "return_types serialization signal sparse special storage testing types utils version library "
    "masked futures package monitor".split()
)
#: Names that live in a module which not every program needs.
_ELSEWHERE = {
    "save": "serialization",
    "load": "serialization",
    "set_printoptions": "_tensor_str",
    "get_printoptions": "_tensor_str",
    "enable_grad_mode": "autograd.grad_mode",
    "fork_rng": "random",
}


def __getattr__(name: str) -> _Any:
    if name in _SUBMODULES:
        try:
            return _importlib.import_module("facula." + name)
        except ModuleNotFoundError as error:
            if error.name != "facula." + name:
                raise
    elif name in _ELSEWHERE:
        value = getattr(_importlib.import_module("facula." + _ELSEWHERE[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'facula' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | _SUBMODULES | set(_ELSEWHERE))


# The short names of dtypes come last: two of them hide builtins.
globals().update(
    float=_C.float32,
    double=_C.float64,
    half=_C.float16,
    long=_C.int64,
    int=_C.int32,
    short=_C.int16,
    cfloat=_C.complex64,
    cdouble=_C.complex128,
)
