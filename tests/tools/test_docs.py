"""The reference pages: every public name is there, with its text, its calls and an example.

Writing the pages runs every example; one that fails ends the program.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "docs"), str(ROOT / "tools")]

import names  # noqa: E402


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    out = tmp_path_factory.mktemp("docs") / "docs"
    subprocess.run([sys.executable, str(ROOT / "tools" / "docs"), "--out", str(out)], check=True)
    return out


def test_the_index_links_to_every_section(pages):
    index = (pages / "reference/operators.md").read_text()
    links = re.findall(r"\[(\w+)\]\((\w+\.md)#\w+\)", index)
    assert len(links) > 100
    for name, page in links:
        assert f"\n## {name}\n" in (pages / "reference" / page).read_text()


def test_a_section_holds_calls_formula_and_gradient(pages):
    text = (pages / "reference/arithmetic.md").read_text()
    section = text.split("\n## mul\n")[1].split("\n## ")[0]
    assert "facula.mul(" in section
    assert "Tensor mul(" in section
    assert "Formula: `self * other`" in section
    assert "d of `self`: `other`" in section
    assert "ops/arithmetic.py:" in section


def sections(page):
    """Gives the sections of a page by name."""
    found = {}
    for part in page.read_text().split("\n## ")[1:]:
        name, _, text = part.partition("\n")
        found[name] = text
    return found


def test_every_public_name_has_text_and_an_example(pages):
    bare, silent, count = {}, {}, 0
    for module in names.MODULES:
        found = sections(pages / f"reference/{module}.md")
        assert set(found) == set(names.public_names(module)), module
        count += len(found)
        bare[module] = {name for name, text in found.items() if ">>> " not in text}
        # Attributes of Tensor are their own text.
        silent[module] = {
            name for name, text in found.items()
            if callable(getattr(names.load(module), name))
            and not text.split("```\n", 1)[-1].removeprefix("\n").split("```")[0].strip()
            and not name.endswith(("Tensor", "Storage"))
        }  # fmt: skip
    assert count > 2000
    bare, silent = ({m: n for m, n in d.items() if n} for d in (bare, silent))
    assert bare == {}, "write examples in tools/docs/examples"
    assert silent == {}, "no docstring"


def test_operators_say_dtypes_errors_and_shapes(pages):
    section = sections(pages / "reference/activation.md")["relu"]
    assert "Dtypes: uint8, int8" in section
    assert "`NotImplementedError` for bool" in section
    assert "Shapes: (3,) gives (3,)" in section
    assert ">>> facula.relu(x)\ntensor([0.2500, 0.0000, 2.0000])" in section
    with_example = total = 0
    for page in (pages / "reference").glob("[a-z]*.md"):
        if "." in page.stem or page.stem in ("operators", "modules", "facula"):
            continue
        for text in sections(page).values():
            total += 1
            with_example += ">>> " in text
    assert total > 600
    assert with_example >= 0.97 * total


def test_hand_written_pages_are_copied(pages):
    assert (pages / "dependencies.md").read_text().startswith("# What Facula depends on")


def test_the_environment_variables_that_are_read_are_documented():
    page = (ROOT / "docs/migration.md").read_text().partition("## Environment variables")[2]
    named = set()
    for folder in ("src", "facula", "bench", "tests", "tools", "examples"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".cpp", ".h", ".py"):
                named |= set(re.findall(r'"((?:FACULA|OMP)_[A-Z_]+)"', path.read_text()))
    named = {n for n in named if not n.startswith("FACULA_EXTENSION")}
    assert {"FACULA_NUM_THREADS", "OMP_NUM_THREADS", "FACULA_ISA", "FACULA_PEER"} <= named
    assert {n for n in named if f"`{n}" not in page} == set()
