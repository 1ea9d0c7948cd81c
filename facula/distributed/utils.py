"""Helpers of distributed modules: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "_sync_module_states _sync_params_and_buffers _verify_param_shape_across_processes "
    "_to_kwargs",
    "",
    "process groups are not built",
)
