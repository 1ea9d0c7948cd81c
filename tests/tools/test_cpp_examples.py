"""The examples in the C++ headers compile, and those of the pages run: each all in one file."""

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
OPENING = [
    "#include <iostream>",
    '#include "facula/nn/nn.h"',
    '#include "facula/sparse/sparse.h"',
    "using namespace facula;",
]
#: Pages whose C++ is compiled, linked and run.
PAGES = [ROOT / "README.md", ROOT / "docs" / "cpp.md"]


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


def build(tmp_path: Path, functions: list[str], *flags: str) -> Path:
    """Compiles functions with the options of the library's own sources; gives the result."""
    database = ROOT / "build" / "dev" / "compile_commands.json"
    if not database.exists():
        pytest.skip("no build in build/dev")
    file = tmp_path / "examples.cpp"
    file.write_text("\n".join([*OPENING, *functions]) + "\n")
    entry = next(e for e in json.loads(database.read_text()) if "facula_nn.dir" in e["command"])
    words = shlex.split(entry["command"])
    options = [w for w in words[1:] if w.startswith(("-I", "-D", "-std"))]
    compiler = next(w for w in words if re.search(r"(\+\+|cc)(-\d+)?$", w))
    out = tmp_path / "examples"
    command = [compiler, *options, "-o", str(out), str(file), *flags]
    result = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-4000:]
    return out


def test_the_examples_compile(tmp_path):
    functions: list[str] = []
    for header in HEADERS:
        for number, code in examples(header):
            line = f'#line {number} "{header}"'
            functions.append(f"void example_{len(functions)}() {{\n{PRELUDE}\n{line}\n{code}\n}}")
    assert len(functions) >= 20
    build(tmp_path, functions, "-fsyntax-only")


def page_examples(page: Path) -> list[tuple[int, str]]:
    """Returns the C++ blocks of a page with their first lines; includes are OPENING's business."""
    found = []
    for match in re.finditer(r"^```cpp\n(.*?)^```", page.read_text(), re.M | re.S):
        code = re.sub(r"^(#include|using namespace) .*$", "", match[1], flags=re.M)
        if code.strip():
            found.append((page.read_text()[: match.start(1)].count("\n") + 1, code))
    return found


def test_the_examples_of_pages_run(tmp_path):
    blocks = [(page, *block) for page in PAGES for block in page_examples(page)]
    assert {page for page, _, _ in blocks} == set(PAGES)
    functions = [
        f'void example_{i}() {{\n#line {number} "{page}"\n{code}\n}}'
        for i, (page, number, code) in enumerate(blocks)
    ]
    end = "== end of an example"
    calls = "".join(f'example_{i}(); std::cout << "{end}\\n";' for i in range(len(blocks)))
    folder = ROOT / "facula" / "lib"
    link = [f"-L{folder}", "-lfacula", f"-Wl,-rpath,{folder}"]
    program = build(tmp_path, [*functions, f"int main() {{ {calls} }}"], "-O0", *link)
    result = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr[-4000:]
    outputs = result.stdout.split(f"{end}\n")
    assert len(outputs) == len(blocks) + 1
    printed = 0
    for (page, number, code), output in zip(blocks, outputs, strict=False):
        # Comments on lines of their own are what the program prints there.
        told = "\n".join(re.findall(r"^// (.*)$", code, re.M))
        assert told in output, f"{page}:{number}"
        printed += bool(told)
    assert printed
