"""One spelling everywhere, an opening comment in every file, and words that have no place here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from files import CPP, finding, sources, text_of, tracked

PROSE = (".md", ".toml", ".cmake", ".txt", ".json", ".yml")
HERE = Path("tools/lint/spelling.py")

# Pattern and why it is refused; in code and prose.
WORDS = [
    (re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), "unfinished work is not left in the tree"),
    (re.compile(r"(?<![\w.])/(work|root|home)/\w"), "a path of one machine"),
    (re.compile(r"\bissues? #?\d+\b", re.IGNORECASE), "an issue number: say what is so, and why"),
    (re.compile(r"\b(claude|chatgpt|copilot|anthropic|openai)\b", re.IGNORECASE), "tool names"),
]
# In code only: names that say nothing, and the peer that must not be imported.
NAMES = [
    # (PyTorch's interface has some such names, which programs import.)
    (
        re.compile(r"\b(?!_disabled_torch_function_impl|_disabled_torch_dispatch_impl|_jit_internal|checkpoint_impl|_call_impl|_wrapped_call_impl)\w+_(impl|stub|internal)\b"),
        "one name for one thing",
    ),
    (re.compile(r"^\s*(import|from)\s+torch\b"), "PyTorch is no dependency"),
]
# Modules that have PyTorch's name because programs ask for them by it.
NAMED = ("facula/as_torch/", "facula/torch_version.py", "facula/_functorch/", "tests/programs/",
         "tests/python/as_torch/", "tests/python/test_torch_version.py")
# The benchmarks run beside PyTorch where it is installed; programs are written for it.
PEERS = ("bench/", "tests/programs/", "tests/python/as_torch/")


def check_words(path: Path, text: str) -> Iterator[str]:
    """Yields the refused words of a file."""
    code = path.suffix in (*CPP, ".py")
    patterns = WORDS + (NAMES if code and not path.as_posix().startswith(PEERS) else [])
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, why in patterns:
            if match := pattern.search(line):
                yield finding(path, number, f"{match[0].strip()!r}: {why}")


def check_opening(path: Path, text: str) -> Iterator[str]:
    """Yields a finding when a file does not say at its top what it defines."""
    if path.suffix == ".py":
        if text.strip() and ast.get_docstring(ast.parse(text)) is None:
            yield finding(path, 1, "no docstring says what this file is for")
    elif not text.startswith("//"):
        yield finding(path, 1, "no comment at the top says what this file defines")
    elif path.suffix in (".h", ".cuh") and "#pragma once" not in text:
        yield finding(path, 1, "a header without #pragma once")


def check() -> Iterator[str]:
    """Yields refused words and missing openings."""
    for path in sources(*CPP, ".py", *PROSE):
        if path == HERE:
            continue
        text = text_of(path)
        yield from check_words(path, text)
        if path.suffix in (*CPP, ".py"):
            yield from check_opening(path, text)
    for path in tracked():
        if "torch" in path.as_posix().lower() and not path.as_posix().startswith(NAMED):
            yield finding(path, 1, "PyTorch's name in a path")
