"""The named tuples that operators with several results give; each is made at its first use."""

from __future__ import annotations

from typing import Any

from facula import _C

_BY_DIMENSION = frozenset(
    "max min cummax cummin sort topk mode median nanmedian kthvalue aminmax".split()
)
_OF_MATRICES = frozenset("qr svd slogdet geqrf linalg_eig".split())


def _make(name: str) -> None:
    """Let the operator of this name give its tuple once."""
    rows = _C._functions
    if name in ("topk", "kthvalue", "cummax", "cummin"):
        getattr(rows, name)(_C.tensor([0.0]), *((1,) if name in ("topk", "kthvalue") else (0,)))
    elif name in _BY_DIMENSION:
        getattr(rows, name)(_C.tensor([0.0]), dim=0)
    elif name == "frexp":
        rows.frexp(_C.tensor([0.0]))
    elif name in _OF_MATRICES and hasattr(rows, name):
        getattr(rows, name)(_C.tensor([[1.0]]))
    elif name.startswith("linalg_"):
        function = getattr(_C._linalg, name.removeprefix("linalg_"), None)
        if name.endswith(("solve", "lstsq", "solve_ex")):
            function(_C.tensor([[1.0]]), _C.tensor([[1.0]]))
        elif function is not None:
            function(_C.tensor([[1.0]]))


def __getattr__(name: str) -> Any:
    if not name.startswith("__") and not hasattr(_C._return_types, name):
        # The results of a call with out= have a type of their own.
        given = name.removesuffix("_out")
        _make(given)
        if given != name and hasattr(_C._return_types, given):
            fields = getattr(_C._return_types, given).__match_args__
            _C._return_types._make(name, fields)
    if hasattr(_C._return_types, name):
        return getattr(_C._return_types, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
