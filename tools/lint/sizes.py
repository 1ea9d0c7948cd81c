"""Sizes: no file over 800 lines, nine in ten under 500, functions under 60, few macros.

Tables, test data, recorded cases and their runners may be up to 1,500 lines long. A macro that its
file undefines again does not count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from files import CPP, finding, sources, text_of

FILE_LIMIT = 800
USUAL_LIMIT = 500
USUAL_SHARE = 0.9
TABLE_LIMIT = 1500
FUNCTION_LIMIT = 60
MACRO_LIMIT = 15

TABLES = ("ops/", "tests/conformance/", "tests/golden/", "bench/recorded/")
NO_FUNCTION = re.compile(
    r"^\s*(namespace|class|struct|enum|union|extern|if|for|while|switch|do|else|return|try|catch|"
    r"case|default|#|//|\}|template\b.*(class|struct)\s)"
)

# The end of a parameter or initialiser list, qualifiers, and the opening brace of a body.
OPENS_FUNCTION = re.compile(
    r"\)(\s|const|noexcept|override|final|mutable|&|->[\w\s:<>*&,]+)*\{\s*$"
)


def cpp_functions(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yields (first line, length) of function bodies, found by the layout of clang-format."""
    number = 0
    while number < len(lines):
        line = lines[number]
        indent = len(line) - len(line.lstrip())
        if indent <= 4 and OPENS_FUNCTION.search(line) and not NO_FUNCTION.match(line):
            closing = " " * indent + "}"
            for last in range(number + 1, len(lines)):
                if lines[last].startswith(closing) and not lines[last].startswith(closing + " "):
                    yield number + 1, last - number - 1
                    break
        number += 1


def python_functions(text: str) -> Iterator[tuple[int, int]]:
    """Yields (first line, length) of functions, docstrings not counted."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            skip = ast.get_docstring(node) is not None and len(node.body) > 1
            start = first.end_lineno + 1 if skip else first.lineno
            yield node.lineno, node.end_lineno - start + 1


def check_file(path: Path, text: str) -> Iterator[str]:
    """Yields what is too long in one file."""
    lines = text.splitlines()
    table = path.as_posix().startswith(TABLES)
    limit = TABLE_LIMIT if table else FILE_LIMIT
    if len(lines) > limit:
        yield finding(path, 1, f"{len(lines)} lines, at most {limit} are allowed")
    if table:
        return
    functions = python_functions(text) if path.suffix == ".py" else cpp_functions(lines)
    for line, length in functions:
        if length > FUNCTION_LIMIT:
            yield finding(path, line, f"a function of {length} lines, at most {FUNCTION_LIMIT}")


def check() -> Iterator[str]:
    """Yields what is too long, and too many long files or macros."""
    lengths = []
    macros: set[str] = set()
    for path in sources(*CPP, ".py", recorded=True):
        text = text_of(path)
        yield from check_file(path, text)
        if not path.as_posix().startswith(TABLES):
            lengths.append(len(text.splitlines()))
        if path.as_posix().startswith("src/"):
            local = set(re.findall(r"^\s*#\s*undef\s+(FACULA_\w+)", text, re.MULTILINE))
            macros |= set(re.findall(r"^\s*#\s*define\s+(FACULA_\w+)", text, re.M)) - local
    usual = sum(length < USUAL_LIMIT for length in lengths)
    if usual < USUAL_SHARE * len(lengths):
        yield f"only {usual} of {len(lengths)} files have fewer than {USUAL_LIMIT} lines"
    if len(macros) > MACRO_LIMIT:
        yield f"{len(macros)} macros, at most {MACRO_LIMIT}: {' '.join(sorted(macros))}"
