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

    from facula import autograd, fft, linalg, nn, optim, sparse, special, utils
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
    from facula.sparse._functions import *

# The functions of the operator table.
globals().update({k: v for k, v in vars(_C._functions).items() if not k.startswith("__")})

from facula import _tensor as _tensor  # noqa: E402  attaches the methods written in Python
from facula import _tensor_seldom as _tensor_seldom  # noqa: E402
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
from facula._sets import (  # noqa: E402
    histogramdd,
    nonzero,
    unique,
    unique_consecutive,
    where,
)
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
    "accelerator amp ao array_api autograd backends classes compiler cpu cuda datasets distributed "
    "distributions export fft foreach func functional futures fx hub jit library linalg masked mps "
    "mtia multiprocessing nested nn onnx ops optim overrides profiler quantization "
    "quasirandom random return_types serialization signal sparse special storage testing "
    "torch_version types utils version xpu __config__ __future__ _custom_op _custom_ops _dynamo "
    "_functorch _guards _higher_order_ops _inductor _jit_internal _logging _lowrank _subclasses "
    "_tensor_str _utils".split()
)
_names_of_few = (
    "Event PyTorchFileReader PyTorchFileWriter Stream SymBool SymFloat SymInt Tag _assert "
    "_assert_async _check _check_index _check_is_size _check_not_implemented _check_tensor_all "
    "_check_type _check_value _check_with _disable_dynamo _scaled_mm _scaled_grouped_mm "
    "_shape_as_tensor _softmax_backward_data _log_softmax_backward_data chalf complex32 "
    "empty_quantized float4_e2m1fn_x2 float8_e4m3fn "
    "float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu get_deterministic_debug_mode "
    "get_file_path int1 int2 int3 int4 int5 int6 int7 "
    "is_deterministic_algorithms_warn_only_enabled is_warn_always_enabled "
    "legacy_contiguous_format per_channel_affine per_tensor_affine "
    "prepare_multiprocessing_environment qint32 qint8 quint2x4 quint4x2 quint8 bits8 bits1x8 "
    "bits2x4 bits4x2 bits16 sym_float "
    "sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum uint1 uint2 uint3 uint4 uint5 uint6 "
    "uint7 while_loop _check_tensor_all_with quantize_per_tensor quantize_per_channel "
    "quantize_per_tensor_dynamic dequantize fake_quantize_per_tensor_affine int_repr parse_schema "
    "fake_quantize_per_channel_affine _make_per_tensor_quantized_tensor per_tensor_symmetric "
    "per_channel_symmetric per_channel_affine_float_qparams qscheme has_lapack has_openmp has_mkl "
    "has_spectral AnyType BoolType ClassType DeviceObjType DictType ErrorReport FloatType "
    "FunctionSchema FutureType Graph InterfaceType IntType ListType Node NoneType NumberType "
    "OptionalType StringType TensorType TupleType Type UnionType Value JITException"
).split()
_names_of_seldom = (
    "bilinear ctc_loss detach detach_ from_file get_device "
    "init_num_threads is_anomaly_check_nan_enabled is_distributed is_vulkan_available "
    "poisson_nll_loss set_flush_denormal thread_safe_generator to_dlpack _sample_dirichlet "
    "_standard_gamma"
).split()
_names_of_autocast = (
    "autocast autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache "
    "get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype is_autocast_cache_enabled "
    "is_autocast_cpu_enabled is_autocast_enabled set_autocast_cache_enabled "
    "set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled "
    "set_autocast_gpu_dtype"
).split()
_names_of_sparse = (
    "sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor sparse_bsc_tensor "
    "sparse_compressed_tensor spmm dsmm smm hspmm saddmm sspaddmm _convert_indices_from_coo_to_csr "
    "_convert_indices_from_csr_to_coo"
).split()
#: Names that live in a module which not every program needs.
_ELSEWHERE = {
    **dict.fromkeys(_names_of_few, "_names"),
    **dict.fromkeys(_names_of_autocast, "amp.autocast_mode"),
    **dict.fromkeys(_names_of_seldom, "_seldom"),
    **dict.fromkeys(_names_of_sparse, "sparse._functions"),
    "GradScaler": "amp",
    "compile": "compiler",
    "cond": "_higher_order_ops",
    "Future": "futures",
    "ScriptFunction": "jit",
    "ScriptModule": "jit",
    "StorageBase": "storage",
    "_segment_reduce": "functional",
    "save": "serialization",
    "load": "serialization",
    "set_printoptions": "_tensor_str",
    "get_printoptions": "_tensor_str",
    "fork_rng": "random",
    "vmap": "func",
    "lu": "_matrices",
    "chain_matmul": "_matrices",
    "_grouped_mm": "nn._functional_grouped",
    "lobpcg": "_matrices",
    "eig": "_matrices",
    "symeig": "_matrices",
    "lstsq": "_matrices",
    "matrix_rank": "_matrices",
    "solve": "_matrices",
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
    elif name.startswith("_foreach_"):
        module = _importlib.import_module("facula._foreach")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _compiled_name(name: str) -> _Any:
    """Look up what PyTorch's compiled module has and Facula's has not, from `_c_names`."""
    from facula import _c_names

    return _c_names.look_up(name)


_C.__getattr__ = _compiled_name


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
