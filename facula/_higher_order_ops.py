"""Control flow as operators, for capture: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "associative_scan cond flex_attention map scan while_loop",
    "",
    "programs are not captured",
)
