"""The reference pages: every public row is there once, with its text and its calls."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


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


def test_hand_written_pages_are_copied(pages):
    assert (pages / "dependencies.md").read_text().startswith("# What Facula depends on")
