"""The examples in the C++ headers compile: all of them together, in one file."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "facula"
#: Headers of the front end that need no example: what they declare is used through others.
WITHOUT = {
    "nn.h": "includes the others",
    "optim/optimizer.h": "a base class",
    "optim/update.h": "the steps that the optimisers call",
}
#: Names that an example may use without saying where they come from.
PRELUDE = "[[maybe_unused]] Tensor x = rand({2, 32});"


def examples(header: Path) -> list[tuple[int, str]]:
    """Returns the blocks of comment lines that are indented like code, with their first lines."""
    found: list[tuple[int, list[str]]] = []
    inside = False
    for number, line in enumerate(header.read_text().splitlines(), 1):
        code = re.match(r"\s*//   (\s*\S.*)$", line)
        if code and inside:
            found[-1][1].append(code[1])
        elif code:
            found.append((number, [code[1]]))
        inside = bool(code)
    return [(number, "\n".join(lines)) for number, lines in found]


HEADERS = [
    h for h in sorted(SOURCES.rglob("*.h"))
    if h.parts[len(SOURCES.parts)] in ("nn", "autograd", "sparse")
]  # fmt: skip


def test_every_header_of_the_front_end_has_an_example():
    front = {str(h.relative_to(SOURCES / "nn")): h for h in HEADERS if "/nn/" in str(h)}
    bare = {name for name, header in front.items() if not examples(header)}
    assert bare == set(WITHOUT)


def test_the_examples_compile(tmp_path):
    database = ROOT / "build" / "dev" / "compile_commands.json"
    if not database.exists():
        pytest.skip("no build in build/dev")
    parts = ['#include "facula/nn/nn.h"', '#include "facula/sparse/sparse.h"']
    parts.append("using namespace facula;")
    count = 0
    for header in HEADERS:
        for number, code in examples(header):
            line = f'#line {number} "{header}"'
            parts += [f"void example_{count}() {{", PRELUDE, line, code, "}"]
            count += 1
    assert count >= 20
    file = tmp_path / "examples.cpp"
    file.write_text("\n".join(parts) + "\n")
    entry = next(e for e in json.loads(database.read_text()) if "facula_nn.dir" in e["command"])
    words = shlex.split(entry["command"])
    options = [w for w in words[1:] if w.startswith(("-I", "-D", "-std"))]
    compiler = next(w for w in words if re.search(r"(\+\+|cc)(-\d+)?$", w))
    command = [compiler, *options, "-fsyntax-only", str(file)]
    result = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-4000:]
