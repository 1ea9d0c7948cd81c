"""The text of sparse tensors."""

from __future__ import annotations

import facula
from facula._tensor_str import _grad_suffix, _tensor_str, _with_suffixes
from facula.sparse._tensor import ROWS, SparseTensor, parts

_INDENT = len("tensor(")


def _part(name: str, t: facula.Tensor) -> str:
    prefix = f"{name}=tensor("
    body = _tensor_str(t, _INDENT + len(prefix))
    if t.numel() == 0:
        body += ", size=" + str(tuple(t.shape))
    return prefix + body + ")"


def text(t: SparseTensor) -> str:
    """Give `repr(t)`: indices, values, size, nnz and layout."""
    p = parts(t)
    with facula.no_grad():
        if p.is_coo:
            named = [("indices", p.indices), ("values", p.values)]
        else:
            names = ("crow", "col") if p.layout in ROWS else ("ccol", "row")
            named = [
                (f"{names[0]}_indices", p.compressed),
                (f"{names[1]}_indices", p.indices),
                ("values", p.values),
            ]
        contents = (",\n" + " " * _INDENT).join(_part(*pair) for pair in named)
    suffixes = [f"size={tuple(t.shape)}", f"nnz={t._nnz()}"]
    default = facula.get_default_dtype()
    complex_default = facula.complex128 if default == facula.float64 else facula.complex64
    if t.dtype not in (default, complex_default, facula.int64, facula.bool):
        suffixes.append(f"dtype={t.dtype}")
    suffixes.append(f"layout={p.layout}")
    suffixes += _grad_suffix(t)
    if p.is_coo:
        contents += ",\n" + " " * _INDENT + suffixes.pop(0)
    return _with_suffixes("tensor(" + contents, suffixes, _INDENT)
