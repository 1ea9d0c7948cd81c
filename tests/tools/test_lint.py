"""The lints find what they are for, and nothing in what is right."""

import importlib.util
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools" / "lint"


@pytest.fixture(scope="module")
def lint():
    """The lint modules by name, loaded as they load one another."""
    sys.path.insert(0, str(TOOLS))
    loaded = {}
    try:
        for name in ("files", "layers", "mirrors", "sizes", "spelling"):
            spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
            sys.modules[name] = loaded[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(loaded[name])
        yield loaded
    finally:
        sys.path.remove(str(TOOLS))
        for name in loaded:
            del sys.modules[name]


@pytest.fixture
def tree(lint, tmp_path, monkeypatch):
    """Writes files into a folder and returns what a lint finds there."""

    def check(name: str, contents: dict[str, str]) -> list[str]:
        for path, text in contents.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        paths = tuple(sorted(Path(path) for path in contents))
        monkeypatch.setattr(lint["files"], "ROOT", tmp_path)
        for module in lint.values():
            if hasattr(module, "tracked"):
                monkeypatch.setattr(module, "tracked", lambda: paths)
        return list(lint[name].check())

    return check


def include(*names: str) -> str:
    return "// File.\n#pragma once\n" + "".join(f'#include "{name}"\n' for name in names)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("core/a.h", "facula/base/error.h"),
        ("ops/a.cpp", "facula/core/tensor.h"),
        ("ops/a.cpp", "facula/kernels/table.h"),
        ("kernels/cpu/a.cpp", "facula/kernels/simd/vector.h"),
        ("nn/a.cpp", "facula/device/cpu/allocator.h"),
        ("python/a.cpp", "facula/serve/runner.h"),
        ("python/a.cpp", "Python.h"),
        ("base/parallel.cpp", "facula/base/pool/pool.h"),
        ("base/pool/pool.cpp", "facula/base/export.h"),
        ("core/a.cpp", "functional"),
    ],
)
def test_layers_allow_what_is_below(tree, path, name):
    assert tree("layers", {f"src/facula/{path}": include(name)}) == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("base/a.h", "facula/core/tensor.h"),
        ("core/a.h", "facula/device/cpu/allocator.h"),
        ("ops/a.cpp", "facula/kernels/cpu/loops.h"),
        ("kernels/cpu/a.cpp", "facula/ops/rules.h"),
        ("autograd/a.cpp", "facula/ops/rules.h"),
        ("nn/a.cpp", "facula/python/bound.h"),
        ("base/pool/pool.cpp", "facula/base/error.h"),
        ("core/a.cpp", "Python.h"),
        ("nn/a.cpp", "nanobind/nanobind.h"),
        ("core/a.h", "functional"),
        ("elsewhere/a.cpp", "facula/base/error.h"),
    ],
)
def test_layers_refuse_what_is_not(tree, path, name):
    assert len(tree("layers", {f"src/facula/{path}": include(name)})) == 1


def test_sizes_count_files_functions_and_macros(tree):
    call = "  call(1);\n"
    found = tree("sizes", {
        "src/facula/core/long.cpp": "// Long.\n" * 801,
        "src/facula/core/function.cpp": f"// File.\nvoid run(int a) {{\n{call * 61}}}\n",
        "src/facula/core/short.cpp": f"// File.\nvoid run(int a) {{\n{call * 60}}}\n",
        "src/facula/core/macros.h": "".join(f"#define FACULA_M{i}\n" for i in range(16)),
        "tools/x.py": '"""Doc."""\ndef run():\n' + "    pass\n" * 61,
        "ops/table.py": "# Table.\n" * 1200,
    })
    text = "\n".join(found)
    assert "long.cpp:1: 801 lines" in text
    assert "function.cpp:2: a function of 61 lines" in text
    assert "short.cpp" not in text
    assert "tools/x.py:2: a function of 61 lines" in text
    assert "16 macros" in text
    assert "table.py" not in text


def test_mirrors_want_a_test_for_each_source(tree):
    found = tree("mirrors", {
        "src/facula/core/tested.cpp": "",
        "src/facula/core/untested.cpp": "",
        "src/facula/base/pool/nested.cpp": "",
        "src/facula/ops/rules.cpp": "",
        "tests/cpp/core/tested_test.cpp": "",
        "tests/cpp/base/nested_test.cpp": "",
        "tests/cpp/core/orphan_test.cpp": "",
    })
    assert len(found) == 2
    assert "untested_test.cpp" in found[0]
    assert found[1].startswith("tests/cpp/core/orphan_test.cpp")


@pytest.mark.parametrize(
    "line",
    [
        "x = 1  # TO" + "DO later",
        "# see iss" + "ue 12",
        "import to" + "rch",
        "def add_im" + "pl(): pass",
        "open('/ro" + "ot/x')",
    ],
)
def test_spelling_refuses_words(tree, line):
    assert len(tree("spelling", {"facula/x.py": f'"""Doc."""\n{line}\n'})) == 1


def test_spelling_wants_an_opening(tree):
    found = tree("spelling", {
        "facula/x.py": "x = 1\n",
        "src/facula/core/a.cpp": "int a;\n",
        "src/facula/core/b.h": "// File.\nint b;\n",
        "src/facula/core/c.h": "// File.\n#pragma once\n",
        "facula/empty.py": "",
    })
    assert [line.split(":")[0] for line in found] == [
        "facula/x.py", "src/facula/core/a.cpp", "src/facula/core/b.h"]
