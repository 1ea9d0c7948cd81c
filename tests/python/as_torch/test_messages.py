"""Under the alias errors and warnings name the package as the program does."""

import json
import os
import subprocess
import sys

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
