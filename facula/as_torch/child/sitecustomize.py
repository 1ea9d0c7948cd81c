"""Runs when a Python program is started by one that runs Facula as torch: waits for the import.

Python imports this by name from PYTHONPATH. Facula itself is loaded only when torch is wanted. The
sitecustomize that this one hides, if any, is run afterwards.
"""

import os
import sys


class _Waiting:
    """Installs the alias when torch, or what is known about its distribution, is asked for."""

    def _install(self):
        """Say whether it worked: another Python may not be able to load Facula."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        root = os.environ["FACULA_AS_TORCH"]
        if root not in sys.path:
            sys.path.append(root)
        try:
            import facula.as_torch
        except ImportError:
            return False
        facula.as_torch.install()
        return True

    def find_spec(self, fullname, path=None, target=None):
        if fullname == "facula.as_torch":
            sys.meta_path.remove(self)
        elif fullname == "torch":
            if self._install():
                return sys.meta_path[0].find_spec(fullname, path, target)
        return None

    def find_distributions(self, context=None):
        name = getattr(context, "name", None)
        if (name is None or name.lower() == "torch") and self._install():
            return sys.meta_path[0].find_distributions(context)
        return iter(())


def _run_hidden():
    import importlib.machinery
    import importlib.util

    here = os.path.dirname(os.path.abspath(__file__))
    rest = [p for p in sys.path if os.path.abspath(p or os.getcwd()) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get("FACULA_AS_TORCH"):
    sys.meta_path.insert(0, _Waiting())
_run_hidden()
