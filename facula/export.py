"""Names of whole-program export: not built."""

from __future__ import annotations

from typing import Any

from facula import _absent

__all__ = ["Dim", "ExportedProgram", "export", "load", "register_dataclass", "save"]

_WHY = "programs are not captured"
export = _absent.absent_function("facula.export.export", _WHY)
load = _absent.absent_function("facula.export.load", _WHY)
save = _absent.absent_function("facula.export.save", _WHY)
ExportedProgram = _absent.absent_class("facula.export.ExportedProgram", _WHY)


class Dim:
    """The name, and the bounds, of a size that may differ from call to call."""

    AUTO = "auto"
    STATIC = "static"
    DYNAMIC = "dynamic"

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.__name__, self.min, self.max = name, min, max


def register_dataclass(cls: type, **kwargs: Any) -> None:
    """Let trees of values be taken apart at the fields of a dataclass."""
    from facula.utils._pytree import register_dataclass as register

    register(cls, **kwargs)
