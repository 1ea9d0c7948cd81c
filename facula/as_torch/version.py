"""The version that Facula reports under the name of torch: the one whose interface it speaks."""

from __future__ import annotations

#: Libraries accept from 2.0 to 2.14 at least; the part behind the plus says who answers.
VERSION = "2.15.0+facula"

_METADATA = f"""Metadata-Version: 2.1
Name: torch
Version: {VERSION}
Summary: Facula, answering under the name of torch
"""
_FILES = {
    "METADATA": _METADATA,
    "PKG-INFO": _METADATA,
    "top_level.txt": "torch\n",
    "RECORD": "torch/__init__.py,,\n",
    "INSTALLER": "facula\n",
}


def distribution() -> object:
    """Return what importlib.metadata knows about the distribution "torch"."""
    from importlib import metadata

    class AliasDistribution(metadata.Distribution):
        """The distribution "torch", which has no files of its own."""

        def read_text(self, filename: str) -> str | None:
            return _FILES.get(filename)

        def locate_file(self, path: object) -> object:
            import os.path
            from pathlib import Path

            import facula

            return Path(os.path.dirname(os.path.dirname(facula.__file__))) / str(path)

    return AliasDistribution()
