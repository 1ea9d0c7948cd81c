"""Comparing what a program gave with what was recorded: a list of differences."""

from __future__ import annotations

import math
from typing import Any

# Sums in another order differ in the last bits, and training steps enlarge that.
RELATIVE, ABSOLUTE = 2e-3, 2e-4


def differences(found: Any, recorded: Any, where: str = "") -> list[str]:
    """Return where two nests of dicts, lists, texts and numbers differ; floats nearly equal."""
    if isinstance(recorded, bool) or recorded is None or isinstance(recorded, str):
        same = found == recorded
        return [] if same else [f"{where}: {found!r}, recorded {recorded!r}"]
    if isinstance(recorded, dict):
        if not isinstance(found, dict) or found.keys() != recorded.keys():
            return [f"{where}: {found!r}, recorded {sorted(recorded)}"]
        return [d for k in recorded for d in differences(found[k], recorded[k], f"{where}.{k}")]
    if isinstance(recorded, list):
        if not isinstance(found, list) or len(found) != len(recorded):
            return [f"{where}: {found!r}, recorded {recorded!r}"]
        return [
            d
            for i, (f, r) in enumerate(zip(found, recorded, strict=True))
            for d in differences(f, r, f"{where}[{i}]")
        ]
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return [f"{where}: {found!r}, recorded {recorded!r}"]
    if isinstance(recorded, int) and isinstance(found, int):
        return [] if found == recorded else [f"{where}: {found}, recorded {recorded}"]
    if math.isclose(found, recorded, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
        return []
    if math.isnan(found) and math.isnan(recorded):
        return []
    return [f"{where}: {found}, recorded {recorded}"]
