"""Communication around training: not built."""

from facula._submodules import lazy_submodules

__getattr__ = lazy_submodules(__name__, "join")
