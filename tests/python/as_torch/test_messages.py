"""Under the alias errors and warnings name the package as the program does."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import facula

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(facula.__file__)))

# Calls of a program that knows `torch`, and what their message says.
CALLS = {
    "torch.no_such_name": "module 'torch' has no attribute 'no_such_name'",
    "torch.nn.no_such_name": "module 'torch.nn' has no attribute 'no_such_name'",
    "torch.utils.no_such_name": "module 'torch.utils' has no attribute 'no_such_name'",
    "torch._C.no_such_name": "module 'torch._C' has no attribute 'no_such_name'",
    "torch.ones(1, dtype='x')": "must be torch.dtype, not str",
    "torch.ones(1, device=1.5)": "must be torch.device, not float",
    "torch.finfo(torch.int32)": "torch.finfo() requires a floating point",
    "spoilt()": "[torch.FloatTensor [2]]",
    "torch.ones(1).__setitem__(0, 'x')": "to a torch.FloatTensor",
    "torch.nn.Linear(1, 1).register_buffer('b', 1)": "(torch.Tensor or None required)",
    "torch.nn.Linear(1, 1).register_parameter('b', 1)": "(torch.nn.Parameter or None required)",
    "torch.quantize_per_tensor()": "torch.quantize_per_tensor is not built in Facula",
    "torch.range(0, 1)": "torch.range is deprecated",
    "torch.tensor(torch.ones(1))": "rather than torch.tensor(sourceTensor)",
    "torch.compile(lambda x: x)": "torch.compile: nothing is compiled",
    "torch.cpu.amp.GradScaler()": "torch.cpu.amp.GradScaler is deprecated: use torch.amp",
    "torch.cross(torch.ones(2, 3), torch.ones(2, 3))": "Using torch.cross without specifying",
    "torch.sparse.FloatTensor(2, 2)": "torch.sparse.SparseTensor(",
    "setattr(torch.ones(1), 'shape', 1)": "of 'torch.Tensor' objects is not writable",
    "setattr(torch.nn.Linear(1, 1), 'weight', torch.nn.Linear(1, 1))": "'torch.nn.modules.",
    "torch.distributions.utils.broadcast_all('x')": "torch.Tensor or objects implementing",
    "torch.load('x', pickle_module=torch)": "use torch.serialization.add_safe_globals",
    "raise_text(torch.FloatTensor)": "<class 'torch.FloatTensor'>",
}


def said(alias):
    """Run all calls in one interpreter; give the error or the first warning of each."""
    program = f"""
import json, sys, warnings
if {alias}:
    import facula.as_torch
    facula.as_torch.install()
    import torch
else:
    import facula as torch
def spoilt():
    x = torch.ones(2, requires_grad=True) * 1
    y = x * x
    x.add_(1)
    y.sum().backward()
def raise_text(value):
    raise ValueError(repr(value))
out = []
for call in {list(CALLS)}:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            eval(call)
            out.append(str(found[0].message))
        except Exception as error:
            out.append(str(error))
print(json.dumps(out))
"""
    clean = {k: v for k, v in os.environ.items() if k != "FACULA_AS_TORCH"}
    clean["PYTHONPATH"] = ROOT
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=clean)
    return dict(zip(CALLS, json.loads(done.stdout), strict=True))


@pytest.fixture(scope="module")
def under_alias():
    return said(True)


@pytest.fixture(scope="module")
def plain():
    return said(False)


@pytest.mark.parametrize("call", CALLS)
def test_messages_name_the_package_as_the_program_does(call, under_alias, plain):
    assert CALLS[call] in under_alias[call] and "facula." not in under_alias[call]
    assert CALLS[call].replace("torch", "facula") in plain[call]


def test_names_of_its_own_stay():
    words = facula._C._package_words
    assert words("facula.Tensor of libfacula.so") == "facula.Tensor of libfacula.so"
    program = (
        "import facula.as_torch; facula.as_torch.install()\n"
        "from facula._C import _package_words as words\n"
        "print(words('facula.a, my_facula.a, x.facula.a, facula.as_torch, facula, (facula.b'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "torch.a, my_facula.a, x.facula.a, facula.as_torch, facula, (torch.b\n"


@pytest.mark.parametrize(
    "text",
    [
        "cannot open /data/facula.ckpt",
        "cannot open C:\\data\\facula.ckpt",
        "no file 'facula.ckpt'",
        'no file "facula.ckpt"',
        "no file old-facula.ckpt or my_facula.ckpt",
    ],
)
def test_names_of_files_stay(text):
    program = (
        "import sys, facula.as_torch; facula.as_torch.install()\n"
        "from facula._C import _package_words as words\n"
        "print(words(sys.argv[1]), words('(<class \\'facula.Size\\'>)'))"
    )
    command = [sys.executable, "-c", program, text]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{text} (<class 'torch.Size'>)\n"


# Functions that put their text through the words of the package.
IN_WORDS = {"_package_words", "missing", "once", "once_in_words", "absent_function", "absent_class"}


def left_out(node):
    """Give the lines of the texts in an expression that name the package and stay as they are."""
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in IN_WORDS:
            return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if re.search(r"(?<![\w.'\"/-])facula\.(?!as_torch)", node.value):
            yield node.lineno
    for inner in ast.iter_child_nodes(node):
        yield from left_out(inner)


def said_by(tree):
    """Give what a source raises, and its calls of warn."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.exc is not None:
            yield node.exc
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "warn":
            yield node


def test_all_texts_of_errors_and_warnings_go_through_the_words():
    left = []
    for file in Path(facula.__file__).parent.rglob("*.py"):
        for said in said_by(ast.parse(file.read_text(encoding="utf-8"))):
            left += [f"{file}:{line}" for line in left_out(said)]
    assert not left


def test_the_search_finds_a_text_that_is_left_out():
    source = "raise TypeError(f'{x} is no facula.Tensor')\nwarnings.warn('facula.x: old')\n"
    found = [line for said in said_by(ast.parse(source)) for line in left_out(said)]
    assert found == [1, 2]
