"""Errors of the code generator, for `except`: none of them is raised."""


class InductorError(RuntimeError):
    """The base of the code generator's errors."""


class CppCompileError(InductorError):
    """An error of the C++ compiler."""
