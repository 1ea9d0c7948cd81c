"""Names of PyTorch's first interface for custom operators; `facula.library` is the one to use."""

from facula.library import custom_op, impl, impl_abstract

__all__ = ["custom_op", "impl", "impl_abstract"]
