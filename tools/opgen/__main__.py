"""Generates C++ functions, nodes, loops, bindings and stubs from the operator table.

usage: python tools/opgen --out FOLDER [--list]      (--list prints the files that a run makes)
A file is written only when its text changes, so that a build recompiles one family for one row.
"""
from __future__ import annotations

import argparse
import re
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from opgen import bindings, boxed, functions, loops, rows, stubs  # noqa: E402

# A call or a declaration of a function.
CALL = re.compile(r"\b([A-Za-z_]\w*)\(")
NOTICE = "// Generated from ops/{}.py; edit the rows there.\n"


def load_table() -> dict[str, list[rows.Row]]:
    """Run ops/*.py and return the rows by family."""
    rows.TABLE.clear()
    env = {k: getattr(rows, k) for k in ("pointwise", "kernel", "manual", "view", "composite")}
    files = sorted(p for p in (ROOT / "ops").glob("*.py") if not p.name.startswith("_"))
    for path in files:
        runpy.run_path(str(path), init_globals=env)
    families: dict[str, list[rows.Row]] = {p.stem: [] for p in files}
    for row in rows.TABLE.values():
        families[row.family].append(row)
    return families


def family_header(family: str, members: list[rows.Row]) -> str:
    """Declarations of one family."""
    body = "\n\n".join(functions.declaration(r) for r in members)
    return (NOTICE.format(family) + '#pragma once\n#include "facula/ops/types.h"\n\nnamespace facula {\n\n'
            + body + "\n\n}  // namespace facula\n")


def family_source(family: str, members: list[rows.Row], homes: dict[str, set[str]]) -> str:
    """Functions and nodes of one family, which includes the families that its rules call."""
    body = "\n\n".join(filter(None, (functions.function_code(r) for r in members)))
    called = (homes.get(name, ()) for name in set(CALL.findall(body)))
    needed = sorted({family}.union(*called))
    includes = "".join(f'#include "facula/ops/{f}_functions.h"\n' for f in needed)
    return (NOTICE.format(family) + includes + '#include "facula/ops/generated_prelude.h"\n\n'
            f"namespace facula {{\nnamespace {{\nstruct {family}_unit {{}};\n}}\n\n" + body + "\n\n}  // namespace facula\n")


def outputs(families: dict[str, list[rows.Row]]) -> dict[str, str]:
    """All generated texts by path below the output folder."""
    files = {}
    homes: dict[str, set[str]] = {}
    for family, members in families.items():
        header = files[f"facula/ops/{family}_functions.h"] = family_header(family, members)
        for name in set(CALL.findall(header)):
            homes.setdefault(name, set()).add(family)
    for family, members in families.items():
        files[f"facula/ops/{family}_functions.cpp"] = family_source(family, members, homes)
        files[f"facula/ops/{family}_boxed.cpp"] = NOTICE.format(family) + boxed.family_boxed(family, members)
        files[f"python/{family}_bindings.cpp"] = NOTICE.format(family) + bindings.family_bindings(family, members)
        if any(r.kind == "pointwise" for r in members):
            files[f"kernels/{family}_loops.cpp"] = NOTICE.format(family) + loops.family_loops(family, members)
    includes = "".join(f'#include "facula/ops/{f}_functions.h"\n' for f in families)
    files["facula/ops/functions.h"] = "// All operators, for users; the library's own sources include the families that they call.\n#pragma once\n" + includes
    files["python/all_bindings.cpp"] = bindings.all_bindings(families)
    for name, text in stubs.stubs([r for m in families.values() for r in m]).items():
        files[f"stubs/{name}"] = text
    return files


def main() -> None:
    parser = argparse.ArgumentParser(prog="opgen")
    parser.add_argument("--out", default="build/generated")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    files = outputs(load_table())
    if args.list:
        print("\n".join(sorted(files)))
        return
    for name, text in files.items():
        path = Path(args.out) / name
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


if __name__ == "__main__":
    main()
