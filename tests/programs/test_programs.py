"""Programs written for PyTorch, run unmodified on Facula through the alias.

Outputs, losses of training steps and weights afterwards are compared with values recorded from
PyTorch 2.15. `examples` needs NumPy alone; `libraries` needs the packages of requirements.txt,
which are installed without their dependencies into build/programs. Without a network these are
skipped.
"""

import json
import os
import subprocess
import sys

import pytest
from compare import differences
from packages import HERE, ROOT, site_packages

RECORDED = os.path.join(HERE, "recorded")
_results = {}


def groups():
    """Folder, group and name of each program; the programs of a group stay in one process."""
    found = []
    for folder in ("examples", "libraries"):
        for name in sorted(os.listdir(os.path.join(HERE, folder))):
            group, ext = os.path.splitext(name)
            if ext == ".py":
                with open(os.path.join(RECORDED, group + ".json")) as file:
                    for program in json.load(file):
                        mark = pytest.mark.xdist_group(group)
                        name = f"{group}-{program}"
                        found.append(pytest.param(folder, group, program, marks=mark, id=name))
    return found


def results(folder, group, tmp_path_factory):
    """What the programs of a group give; the group runs once, in an interpreter of its own."""
    if group not in _results:
        paths = [ROOT]
        if folder == "libraries":
            site, reason = site_packages()
            if site is None:
                pytest.skip(f"LIBRARIES NOT TESTED: {reason}")
            paths.append(site)
        out = tmp_path_factory.mktemp(group) / "values.json"
        command = [sys.executable, "-m", "facula.as_torch", os.path.join(HERE, "run.py"), group]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        environment.pop("FACULA_AS_TORCH", None)
        done = subprocess.run(
            [*command, "--out", str(out)], env=environment, capture_output=True, text=True,
            timeout=900,
        )  # fmt: skip
        if done.returncode != 0:
            text = f"{group} ended with {done.returncode}:\n{done.stderr[-3000:]}"
            _results[group] = {None: text}
        else:
            _results[group] = json.loads(out.read_text())
    return _results[group]


@pytest.mark.parametrize(("folder", "group", "program"), groups())
def test_same_values_as_pytorch(folder, group, program, tmp_path_factory):
    found = results(folder, group, tmp_path_factory)
    assert None not in found, found[None]
    assert "error" not in found[program], found[program]["error"]
    with open(os.path.join(RECORDED, group + ".json")) as file:
        recorded = json.load(file)[program]["values"]
    wrong = differences(found[program]["values"], recorded)
    assert not wrong, "\n".join(wrong[:10])
