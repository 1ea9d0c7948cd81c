"""Programs that end with tensors, modules and graphs in their namespace end with status 0."""

import os
import subprocess
import sys

import pytest

PROGRAMS = {
    "parameter": "z = facula.nn.Parameter(facula.ones(3)) * 3",
    "module": "m = facula.nn.Linear(3, 2); y = m(facula.ones(1, 3)).sum(); y.backward()",
    "attribute": "x = facula.ones(3, requires_grad=True); x.foo = 1; z = x * 3",
    "hook": "x = facula.ones(3, requires_grad=True); h = x.register_hook(print); z = x * 3",
    "node hook": "z = facula.nn.Parameter(facula.ones(3)) * 3; z.grad_fn.register_hook(print)",
    "function": """
class Twice(facula.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 2
w = facula.nn.Parameter(facula.ones(2))
z = Twice.apply(w)
""",
    "recurrent": "o, h = facula.nn.LSTM(3, 2)(facula.ones(4, 1, 3))",
    "sparse": "a = facula.eye(3).to_sparse().requires_grad_(); b = a * 2",
    "numpy": "import numpy; t = facula.from_numpy(numpy.ones(3)); b = t.numpy(); u = t.view(3, 1)",
    "cycle": "x = facula.nn.Parameter(facula.ones(3)); x.me = [x]; z = x * x",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_end_well(name):
    program = f"import facula\n{PROGRAMS[name]}\n"
    found = subprocess.run([sys.executable, "-P", "-c", program], env=os.environ,
                           capture_output=True, text=True)  # fmt: skip
    assert (found.returncode, found.stderr) == (0, "")
