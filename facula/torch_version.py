"""TorchVersion: a version text that compares as a version, with texts, tuples and its like."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["TorchVersion"]

_PATTERN = re.compile(
    r"v?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>alpha|beta|preview|pre|rc|a|b|c)[-_.]?(?P<pre_n>\d*))?"
    r"(?:[-_.]?(?:post|rev|r)[-_.]?(?P<post>\d*))?"
    r"(?:[-_.]?(?P<dev>dev)[-_.]?(?P<dev_n>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?",
    re.IGNORECASE,
)
_STAGES = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}


def _key(text: str) -> tuple | None:
    """Return what orders a version: release, stage, local parts. None if it is no version."""
    found = _PATTERN.fullmatch(text.strip())
    if found is None:
        return None
    release = [int(part) for part in found["release"].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    if found["pre"]:
        stage: tuple = (0, _STAGES.get(found["pre"].lower(), found["pre"].lower()))
        stage += (int(found["pre_n"] or 0),)
    elif found["dev"] and found["post"] is None:
        stage = (-1, "", 0)  # a development version without a stage comes before all stages
    else:
        stage = (1, "", 0)
    post = -1 if found["post"] is None else int(found["post"] or 0)
    dev = (0, int(found["dev_n"] or 0)) if found["dev"] else (1, 0)
    parts = re.split(r"[-_.]", found["local"].lower()) if found["local"] else []
    local = tuple((1, int(p), "") if p.isdigit() else (0, 0, p) for p in parts)
    return tuple(release), stage, post, dev, local


class TorchVersion(str):
    """A version text: `TorchVersion("2.15.0") >= "2.8"` and `>= (2, 8)` are true.

    Compared with a text that is no version it is ordered as a text.
    """

    __slots__ = ()

    def _pair(self, other: Any) -> tuple[Any, Any] | None:
        if isinstance(other, (tuple, list)):
            other = ".".join(str(part) for part in other)
        elif not isinstance(other, str):
            if not hasattr(other, "release"):
                return None
            other = str(other)
        mine, theirs = _key(str(self)), _key(str(other))
        if mine is None or theirs is None:
            return str(self), str(other)
        return mine, theirs

    def __lt__(self, other: Any) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else pair[0] < pair[1]

    def __le__(self, other: Any) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else pair[0] <= pair[1]

    def __gt__(self, other: Any) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else pair[0] > pair[1]

    def __ge__(self, other: Any) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else pair[0] >= pair[1]

    def __eq__(self, other: Any) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else pair[0] == pair[1]

    def __ne__(self, other: Any) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else pair[0] != pair[1]

    def __hash__(self) -> int:
        return str.__hash__(self)
