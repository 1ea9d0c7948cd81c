"""The version of the package, read from version.txt, the one place where it is written."""

import os.path

with open(os.path.join(os.path.dirname(__file__), "version.txt")) as _file:
    __version__ = _file.read().strip()
version = __version__
cuda = None
git_version = "unknown"
hip = None
debug = False
