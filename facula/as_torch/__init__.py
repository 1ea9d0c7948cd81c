"""Facula under the name of torch, for programs that are written for PyTorch.

`python -m facula.as_torch program.py args` runs a program, `facula.as_torch.install()` does the
same for the process that calls it: `import torch` and every submodule give Facula's modules,
`importlib.metadata.version("torch")` answers, classes are pickled under PyTorch's names, and
Python programs that are started from here do likewise. Nothing of this happens unasked.

Example:
    >>> import facula.as_torch
    >>> facula.as_torch.install()
    >>> import torch
    >>> torch.nn.Linear(2, 3).weight.shape
    torch.Size([3, 2])
"""

from __future__ import annotations

import os
import sys

from facula.as_torch.finder import AliasFinder
from facula.as_torch.version import VERSION

__all__ = ["VERSION", "install", "installed"]

#: Tells Python programs that are started from here to do the same; holds Facula's folder.
VARIABLE = "FACULA_AS_TORCH"
_CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child")
_finder: AliasFinder | None = None


def installed() -> bool:
    """Say whether `import torch` gives Facula in this process."""
    return _finder is not None


def install(children: bool = True) -> None:
    """Make `import torch` and its submodules give Facula; a second call does nothing.

    With `children`, Python programs that are started from this one do the same: this sets
    `FACULA_AS_TORCH` and puts a folder in front of `PYTHONPATH`. RuntimeError when PyTorch has
    been imported already.
    """
    global _finder
    if _finder is not None:
        return
    if "torch" in sys.modules:
        raise RuntimeError(
            "install: PyTorch has been imported already; call facula.as_torch.install() before"
        )
    _finder = AliasFinder()
    _finder.install()
    if children:
        _tell_children()


def _tell_children() -> None:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    os.environ[VARIABLE] = root
    paths = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and p != _CHILD]
    os.environ["PYTHONPATH"] = os.pathsep.join([_CHILD, *paths])
