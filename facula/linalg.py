"""Linear algebra: the functions of the operator table that are called facula.linalg.NAME."""

from facula import _C

LinAlgError = _C._LinAlgError
_rows = _C._linalg
__all__ = sorted([k for k in vars(_rows) if not k.startswith("__")] + ["LinAlgError"])
globals().update({k: getattr(_rows, k) for k in __all__ if k != "LinAlgError"})
