"""Submodules that a package imports when they are first named, as `package.submodule`."""

from __future__ import annotations

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

__all__ = ["lazy_submodules"]


def lazy_submodules(package: str, names: str) -> Callable[[str], ModuleType]:
    """Return the `__getattr__` of a package; `names` are those of its submodules, with blanks.

    Example:
        >>> __getattr__ = lazy_submodules("facula.testing", "_internal")
        >>> __getattr__("_internal").__name__
        'facula.testing._internal'
    """
    known = frozenset(names.split())

    def __getattr__(name: str) -> ModuleType:
        if name in known:
            import importlib

            return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return __getattr__
