"""Steps of a chain over data: classes whose methods make the next step."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from facula.utils.data.dataset import Dataset, IterableDataset

__all__ = ["DFIterDataPipe", "IterDataPipe", "MapDataPipe", "functional_datapipe"]


class _Chained:
    """What both kinds have: functions that were registered for the kind are its methods."""

    functions: dict[str, Callable] = {}

    def __getattr__(self, name: str) -> Any:
        function = type(self).functions.get(name)
        if function is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return functools.partial(function, self)

    @classmethod
    def register_function(cls, function_name: str, function: Callable) -> None:
        """Make a function a method."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(
        cls, function_name: str, cls_to_register: type, enable_df_api_tracing: bool = False
    ) -> None:
        """Make a class a method that makes the next step."""
        if function_name in cls.functions:
            raise Exception(
                f"Unable to add DataPipe function name {function_name} as it is already taken"
            )
        cls.functions[function_name] = cls_to_register


class IterDataPipe(_Chained, IterableDataset):
    """A step over a stream; subclasses define `__iter__`."""

    functions: dict[str, Callable] = {}


class DFIterDataPipe(IterDataPipe):
    """A step over a stream of tables."""


class MapDataPipe(_Chained, Dataset):
    """A step over data found by key; subclasses define `__getitem__`."""

    functions: dict[str, Callable] = {}


class functional_datapipe:
    """A decorator that makes a class of steps a method of all steps of its kind."""

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name = name

    def __call__(self, cls: Any) -> Any:
        """Register a class and return it."""
        if not isinstance(cls, type) or not issubclass(cls, (IterDataPipe, MapDataPipe)):
            raise TypeError("`functional_datapipe` can only decorate IterDataPipe or MapDataPipe")
        kind = IterDataPipe if issubclass(cls, IterDataPipe) else MapDataPipe
        kind.register_datapipe_as_function(self.name, cls)
        return cls
