"""Errors of the compiler, for `except`: none of them is raised."""


class TorchDynamoException(RuntimeError):
    """The base of the compiler's errors."""


class TorchRuntimeError(TorchDynamoException):
    """An error of a program while it is captured."""


class BackendCompilerFailed(TorchDynamoException):
    """An error of a backend."""


class Unsupported(TorchDynamoException):
    """A program that cannot be captured."""


class InternalTorchDynamoError(TorchDynamoException):
    """An error of the compiler itself."""


class TensorifyScalarRestartAnalysis(TorchDynamoException):
    """A capture that has to begin again."""
