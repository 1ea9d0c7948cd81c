"""Facula under the name of torch: imports, metadata, pickles, programs and child processes.

Every check runs in an interpreter of its own, as the alias is for a whole process.
"""

import json
import os
import subprocess
import sys

import facula

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(facula.__file__)))


def environment():
    clean = {k: v for k, v in os.environ.items() if k != "FACULA_AS_TORCH"}
    clean["PYTHONPATH"] = ROOT
    return clean


def python(*arguments, cwd=None):
    result = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment(), cwd=cwd
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def answers(program, cwd=None):
    """What a program prints as JSON when the alias is installed first."""
    text = "import facula.as_torch, json; facula.as_torch.install()\n" + program
    return json.loads(python("-c", text, cwd=cwd))


def test_modules_are_the_same():
    program = """
import facula
import torch, torch.nn as nn, torch.nn.functional as F, torch.utils.data
from torch.optim import lr_scheduler
from torch.nn.modules.linear import Linear
import torch.nn.modules.batchnorm
import sys
print(json.dumps([
    torch is facula, nn.Linear is facula.nn.Linear is Linear, F.relu is facula.nn.functional.relu,
    sys.modules["torch.optim.lr_scheduler"] is facula.optim.lr_scheduler,
    torch.utils.data.DataLoader is facula.utils.data.DataLoader, torch.torch is torch,
    nn.Linear.__module__, torch.optim.SGD.__module__, nn.init.normal_.__module__,
    torch.nn.modules.batchnorm.__spec__.name, torch.nn.__spec__.name,
]))
"""
    assert answers(program) == [True] * 6 + [
        "torch.nn.modules.linear",
        "torch.optim.sgd",
        "torch.nn.init",
        "facula.nn.modules.batchnorm",
        "facula.nn",
    ]


def test_presence_and_version():
    program = """
import importlib.metadata as metadata, importlib.util as util
before = [util.find_spec("torch") is not None, util.find_spec("torch.nn.functional") is not None,
          util.find_spec("torch.no_such_module") is None, metadata.version("torch"),
          "torch" in metadata.packages_distributions(), metadata.metadata("torch")["Name"]]
import torch
v = torch.__version__
print(json.dumps(before + [str(v), v >= "2.8", v >= (2, 10), v < "2.16", v < "3", v.split(".")[:2],
                           torch.version.cuda, torch.version.__version__]))
"""
    number = "2.15.0+facula"
    assert answers(program) == [
        True, True, True, number, True, "torch",
        number, True, True, True, True, ["2", "15"], None, number,
    ]  # fmt: skip


def test_what_is_missing_is_named():
    program = """
import torch
found = []
for code in ("import torch.no_such_module", "from torch import no_such_name",
             "torch.no_such_name", "torch.onnx.export(None)", "torch.fx.symbolic_trace(print)"):
    try:
        exec(code)
    except Exception as error:
        found.append([type(error).__name__, str(error)])
print(json.dumps(found))
"""
    module, name, attribute, export, trace = answers(program)
    assert module[0] == "ModuleNotFoundError" and "torch.no_such_module" in module[1]
    assert name[0] == "ImportError" and "no_such_name" in name[1]
    assert attribute[0] == "AttributeError" and "no_such_name" in attribute[1]
    assert export[0] == "NotImplementedError" and "onnx.export" in export[1]
    assert trace[0] == "NotImplementedError" and "fx.symbolic_trace" in trace[1]


def test_pickles_have_the_names_of_torch():
    program = """
import pickle, torch
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
data = pickle.dumps(net)
again = pickle.loads(data)
print(json.dumps([b"facula.nn" in data, b"torch.nn.modules.linear" in data,
                  torch.equal(again[0].weight, net[0].weight), type(again) is type(net)]))
"""
    assert answers(program) == [False, True, True, True]


def test_nothing_happens_unasked():
    program = """
import sys, json, facula, importlib.util
from importlib import metadata
try:
    version = metadata.version("torch")
except metadata.PackageNotFoundError:
    version = None
print(json.dumps([version, "torch" in sys.modules, facula.nn.Linear.__module__]))
"""
    version, loaded, module = json.loads(python("-c", program))
    assert (loaded, module) == (False, "facula.nn.modules.linear")
    assert version is None or "facula" not in version


def test_refuses_after_pytorch():
    program = """
import sys, types, json
sys.modules["torch"] = types.ModuleType("torch")
import facula.as_torch
try:
    facula.as_torch.install()
except RuntimeError as error:
    print(json.dumps(str(error)))
"""
    assert "imported already" in json.loads(python("-c", program))


def test_runs_a_program_as_python_does(tmp_path):
    (tmp_path / "helper.py").write_text("import torch\nsize = torch.ones(3).numel()\n")
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, json, helper, torch\n"
        "from __main__ import __file__ as me\n"
        "class Net(torch.nn.Module): pass\n"
        "print(json.dumps([sys.argv, __name__, helper.size, me, Net.__module__, sys.path[0],\n"
        "                  __spec__ is None, sys.modules['__main__'].Net is Net]))\n"
    )
    out = python("-m", "facula.as_torch", str(program), "--rate", "3")
    assert json.loads(out) == [
        [str(program), "--rate", "3"], "__main__", 3, str(program), "__main__", str(tmp_path),
        True, True,
    ]  # fmt: skip
    out = python("-m", "facula.as_torch", "-m", "helper", "x", cwd=tmp_path)
    assert out == ""
    out = python("-m", "facula.as_torch", "-c", "import sys, torch; print(torch.nn, sys.argv)", "y")
    assert "facula" in out and "['-c', 'y']" in out


def test_errors_of_programs_come_through(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import torch\nraise SystemExit(7)\n")
    command = [sys.executable, "-m", "facula.as_torch", str(program)]
    assert subprocess.run(command, env=environment()).returncode == 7
    command[-1] = str(tmp_path / "absent.py")
    result = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert result.returncode != 0 and "absent.py" in result.stderr


def test_children_do_likewise(tmp_path):
    program = tmp_path / "parent.py"
    program.write_text(
        "import json, subprocess, sys, torch\n"
        "import torch.multiprocessing as mp\n"
        "def work(i, path):\n"
        "    import torch\n"
        "    open(f'{path}/{i}', 'w').write(f'{torch.__version__} {torch.ones(i + 1).sum()}')\n"
        "if __name__ == '__main__':\n"
        "    mp.spawn(work, (sys.argv[1],), nprocs=2)\n"
        "    code = 'import sys; early = \"facula\" in sys.modules;'\n"
        "    code += 'import importlib.metadata as m;'\n"
        "    code += 'v = m.version(\"torch\"); import torch; print(early, v, torch.__name__)'\n"
        "    out = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,\n"
        "                         check=True, cwd='/')\n"
        "    print(json.dumps(out.stdout.split()))\n"
    )
    out = python("-m", "facula.as_torch", str(program), str(tmp_path))
    assert json.loads(out) == ["False", "2.15.0+facula", "torch"]
    assert (tmp_path / "1").read_text() == "2.15.0+facula 2.0"


def test_texts_are_those_of_torch():
    program = """
import torch
print(json.dumps([str(torch.float32), repr(torch.Size([2])), repr(torch.ones(1).double()),
                  str(torch.Tensor), str(torch.strided), str(torch.channels_last)]))
"""
    assert answers(program) == [
        "torch.float32", "torch.Size([2])", "tensor([1.], dtype=torch.float64)",
        "<class 'torch.Tensor'>", "torch.strided", "torch.channels_last",
    ]  # fmt: skip


def test_load_makes_objects_where_the_program_asks(tmp_path):
    program = f"""
import argparse, functools, numpy, torch
import torch.nn.functional as F
path = {str(tmp_path / "state.pt")!r}

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
        self.activation = F.relu

    def forward(self, x):
        return self.activation(self.layers(x))

class Settings(dict):
    pass

net, x = Net(), torch.ones(4, 2)
torch.save({{"state": net.state_dict(), "epoch": 3}}, path)
found = [torch.load(path, weights_only=w)["epoch"] for w in (True, False, None)]
torch.save({{"net": net, "args": argparse.Namespace(lr=0.5), "best": numpy.float64(0.25),
            "scores": numpy.arange(3.0), "settings": Settings(depth=2),
            "f": functools.partial(F.softmax, dim=1)}}, path)
for trusting in (True, False):
    try:
        kept = torch.load(path, weights_only=not trusting)
    except Exception as error:
        found.append(type(error).__name__)
    else:
        found += [torch.equal(kept["net"](x), net(x)), kept["args"].lr, float(kept["best"]),
                  kept["scores"].tolist(), type(kept["settings"]).__name__, kept["f"](x).shape[1]]
print(json.dumps(found))
"""
    assert answers(program) == [
        3, 3, 3, True, 0.5, 0.25, [0.0, 1.0, 2.0], "Settings", 2, "UnpicklingError",
    ]  # fmt: skip


def test_load_calls_no_function_of_a_file(tmp_path):
    program = f"""
import os, subprocess, torch
path = {str(tmp_path / "hostile.pt")!r}

class Hostile:
    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call

found = []
for call in ((os.system, ("true",)), (subprocess.Popen, ("true",)), (eval, ("1",)),
             (exec, ("1",))):
    torch.save(Hostile(call[0], call[1]), path)
    try:
        found.append(repr(torch.load(path, weights_only=False)))
    except Exception as error:
        found.append(type(error).__name__)
print(json.dumps(found))
"""
    assert answers(program) == ["UnpicklingError"] * 4


def test_loader_workers_load_in_the_main_process():
    program = """
import warnings, torch
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.arange(6))
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    loaders = [DataLoader(data, batch_size=4, num_workers=2, persistent_workers=True,
                          prefetch_factor=3, worker_init_fn=print) for _ in range(2)]
    batches = [b.tolist() for loader in loaders for (b,) in loader]
print(json.dumps([batches, len(said), "worker processes are not built" in str(said[0].message)]))
"""
    assert answers(program) == [[[0, 1, 2, 3], [4, 5]] * 2, 1, True]


def test_parts_of_the_compiled_module_are_modules():
    found = answers(
        "from torch._C._functorch import is_batchedtensor\n"
        "import torch, torch._C._functorch, torch.functional, torch.utils.data._utils.collate\n"
        "print(json.dumps([is_batchedtensor(torch.ones(1)), torch.ones(2).type(),\n"
        "          str(type(torch.ones(2).max(0))), torch.functional.einsum is torch.einsum]))"
    )
    assert found == [False, "torch.FloatTensor", "<class 'torch.return_types.max'>", True]


def test_modules_that_programs_name_in_passing_can_be_imported():
    """Nothing is traced, so no trace is running; event files are refused when they are made."""
    found = answers(
        "import torch\n"
        "from torch.utils.tensorboard.writer import FileWriter, SummaryWriter\n"
        "from torch.utils.tensorboard.summary import hparams\n"
        "from torch._guards import TracingContext, detect_fake_mode\n"
        "same = SummaryWriter is torch.utils.tensorboard.SummaryWriter\n"
        "said = []\n"
        "for refused in (SummaryWriter, FileWriter, hparams):\n"
        "    try:\n"
        "        refused()\n"
        "    except NotImplementedError as error:\n"
        "        said.append('event files' in str(error))\n"
        "print(json.dumps([same, said, torch._guards.active_fake_mode(), detect_fake_mode([]),\n"
        "                  TracingContext.try_get()]))"
    )
    assert found == [True, [True, True, True], None, None, None]


def test_functorch_comes_along():
    found = answers(
        "import torch\n"
        "from functorch import make_functional_with_buffers, make_functional, vmap, grad\n"
        "net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))\n"
        "f, params, buffers = make_functional_with_buffers(net)\n"
        "x = torch.ones(4, 2)\n"
        "same = torch.equal(f([p * 0 for p in params], buffers, x), torch.zeros(4, 3))\n"
        "g, weights = make_functional(net[0], disable_autograd_tracking=True)\n"
        "slope = grad(lambda w: g(w, x).sum())(weights)[1]\n"
        "print(json.dumps([same, slope.tolist(), weights[0].requires_grad]))"
    )
    assert found == [True, [4.0, 4.0, 4.0], False]


def test_tracebacks_are_those_of_the_program(tmp_path):
    (tmp_path / "program.py").write_text("import torch\n\ndef f():\n    torch.nothing\n\nf()\n")
    (tmp_path / "broken.py").write_text("def f(:\n")
    for arguments, places in (
        (["program.py"], ["program.py\", line 6", "program.py\", line 4"]),
        (["-m", "program"], ["program.py\", line 6", "program.py\", line 4"]),
        (["-c", "import torch\n1 / 0"], ['"<string>", line 2']),
        (["broken.py"], ["broken.py\", line 1"]),
    ):
        result = subprocess.run(
            [sys.executable, "-m", "facula.as_torch", *arguments],
            capture_output=True, text=True, env=environment(), cwd=tmp_path,
        )  # fmt: skip
        assert result.returncode == 1
        frames = [line for line in result.stderr.splitlines() if line.startswith("  File")]
        frames = [f for f in frames if "facula/__init__.py" not in f]  # where the name is missing
        assert len(frames) == len(places), result.stderr
        assert all(p in f for p, f in zip(places, frames, strict=True)), result.stderr
