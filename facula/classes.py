"""Classes of TorchScript libraries: none can be loaded."""

from facula import _absent

_absent.add_absent(
    globals(),
    "load_library",
    "",
    "TorchScript libraries are not loaded",
)


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _Namespace(name)


class _Namespace:
    """The classes of one library: there are none."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(
            f"Tried to instantiate class '{self._name}.{name}', but it does not exist! Ensure "
            "that it is registered via torch::class_"
        )
