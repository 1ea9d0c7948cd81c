"""The stubs of the compiled part: they parse, pyright accepts them, and programs get types."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import facula
from facula import nn

x = facula.randn(3, 4, requires_grad=True)
y = (x * 2 + 1).relu().sum(dim=0)
values, indices = facula.max(x, 1)
reveal_type(x.size(0))
reveal_type(x.shape)
reveal_type(facula.softmax(x, 1))
reveal_type(nn.functional.silu(x))
reveal_type(x.to(facula.float64))
reveal_type(y)
facula.add(x, "a")
x.foo()
"""
TYPES = ["int", "Size", "Tensor", "Tensor", "Tensor", "Tensor"]
ERRORS = ["reportArgumentType", "reportAttributeAccessIssue"]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A folder with the package's sources and fresh stubs, and nothing that is compiled."""
    folder = tmp_path_factory.mktemp("stubs")
    command = [sys.executable, str(ROOT / "tools" / "opgen"), "--out", str(folder / "generated")]
    subprocess.run(command, check=True)
    ignore = shutil.ignore_patterns("lib", "*.so", "__pycache__", "_C", "package")
    shutil.copytree(ROOT / "facula", folder / "facula", ignore=ignore)
    shutil.copytree(folder / "generated" / "stubs" / "_C", folder / "facula" / "_C")
    return folder


def test_every_stub_parses(package):
    files = sorted((package / "facula" / "_C").glob("*.pyi"))
    assert {f.name for f in files} >= {"__init__.pyi", "_functions.pyi", "_nn.pyi"}
    for file in files:
        ast.parse(file.read_text())


def test_pyright_accepts_them_and_finds_mistakes(package):
    pyright = Path(sys.executable).parent / "pyright"
    if not pyright.exists():
        pytest.skip("pyright is not installed")
    (package / "program.py").write_text(PROGRAM)
    command = [str(pyright), "--outputjson", "program.py", "facula/_C"]
    result = subprocess.run(command, cwd=package, capture_output=True, text=True)
    found = json.loads(result.stdout)["generalDiagnostics"]
    errors = [d["rule"] for d in found if d["severity"] == "error"]
    types = [d["message"] for d in found if d["severity"] == "information"]
    assert errors == ERRORS, [d for d in found if d["severity"] == "error"]
    assert [t.rsplit('"', 2)[1] for t in types] == TYPES
