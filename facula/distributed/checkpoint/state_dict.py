"""State of distributed models: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "get_model_state_dict get_optimizer_state_dict get_state_dict set_model_state_dict "
    "set_optimizer_state_dict set_state_dict",
    "StateDictOptions",
    "process groups are not built",
)
