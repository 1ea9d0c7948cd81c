"""Whether the program imports torch and gets Facula, which some answers depend on."""

from __future__ import annotations

import sys

__all__ = ["under_alias"]


def under_alias() -> bool:
    """Say so without importing `facula.as_torch`, which programs that do not use it never load."""
    alias = sys.modules.get("facula.as_torch")
    return alias is not None and alias.installed()
