"""Control flow as operators: scans run at once, what needs a captured program is not built."""

from facula import _absent
from facula._higher_order_ops.associative_scan import associative_scan
from facula._higher_order_ops.scan import scan

__all__ = ["associative_scan", "scan"]

_absent.add_absent(globals(), "cond flex_attention map while_loop", "", "programs are not captured")
