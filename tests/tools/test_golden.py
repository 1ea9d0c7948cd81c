"""What the generator writes for eight operators, one of each kind, kept as text in tests/golden/.

A change of the generator shows there what it does to the code, and is reviewed with it. To accept:
FACULA_UPDATE_GOLDEN=1 python -m pytest tests/tools/test_golden.py
"""

import importlib.util
import os
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
OPERATORS = {
    "add": "pointwise with a scalar, in place, derivative of two operands",
    "relu": "pointwise whose derivative uses the result",
    "eq": "pointwise with a bool result and no derivative",
    "sum": "reduction over a list of dims",
    "softmax": "function written by hand with a derivative",
    "transpose": "view",
    "cat": "list of tensors",
    "max_dim": "several results",
}


def generator():
    """tools/opgen as a package, its entry module included."""
    sys.path.insert(0, str(ROOT / "tools"))
    spec = importlib.util.spec_from_file_location(
        "opgen_main", ROOT / "tools" / "opgen" / "__main__.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def table():
    main = generator()
    families = main.load_table()
    return main, {row.name: row for members in families.values() for row in members}


def generated(main, row) -> str:
    """Everything that is generated for one row, without the places of rows in their files."""
    parts = {
        "declaration": main.functions.declaration(row),
        "function": main.functions.function_code(row) or "",
        "binding": main.bindings.signature_code(row) + "\n" + main.bindings.caller_code(row),
    }
    if row.kind == "pointwise":
        parts["loops"] = main.loops.family_loops(row.family, [row])
    if main.boxed.has_boxed(row):
        parts["boxed"] = main.boxed.boxed_code(row)
    text = "\n\n".join(f"==== {name}\n{code.strip()}" for name, code in parts.items()) + "\n"
    return re.sub(r"(ops/\w+\.py):\d+", r"\1", text)


@pytest.mark.parametrize("name", OPERATORS)
def test_generated_code(name, table):
    main, rows = table
    text = generated(main, rows[name])
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("FACULA_UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text(), f"the code of {name} changed ({OPERATORS[name]})"
