"""Names below the ahead-of-time compiler."""

from facula._submodules import lazy_submodules

__getattr__ = lazy_submodules(__name__, "config vmap")
