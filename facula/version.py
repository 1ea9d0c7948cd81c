"""The version of the package, read from version.txt, the one place where it is written."""

from pathlib import Path

__version__ = (Path(__file__).parent / "version.txt").read_text().strip()
version = __version__
cuda = None
hip = None
debug = False
