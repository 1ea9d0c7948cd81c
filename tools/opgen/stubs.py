"""Type stubs of the generated functions and methods."""
from __future__ import annotations

from opgen.bindings import paths_of, python_default, python_params, shown
from opgen.rows import Row
from opgen.signature import RETURN_STUBS


def stub_signature(row: Row, path: str) -> str:
    """One def line."""
    name = path.rsplit(".", 1)[-1]
    method = path.startswith("Tensor.")
    parts, star = [], False
    for i, p in enumerate(python_params(row)):
        if p.keyword and not star:
            parts.append("*")
            star = True
        if method and i == 0:
            parts.append("self")
            continue
        kind = "Tensor | tuple[Tensor, ...] | None" if p.type == "Out" else p.info.stub
        if p.type == "int..." and not p.keyword:
            parts.append(f"*{shown(p)}: {kind}")
            star = True
            continue
        parts.append(f"{shown(p)}: {kind}" + ("" if p.default is None else f" = {python_default(p)}"))
    returns = "tuple[" + ", ".join("Tensor" for _ in row.sig.outputs) + "]" if row.sig.returns == "tuple" \
        else RETURN_STUBS[row.sig.returns]
    return f"def {name}({', '.join(parts)}) -> {returns}: ..."


def stubs(rows: list[Row]) -> dict[str, str]:
    """Stub text by namespace: "" (facula), "Tensor", "nn.functional", ..."""
    found: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        for path, _ in paths_of(row):
            space, _, name = path.rpartition(".")
            found.setdefault(space, {}).setdefault(name, []).append(stub_signature(row, path))
    result = {}
    for space, names in found.items():
        lines = []
        for name in sorted(names):
            sigs = names[name]
            for s in sigs:
                lines += (["@overload"] if len(sigs) > 1 else []) + [s]
        result[space] = "\n".join(lines) + "\n"
    return result
