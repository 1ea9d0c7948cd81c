"""What PyTorch has and Facula does not have (yet): names that exist and say so when they are used.

Programs touch many names merely by being imported, as decorators, base classes or in annotations.
Those must exist. What they promise is not pretended: a call raises NotImplementedError with the
name. `once` is for calls that are answered in another way than they promise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from facula import _C

__all__ = ["absent_class", "absent_function", "add_absent", "missing", "once", "once_in_words"]


def missing(name: str, why: str = "") -> NotImplementedError:
    """Return the error that says that `name` is not built."""
    reason = f": {why}" if why else ""
    return NotImplementedError(_C._package_words(f"{name} is not built in Facula{reason}"))


def absent_function(name: str, why: str = "") -> Callable[..., Any]:
    """Return a function that raises NotImplementedError when it is called."""

    def absent(*args: Any, **kwargs: Any) -> Any:
        raise missing(name, why)

    home, _, short = name.rpartition(".")
    absent.__name__ = absent.__qualname__ = short
    absent.__module__ = home
    absent.__doc__ = f"Not built{': ' + why if why else ''}. Calling it raises NotImplementedError."
    return absent


class _AbsentType(type):
    """The type of classes that can be named, subclassed and asked about, but not made."""

    _absent_name: str
    _absent_why: str

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        return _Part(f"{cls._absent_name}.{name}", cls._absent_why)


class _Part:
    """A member of an absent class: it can be named and compared, calling it raises."""

    def __init__(self, name: str, why: str) -> None:
        self._name, self._why = name, why

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise missing(self._name, self._why)

    def __repr__(self) -> str:
        return f"<{self._name}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Part) and self._name == other._name

    def __hash__(self) -> int:
        return hash(self._name)


def absent_class(name: str, why: str = "", bases: tuple[type, ...] = ()) -> Any:
    """Return a class for isinstance(), annotations and subclasses; making one raises.

    Its other members, such as those of an enumeration, exist as names.
    """

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise missing(name, why)

    home, _, short = name.rpartition(".")
    members: dict[str, Any] = {
        "__init__": refuse,
        "__module__": home,
        "__doc__": f"Not built{': ' + why if why else ''}. Making one raises NotImplementedError.",
        "_absent_name": name,
        "_absent_why": why,
        "__class_getitem__": classmethod(lambda cls, item: cls),
    }
    metas = {type(base) for base in bases} - {type, _AbsentType}
    meta = type("_AbsentType", (_AbsentType, *metas), {}) if metas else _AbsentType
    return meta(short, bases, members)


def add_absent(namespace: dict[str, Any], functions: str, classes: str = "", why: str = "") -> None:
    """Put absent functions and classes, named in texts, into a module's namespace."""
    home = namespace["__name__"]
    for name in functions.split():
        namespace.setdefault(name, absent_function(f"{home}.{name}", why))
    for name in classes.split():
        namespace.setdefault(name, absent_class(f"{home}.{name}", why))


_said: set[str] = set()


def once(name: str, text: str) -> None:
    """Warn, the first time only and at the point of use, how a call is answered instead.

    After `set_warn_always(True)` every call warns.
    """
    once_in_words(f"{name}: {text}")


def once_in_words(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn as `once` does, of what the whole text says."""
    text = _C._package_words(text)
    if text in _said:
        from facula import _functions

        if not _functions._warn_always:
            return
    _said.add(text)
    import os
    import sys
    import warnings

    here = os.path.dirname(os.path.abspath(__file__)) + os.sep
    level, frame = 1, sys._getframe(0)
    while frame is not None and frame.f_code.co_filename.startswith(here):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(text, category, stacklevel=level)
