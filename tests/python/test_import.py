"""What `import facula` costs: modules, memory, time; and that lazy names are there."""

import json
import subprocess
import sys

import pytest

import facula

PROGRAM = """
import sys, time, json
before = len(sys.modules)
start = time.process_time()  # what the import costs, not how busy the machine is
import facula
spent = time.process_time() - start
status = open("/proc/self/status").read()
rss = int(status.split("VmRSS:")[1].split()[0]) / 1024
print(json.dumps([len(sys.modules), rss, spent, "numpy" in sys.modules]))
"""


def measure():
    command = [sys.executable, "-c", PROGRAM]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


@pytest.mark.costs
def test_budget():
    runs = [measure() for _ in range(5)]
    modules, rss, _, has_numpy = runs[0]
    assert modules <= 250
    assert rss <= 60
    assert min(run[2] for run in runs) <= 0.15
    assert not has_numpy


REACHED = """
import facula, importlib
for name in "datasets nn.grad nn.common_types nn.quantized nn.parallel.scatter_gather utils.weak \
        utils.data._utils.collate utils.data.datapipes.iter ao.quantization.observer \
        fx.experimental.proxy_tensor testing._internal distributed.algorithms.join".split():
    found = facula
    for part in name.split("."):
        found = getattr(found, part)
    assert found is importlib.import_module("facula." + name), name
assert callable(facula.nn.parallel.replicate) and callable(facula.nn.parallel.data_parallel)
assert facula.nn.DataParallel is facula.nn.parallel.DataParallel
for package in (facula.nn, facula.testing, facula.utils):
    assert not hasattr(package, "nothing")
"""


def test_submodules_are_reached_through_their_packages():
    subprocess.run([sys.executable, "-c", REACHED], check=True)


def test_lazy_names():
    assert facula.nn.Module and facula.autograd.Function and facula.linalg and facula.random
    assert "nn" in dir(facula)
    assert not hasattr(facula, "no_such_name")


def test_version():
    assert facula.__version__ == facula.version.__version__


NAMES = """
import importlib, pkgutil, warnings
import facula

warnings.simplefilter("ignore")
missing, seen = [], 0
def walk(path):
    yield path
    module = importlib.import_module(path)
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if not found.name.startswith("_"):
            yield from walk(path + "." + found.name)
for path in walk("facula"):
    module = importlib.import_module(path)
    for name in {*dir(module), *getattr(module, "__all__", ())}:
        seen += 1
        try:
            getattr(module, name)
        except AttributeError as error:
            missing.append(f"{path}.{name}: {error}")
assert seen > 5000, seen
assert not missing, missing
"""


def test_every_name_that_is_listed_is_there():
    subprocess.run([sys.executable, "-c", NAMES], check=True)
