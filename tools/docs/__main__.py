"""Writes the reference: a page a family of operators and a page a module of the package.

usage: python tools/docs --out FOLDER
An operator's section gives its Python signatures, its C++ declaration, its text, its formula and
its gradients, the dtypes that it takes, what it says to others, and an example that was run; a name
of a module its signature, its text and an example. The pages of docs/ are copied beside them.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tools"), str(Path(__file__).resolve().parent)]

import names  # noqa: E402
import pages  # noqa: E402
import samples  # noqa: E402
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


def sample_of(row: Row) -> samples.Sample | None:
    """Returns the example that trying finds for a row."""
    paths = sorted((p for p, _ in paths_of(row)), key=lambda p: p.startswith("Tensor."))
    return samples.find_sample(row, paths, names.scope()) if paths else None


def found_examples(table: dict[str, list[Row]]) -> dict[str, list[str]]:
    """Returns an example for every name of a row for which trying finds one."""
    found: dict[str, list[str]] = {}
    for rows in table.values():
        for row in rows:
            if sample := sample_of(row):
                paths = sorted((p for p, _ in paths_of(row)), key=lambda p: p.startswith("Tensor."))
                for path, lines in zip(paths, sample.calls, strict=True):
                    found.setdefault(f"facula.{path}", lines)
    return found


def behaviour(row: Row, examples: pages.Examples) -> list[str]:
    """Returns the dtypes, the errors and the example of a row."""
    sample = sample_of(row)
    if sample is None:
        lines = [examples.written.get(f"facula.{path}") for path, _ in paths_of(row)]
        written = next((block for block in lines if block), None)
        return [pages.shown(written, names.scope())] if written else []
    parts = []
    taken, errors = samples.dtypes_of(sample, names.scope())
    if taken:
        parts.append("Dtypes: " + ", ".join(taken))
    if errors:
        parts.append("Errors:\n" + "\n".join(f"- {error}" for error in errors))
    blocks = [pages.shown(lines, names.scope()) for lines in sample.calls[:1]]
    scope: dict[str, Any] = names.scope()
    with samples.silence():
        value = samples.evaluate(sample.calls[0], scope)
    if "x" in scope and hasattr(value, "shape"):
        parts.append(f"Shapes: {tuple(scope['x'].shape)} gives {tuple(value.shape)} below")
    return [*parts, *blocks]


def section(row: Row, examples: pages.Examples) -> str:
    """Returns the text of one operator."""
    parts = [f"## {row.name}", row.doc]
    if calls := python_signatures(row):
        parts.append("```python\n" + "\n".join(calls) + "\n```")
    parts.append("```cpp\n" + functions.declaration(row).strip() + "\n```")
    if row.expr:
        parts.append(f"Formula: `{row.expr}`")
    if rules := gradients(row):
        parts.append("\n".join(rules))
    parts += behaviour(row, examples)
    parts.append(f"<sub>{row.where}</sub>")
    return "\n\n".join(part for part in parts if part)


def write_operators(
    folder: Path, table: dict[str, list[Row]], examples: pages.Examples
) -> int:
    """Writes the pages of the operators and their index; returns how many there are."""
    index = ["# Operators", ""]
    count = 0
    for family, rows in table.items():
        public = [row for row in rows if row.names]
        if not public:
            continue
        page = "\n\n".join([f"# {family}", *(section(row, examples) for row in public)])
        (folder / f"{family}.md").write_text(page + "\n")
        links = " ".join(f"[{row.name}]({family}.md#{row.name})" for row in public)
        index += [f"**{family}**: {links}", ""]
        count += len(public)
    (folder / "operators.md").write_text("\n".join(index))
    return count


def write_modules(folder: Path, examples: pages.Examples) -> int:
    """Writes the pages of the modules and their index; returns how many names are on them."""
    index = ["# Modules", ""]
    count = 0
    for module in names.MODULES:
        text, found = pages.module_page(module, examples)
        (folder / f"{module}.md").write_text(text)
        links = " ".join(f"[{name}]({module}.md#{name})" for name in found)
        index += [f"**[{module}]({module}.md)**: {links}", ""]
        count += len(found)
    (folder / "modules.md").write_text("\n".join(index))
    return count


def write_pages(out: Path) -> tuple[int, int]:
    """Writes all pages; returns the numbers of operators and of names of modules."""
    reference = out / "reference"
    shutil.rmtree(out, ignore_errors=True)
    reference.mkdir(parents=True)
    for page in sorted((ROOT / "docs").glob("**/*.md")):
        target = out / page.relative_to(ROOT / "docs")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, target)
    table = opgen.load_table()
    examples = pages.Examples(found_examples(table))
    return write_operators(reference, table, examples), write_modules(reference, examples)


def main() -> None:
    """Writes the pages into the folder given on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    operators, others = write_pages(arguments.out)
    print(f"{operators} operators in {arguments.out}/reference/operators.md, "
          f"{others} names in modules.md")


if __name__ == "__main__":
    main()
