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


def test_lazy_names():
    assert facula.nn.Module and facula.autograd.Function and facula.linalg and facula.random
    assert "nn" in dir(facula)
    assert not hasattr(facula, "no_such_name")


def test_version():
    assert facula.__version__ == facula.version.__version__
