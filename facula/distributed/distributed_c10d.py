"""Process groups under the name of their module: not built."""

from facula import _absent
from facula.distributed import (
    Backend,
    GroupMember,
    ReduceOp,
    group,
    is_initialized,
    is_nccl_available,
)
from facula.distributed.constants import default_pg_timeout

_pg_map: dict = {}


_absent.add_absent(
    globals(),
    "_get_default_group _resolve_process_group _find_pg_by_ranks_and_tag",
    "ProcessGroup Store PrefixStore GroupName",
    "process groups are not built",
)
