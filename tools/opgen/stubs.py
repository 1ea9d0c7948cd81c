"""Type stubs of the compiled part: the package facula/_C of .pyi files.

`__init__.pyi` is compiled.pyi with the methods of Tensor put in; `_functions.pyi`, `_nn.pyi` and so
on hold the functions of one namespace each.
"""
from __future__ import annotations

import keyword
import re
from pathlib import Path

from opgen.bindings import paths_of, python_default, python_params, shown
from opgen.rows import Row
from opgen.signature import RETURN_STUBS

# Namespaces of public names and the modules of facula._C that hold them.
MODULES = {"": "_functions", "nn.functional": "_nn", "linalg": "_linalg", "special": "_special",
           "fft": "_fft"}
NOTICE = '"""Generated from the operator table, for type checkers."""\n'
IMPORTS = """
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Sequence
from typing import Any, overload

from . import Generator, Number, Size, Tensor, _device, _dtype, _layout, _memory_format

"""
DTYPES = ("bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 "
          "complex128").split()
LAYOUTS = "strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc jagged".split()
FORMATS = "contiguous_format channels_last channels_last_3d preserve_format".split()
COMPARISONS = "eq ne lt le gt ge".split()
ARITHMETIC = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()


def builtin(annotation: str) -> str:
    """Spell types so that methods and constants of the same name do not hide them."""
    kinds = "bool|int|float|complex|dtype|device|layout|memory_format"
    return re.sub(rf"\b({kinds})\b", r"_\1", annotation.replace("Layout", "layout"))


def stub_signature(row: Row, path: str) -> str:
    """One def line."""
    name = path.rsplit(".", 1)[-1]
    method = path.startswith("Tensor.")
    parts, star = [], False
    for i, p in enumerate(python_params(row, path)):
        if p.keyword and not star:
            parts.append("*")
            star = True
        if method and i == 0:
            parts.append("self")
            continue
        kind = "Tensor | tuple[Tensor, ...] | None" if p.type == "Out" else builtin(p.info.stub)
        if p.type == "int..." and not p.keyword:
            parts.append(f"*{shown(p)}: {kind}")
            star = True
            continue
        name_of = shown(p) + "_" * keyword.iskeyword(shown(p))
        default = "" if p.default is None else f" = {python_default(p)}"
        parts.append(f"{name_of}: {kind}{default}")
    returns = "tuple[" + ", ".join("Tensor" for _ in row.sig.outputs) + "]" if row.sig.returns == "tuple" \
        else builtin(RETURN_STUBS[row.sig.returns])
    return f"def {name}({', '.join(parts)}) -> {returns}: ..."


def definitions(names: dict[str, list[str]]) -> list[str]:
    """The def lines of a namespace, overloads marked."""
    lines = []
    for name in sorted(names):
        sigs = list(dict.fromkeys(names[name]))
        for sig in sigs:
            lines += (["@overload"] if len(sigs) > 1 else []) + [sig]
    return lines


def binary_operators() -> list[str]:
    """The methods behind +, <, @= and so on."""
    lines = [f"def __{n}__(self, other: Any) -> Tensor: ...  # type: ignore[override]" for n in COMPARISONS]
    for name in ARITHMETIC:
        lines += [f"def __{form}{name}__(self, other: Any) -> Tensor: ..." for form in ("", "r", "i")]
    return lines


def stubs(rows: list[Row]) -> dict[str, str]:
    """Stub files by path below facula/."""
    found: dict[str, dict[str, list[str]]] = {space: {} for space in (*MODULES, "Tensor")}
    for row in rows:
        for path, _ in paths_of(row):
            space, _, name = path.rpartition(".")
            found.setdefault(space, {}).setdefault(name, []).append(stub_signature(row, path))
    text = (Path(__file__).parent / "compiled.pyi").read_text()
    by_hand = text.split("class Tensor:")[1].split("\n_T =")[0]
    written = set(re.findall(r"^    (?:def )?(\w+)[(:]", by_hand, re.M))
    methods = {n: s for n, s in found.pop("Tensor").items() if n not in written}
    constants = [f"{n}: {kind}" for kind, names in (("_dtype", DTYPES), ("_layout", LAYOUTS),
                                                    ("_memory_format", FORMATS)) for n in names]
    for mark, lines in (("    # [binary operators]", binary_operators()),
                        ("    # [operators]", definitions(methods)), ("# [constants]", constants)):
        indent = mark[:len(mark) - len(mark.lstrip())]
        text = text.replace(mark, "\n".join(indent + line for line in lines))
    files = {"_C/__init__.pyi": text}
    for space, names in found.items():
        module = MODULES.get(space) or "_" + space.replace(".", "_")
        files[f"_C/{module}.pyi"] = NOTICE + IMPORTS + "\n".join(definitions(names)) + "\n"
    return files
