"""Training over several processes: not built, `is_available()` says so.

Questions are answered for a single process; names that programs use as types, defaults or base
classes exist; what needs a process group raises.
"""

from __future__ import annotations

import importlib as _importlib
from typing import Any

from facula import _absent
from facula.distributed.constants import default_pg_timeout

_WHY = "there are no process groups"
_PARTS = frozenset(
    "_composable _functional_collectives algorithms checkpoint constants device_mesh "
    "distributed_c10d elastic fsdp nn optim pipelining rpc tensor utils".split()
)


class DistBackendError(RuntimeError):
    """A failure of a communication library."""


DistError = DistNetworkError = DistStoreError = DistBackendError


def is_available() -> bool:
    """Say that there is no support for process groups."""
    return False


def is_initialized() -> bool:
    """Say that no process group has been made."""
    return False


def is_torchelastic_launched() -> bool:
    """Say whether an elastic launcher has started this process."""
    import os

    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def is_backend_available(backend: str) -> bool:
    """Say that no communication library is used."""
    return False


def is_nccl_available() -> bool:
    """Say that NCCL is not used."""
    return False


is_gloo_available = is_mpi_available = is_ucc_available = is_xccl_available = is_nccl_available


def get_default_backend_for_device(device: Any) -> str:
    """Return the name of the communication library for a kind of device."""
    kind = device if isinstance(device, str) else device.type
    return {"cpu": "gloo", "cuda": "nccl"}.get(kind.partition(":")[0], "undefined")


def _needs_group(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise ValueError(
            f"distributed.{name}: Default process group has not been initialized, and Facula "
            "does not have process groups yet"
        )

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = "Raise ValueError: there is no process group."
    return function


for _name in (
    "all_gather all_gather_coalesced all_gather_into_tensor all_gather_object all_reduce "
    "all_reduce_coalesced all_to_all all_to_all_single barrier batch_isend_irecv broadcast "
    "broadcast_object_list destroy_process_group gather gather_object get_backend "
    "get_global_rank get_group_rank get_process_group_ranks get_rank get_world_size irecv isend "
    "monitored_barrier recv recv_object_list reduce reduce_scatter reduce_scatter_tensor scatter "
    "scatter_object_list send send_object_list get_node_local_rank _all_gather_base "
    "_reduce_scatter_base"
).split():
    globals()[_name] = _needs_group(_name)

_absent.add_absent(
    globals(),
    "init_process_group init_device_mesh new_group new_subgroups split_group "
    "breakpoint run_with_config",
    "ProcessGroup ProcessGroupGloo ProcessGroupNCCL Store TCPStore FileStore HashStore PrefixStore "
    "Work P2POp Reducer Logger DeviceMesh AllreduceOptions AllreduceCoalescedOptions",
    _WHY,
)


class Backend(str):
    """The name of a communication library, in lower case."""

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"

    def __new__(cls, name: str) -> Backend:
        """Make a name; ValueError for anything but a text."""
        if not isinstance(name, str):
            raise ValueError(f"Backend name must be a string, but got: {name}")
        return super().__new__(cls, name.lower())


class ReduceOp:
    """How values of several processes are combined."""

    class RedOpType(str):
        """The name of a combination."""

    SUM = RedOpType("SUM")
    AVG = RedOpType("AVG")
    PRODUCT = RedOpType("PRODUCT")
    MIN = RedOpType("MIN")
    MAX = RedOpType("MAX")
    BAND = RedOpType("BAND")
    BOR = RedOpType("BOR")
    BXOR = RedOpType("BXOR")
    PREMUL_SUM = RedOpType("PREMUL_SUM")


class group:
    """The group of all processes: None, as there is none."""

    WORLD = None


class GroupMember:
    """Values for processes outside of a group."""

    WORLD = None
    NON_GROUP_MEMBER = -100


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return _importlib.import_module(f"facula.distributed.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
