"""Writes the reference pages: one Markdown page a family of operators, from the operator table.

usage: python tools/docs --out FOLDER
A row gives its Python signatures, its C++ declaration, its text, its formula and its gradients,
with the place in ops/ where they stand. The hand-written pages of docs/ are copied beside them.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from opgen import __main__ as opgen  # noqa: E402
from opgen import functions, stubs  # noqa: E402
from opgen.bindings import paths_of  # noqa: E402
from opgen.rows import Row  # noqa: E402


def python_signatures(row: Row) -> list[str]:
    """Returns the calls by which Python programs reach a row: functions first, then methods."""
    lines = []
    for path, _ in paths_of(row):
        definition = stubs.stub_signature(row, path).removeprefix("def ").removesuffix(": ...")
        space = path.rpartition(".")[0]
        lines.append(f"facula.{space}.{definition}" if space else f"facula.{definition}")
    return sorted(lines, key=lambda line: line.startswith("facula.Tensor."))


def gradients(row: Row) -> list[str]:
    """Returns the gradient rules as lines of text."""
    symbol = "d" if "d" in row.options else "gradient"
    lines = []
    for key, rule in row.gradients.items():
        name = ", ".join(key) if isinstance(key, tuple) else key
        lines.append(f"- {symbol} of `{name}`: `{rule}`")
    if reason := row.options.get("nondifferentiable"):
        lines.append(f"- no gradient: {reason}")
    return lines


def section(row: Row) -> str:
    """Returns the text of one operator."""
    parts = [f"## {row.name}", row.doc]
    if calls := python_signatures(row):
        parts.append("```python\n" + "\n".join(calls) + "\n```")
    parts.append("```cpp\n" + functions.declaration(row).strip() + "\n```")
    if row.expr:
        parts.append(f"Formula: `{row.expr}`")
    if rules := gradients(row):
        parts.append("\n".join(rules))
    parts.append(f"<sub>{row.where}</sub>")
    return "\n\n".join(part for part in parts if part)


def write_pages(out: Path) -> int:
    """Writes all pages; returns the number of operators."""
    reference = out / "reference"
    shutil.rmtree(out, ignore_errors=True)
    reference.mkdir(parents=True)
    for page in sorted((ROOT / "docs").glob("**/*.md")):
        target = out / page.relative_to(ROOT / "docs")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, target)
    index = ["# Operators", ""]
    count = 0
    for family, rows in opgen.load_table().items():
        public = [row for row in rows if row.names]
        if not public:
            continue
        page = "\n\n".join([f"# {family}", *(section(row) for row in public)])
        (reference / f"{family}.md").write_text(page + "\n")
        names = " ".join(f"[{row.name}]({family}.md#{row.name})" for row in public)
        index += [f"**{family}**: {names}", ""]
        count += len(public)
    (reference / "operators.md").write_text("\n".join(index))
    return count


def main() -> None:
    """Writes the pages into the folder given on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    count = write_pages(arguments.out)
    print(f"{count} operators in {arguments.out}/reference/operators.md")


if __name__ == "__main__":
    main()
