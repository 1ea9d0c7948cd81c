"""Products of matrices by groups, as layers with several experts need them."""

from __future__ import annotations

from facula import _C

Tensor = _C.Tensor
_rows = _C._functions


def _check_grouped(
    mat_a: Tensor,
    mat_b: Tensor,
    offs: Tensor | None,
    bias: Tensor | None,
    out_dtype: _C.dtype | None,
) -> None:
    """Refuse operands of grouped_mm that do not fit."""
    for name, mat in (("mat_a", mat_a), ("mat_b", mat_b)):
        if mat.dim() not in (2, 3):
            raise RuntimeError(f"grouped_mm: {name} has to be 2 or 3d, got {mat.dim()}d")
        if not mat.is_floating_point():
            raise RuntimeError(f"grouped_mm: expected {name} of a floating type, got {mat.dtype}")
    if mat_a.dtype != mat_b.dtype:
        raise RuntimeError(
            f"grouped_mm: Expected mat_a and mat_b to have the same dtype, got {mat_a.dtype} and "
            f"{mat_b.dtype}"
        )
    if mat_a.shape[-1] != mat_b.shape[-2]:
        raise RuntimeError(
            f"grouped_mm: contraction dimension of mat_a and mat_b must match, got shapes "
            f"{list(mat_a.shape)} and {list(mat_b.shape)}"
        )
    jagged = mat_a.dim() == 2 or mat_b.dim() == 2
    if jagged != (offs is not None):
        raise RuntimeError(
            "grouped_mm: Have to provide offsets if there is a 2d matrix, or no offset if both "
            "matrices are 3d"
        )
    if bias is not None:
        raise RuntimeError("grouped_mm: Bias not supported yet")
    if out_dtype is not None and out_dtype != mat_a.dtype:
        raise RuntimeError("grouped_mm: Grouped gemm output dtype must match `mat_a` dtype")


def _group_ends(mat_a: Tensor, mat_b: Tensor, offs: Tensor) -> list[int]:
    """Read the ends of the groups, which must ascend within the dimension that they divide."""
    if offs.dtype != _C.int32 or offs.dim() != 1:
        raise RuntimeError(
            f"grouped_mm: Offsets have to be int32 and 1d, got {offs.dtype} and {offs.dim()}d"
        )
    for mat in (mat_a, mat_b):
        if mat.dim() == 3 and mat.shape[0] != offs.shape[0]:
            raise RuntimeError(
                f"grouped_mm: matrix batch sizes have to match, got {mat.shape[0]} matrices and "
                f"{offs.shape[0]} offsets"
            )
    if mat_a.dim() == 2:
        length = mat_a.shape[0] if mat_b.dim() == 3 else mat_a.shape[1]
    else:
        length = mat_b.shape[1]
    ends = offs.tolist()
    if any(b < a for a, b in zip([0, *ends], ends, strict=False)) or ends[-1:] > [length]:
        raise RuntimeError(
            f"grouped_mm: expected offsets that ascend from 0 to at most {length}, got {ends}"
        )
    return ends


def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: _C.dtype | None = None,
) -> Tensor:
    """Multiply matrices by groups: `offs[i]` ends group i of each 2d operand.

    (m, k) and (g, k, n) give (m, n), whose rows of group i are multiplied by matrix i; (g, m, k)
    and (k, n) give (m, n), whose columns are; (m, k) and (k, n) give (g, m, n), one product for
    every part of k; (g, m, k) and (g, k, n) give (g, m, n) without `offs`. What lies beyond the
    last offset is zero. Operands are floating and of one dtype, offsets int32; others raise
    RuntimeError.

    Example:
        ends = facula.tensor([2, 5], dtype=facula.int32)
        facula.nn.functional.grouped_mm(facula.ones(5, 4), facula.ones(2, 4, 3), offs=ends)
    """
    if type(mat_a) is not Tensor or type(mat_b) is not Tensor:
        if _C._has_torch_function_variadic(mat_a, mat_b):
            options = {"offs": offs, "bias": bias, "out_dtype": out_dtype}
            return _C._handle_torch_function(grouped_mm, (mat_a, mat_b), (mat_a, mat_b), options)
    _check_grouped(mat_a, mat_b, offs, bias, out_dtype)
    if offs is None:
        return _rows.bmm(mat_a, mat_b)
    ends = _group_ends(mat_a, mat_b, offs)
    parts = [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]
    last = ends[-1] if ends else 0
    if mat_a.dim() == 2 and mat_b.dim() == 2:
        if not parts:
            return mat_a.new_zeros((0, mat_a.shape[0], mat_b.shape[1]))
        return _rows.stack([mat_a[:, part] @ mat_b[part] for part in parts])
    by_rows = mat_a.dim() == 2
    found = [
        mat_a[part] @ mat_b[i] if by_rows else mat_a[i] @ mat_b[:, part]
        for i, part in enumerate(parts)
        if part.stop > part.start
    ]
    rows, columns = mat_a.shape[-2], mat_b.shape[-1]
    left = (rows - last, columns) if by_rows else (rows, columns - last)
    if not found or 0 not in left:
        found.append(mat_a.new_zeros(left))
    return found[0] if len(found) == 1 else _rows.cat(found, 0 if by_rows else 1)


def _grouped_mm(
    self: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: _C.dtype | None = None,
) -> Tensor:
    """Multiply matrices by groups: `grouped_mm` as the `facula` namespace names it."""
    return grouped_mm(self, mat2, offs=offs, bias=bias, out_dtype=out_dtype)
