"""Names of PyTorch's compiled module `_C` that libraries import: looked up at their first use."""

from __future__ import annotations

import sys
import types
from typing import Any

from facula import _C, _absent

_FALSE = frozenset(
    "_is_tracing _get_tracing_state _has_distributed _cuda_isInBadFork _cuda_hasPrimaryContext "
    "_is_torch_function_mode_enabled _jit_set_profiling_executor _jit_set_profiling_mode "
    "_jit_set_texpr_fuser_enabled _jit_texpr_fuser_enabled _get_cudnn_benchmark "
    "_is_fwd_grad_enabled _jit_override_can_fuse_on_cpu _jit_override_can_fuse_on_gpu "
    "_debug_set_autodiff_subgraph_inlining _are_functorch_transforms_active "
    "_jit_set_nvfuser_enabled _jit_set_nvfuser_guard_mode _jit_can_fuse_on_cpu "
    "_jit_can_fuse_on_gpu _set_math_sdp_allow_fp16_bf16_reduction _get_cudnn_enabled".split()
)
# What a build has: values, which programs test without a call.
_BUILT_IN = {
    "_has_mkldnn": True, "has_lapack": True, "has_openmp": True, "has_mkl": False,
    "has_spectral": False, "_has_cuda": False, "_has_cudnn": False, "_has_cusparselt": False,
    "_has_magma": False, "_has_mps": False, "_has_xpu": False, "_has_eigen_sparse": False,
    "_has_gds": False, "_has_kleidiai": False, "_has_mkldnn_acl": False,
}  # fmt: skip
_CLASSES = (
    "FunctionSchema Graph Node Value ScriptFunction ScriptModule CompilationUnit Type "
    "TensorType ListType OptionalType _NodeBase Argument ErrorReport"
).split()


_WRAPPED = (
    "is_batchedtensor is_gradtrackingtensor is_functorch_wrapped_tensor is_functionaltensor "
    "is_legacy_batchedtensor is_dead_tensor_wrapper"
).split()


class _Keys(type):
    """A class whose members are names: every name is one."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = _Key(f"{cls.__name__}.{name}")
        setattr(cls, name, value)
        return value


class _Key:
    """A name of PyTorch's dispatcher, which Facula does not have."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


class DispatchKey(metaclass=_Keys):
    """Names of layers that calls go through in PyTorch."""


class DispatchKeySet:
    """A set of names of layers."""

    def __init__(self, *keys: Any) -> None:
        self.keys = frozenset(keys)

    def has(self, key: Any) -> bool:
        """Say whether a name is in the set."""
        return key in self.keys

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*self.keys, *other.keys)


class _Switch:
    """A context that changes nothing."""

    def __init__(self, *args: Any) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        pass


class _ExcludeDispatchKeyGuard(_Switch):
    """A context in which calls leave out layers: there are none."""


class _IncludeDispatchKeyGuard(_Switch):
    """A context in which calls go through layers: there are none."""


def _false(*args: Any, **kwargs: Any) -> bool:
    return False


def _log_api_usage_once(*args: Any) -> None:
    """Count nothing: Facula does not watch its users."""


def _rpc_module() -> types.ModuleType:
    module = types.ModuleType("facula._C._distributed_rpc")
    module._is_current_rpc_agent_set = _false  # type: ignore[attr-defined]
    return module


def _functorch_module() -> types.ModuleType:
    """Make the module of wrapped tensors: those inside vmap; gradients and tangents wrap none."""
    from facula import _C
    from facula._functorch import vmap

    module: Any = types.ModuleType("facula._C._functorch")
    for name in _WRAPPED:
        setattr(module, name, _false)
    module.is_batchedtensor = module.is_functorch_wrapped_tensor = _C._is_batched
    module.get_unwrapped = lambda tensor: _batch_parts(tensor)[1]
    module.maybe_get_level = lambda tensor: _batch_parts(tensor)[0]
    module.maybe_get_bdim = lambda tensor: 0 if _C._is_batched(tensor) else -1
    module.unwrap_if_dead = lambda tensor: tensor
    module.peek_interpreter_stack = lambda: None
    module._add_batch_dim, module._remove_batch_dim = vmap._add_batch_dim, vmap._remove_batch_dim
    for name in "_vmap_increment_nesting _vmap_decrement_nesting get_interpreter_stack".split():
        why = "facula.func has no interpreters by this name"
        setattr(module, name, _absent.absent_function(f"facula._C._functorch.{name}", why))
    return module


def _batch_parts(tensor: Any) -> tuple[int, Any]:
    """Return the level of a tensor inside vmap and what it holds; of others -1 and themselves."""
    from facula import _C

    return _C._batch_value(tensor) if _C._is_batched(tensor) else (-1, tensor)


def _is_alias_of(a: Any, b: Any) -> bool:
    """Say whether two tensors share their memory."""
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def look_up(name: str) -> Any:
    """Return what stands for `_C.name`; AttributeError when nothing does."""
    if name in ("DispatchKey", "DispatchKeySet", "_log_api_usage_once", "_ExcludeDispatchKeyGuard",
                "_IncludeDispatchKeyGuard"):  # fmt: skip
        value: Any = globals()[name]
    elif name == "DisableTorchFunctionSubclass" or name == "DisableTorchFunction":
        from facula import overrides

        value = overrides.DisableTorchFunctionSubclass
    elif name == "_functorch":
        value = _functorch_module()
    elif name == "_distributed_rpc":
        value = _rpc_module()
    elif name == "_get_accelerator":
        from facula import device

        value = lambda: device("cpu")  # noqa: E731
    elif name == "_is_alias_of":
        value = _is_alias_of
    elif name == "_get_default_device":
        from facula import get_default_device

        value = lambda: str(get_default_device())  # noqa: E731
    elif name in _FALSE:
        value = _false
    elif name in _BUILT_IN:
        value = _BUILT_IN[name]
    elif name in _CLASSES:
        value = _absent.absent_class(f"facula._C.{name}")
    elif name == "_get_privateuse1_backend_name":
        value = lambda: "privateuseone"  # noqa: E731
    else:
        raise AttributeError(f"module {_C.__name__!r} has no attribute {name!r}")
    setattr(_C, name, value)
    return value


# Modules below `_C` that libraries import by name.
sys.modules.setdefault("facula._C._distributed_rpc", _rpc_module())
