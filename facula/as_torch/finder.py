"""The finder on sys.meta_path: torch.x is facula.x, and there is a distribution "torch".

Each module of Facula is known under both names from the moment when its loading starts. When it is
loaded, its classes and functions take PyTorch's names, so that pickles hold those.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

from facula.as_torch import version

_OURS, _THEIRS = "facula", "torch"


def theirs(name: str) -> str:
    """Return the torch name of a module of Facula."""
    return _THEIRS + name[len(_OURS) :]


def ours(name: str) -> str:
    """Return the Facula name of a module of torch."""
    return _OURS + name[len(_THEIRS) :]


def _below(name: str, root: str) -> bool:
    return name == root or name.startswith(root + ".")


def rename(module: types.ModuleType) -> None:
    """Let a module, and the classes and functions that it defines, say that they are torch's."""
    module.__name__ = theirs(module.__name__) if _below(module.__name__, _OURS) else module.__name__
    for value in list(vars(module).values()):
        if not isinstance(value, (type, types.FunctionType)):
            continue
        home = getattr(value, "__module__", None)
        if not isinstance(home, str) or not _below(home, _OURS) or _below(home, __package__):
            continue
        try:
            value.__module__ = theirs(home)
        except (TypeError, AttributeError):
            continue  # types of the compiled part that cannot be changed


class _Twin:
    """The loader of torch.x: the module facula.x, which keeps its own loader and specification."""

    def create_module(self, spec: Any) -> types.ModuleType:
        module = importlib.import_module(ours(spec.name))
        self._spec = module.__spec__
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        module.__spec__ = self._spec


class _Given:
    """The loader of a part of the compiled module, which is there already."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def create_module(self, spec: Any) -> types.ModuleType:
        return self._module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


class AliasFinder:
    """Finds torch.* as facula.*, and sees to the names of Facula's modules as they are loaded."""

    def install(self) -> None:
        """Take effect for all modules that are loaded and for those to come."""
        for name, module in list(sys.modules.items()):
            if _below(name, _OURS) and not _below(name, __package__):
                sys.modules[theirs(name)] = module
                rename(module)
        self._speak(sys.modules[_OURS])
        sys.meta_path.insert(0, self)  # type: ignore[arg-type]
        importlib.invalidate_caches()

    @staticmethod
    def _speak(facula: Any) -> None:
        from facula.torch_version import TorchVersion

        facula.__version__ = TorchVersion(version.VERSION)
        facula.torch = facula
        facula._C._set_package_name(_THEIRS)
        numbers = sys.modules["facula.version"]
        numbers.facula = numbers.__version__  # type: ignore[attr-defined]
        numbers.__version__ = numbers.version = version.VERSION  # type: ignore[attr-defined]
        if not hasattr(facula._C, "__path__"):
            facula._C.__path__ = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> Any:
        """Return the specification of torch.x, or of facula.x with an eye on its names."""
        if _below(fullname, _THEIRS):
            return self._twin_of(fullname)
        if fullname == "functorch":
            package = importlib.import_module(_OURS + "._functorch.package")
            return importlib.machinery.ModuleSpec(fullname, _Given(package))
        if _below(fullname, _OURS) and not _below(fullname, __package__):
            return self._watched(fullname, path, target)
        return None

    @staticmethod
    def _twin_of(fullname: str) -> Any:
        if _below(ours(fullname), __package__):
            return None
        parent, _, name = fullname.rpartition(".")
        if parent == _THEIRS + "._C":
            made = getattr(sys.modules[_OURS]._C, name, None)
            if not isinstance(made, types.ModuleType):
                return None
            return importlib.machinery.ModuleSpec(fullname, _Given(made))
        try:
            spec = importlib.util.find_spec(ours(fullname))
        except (ModuleNotFoundError, ValueError):
            spec = None
        if spec is None:
            return None
        twin = importlib.machinery.ModuleSpec(fullname, _Twin(), origin=spec.origin)  # type: ignore
        twin.submodule_search_locations = spec.submodule_search_locations
        return twin

    def _watched(self, fullname: str, path: Any, target: Any) -> Any:
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                break
        else:
            return None
        loader = spec.loader
        execute = getattr(loader, "exec_module", None)
        if execute is None:
            return spec

        def exec_module(module: types.ModuleType) -> None:
            twin = theirs(fullname)
            sys.modules[twin] = module
            try:
                execute(module)
            except BaseException:
                sys.modules.pop(twin, None)
                raise
            rename(module)
            parent, _, child = twin.rpartition(".")
            if parent in sys.modules:
                setattr(sys.modules[parent], child, module)

        try:
            loader.exec_module = exec_module
        except AttributeError:
            pass  # a loader without a dictionary: the module keeps the names it has
        return spec

    def find_distributions(self, context: Any = None) -> Iterator[Any]:
        """Give the distribution "torch" when it, or every distribution, is asked for."""
        if context is None or context.name is None or context.name.lower() == _THEIRS:
            yield version.distribution()
