"""Putting samples together into batches, and turning arrays into tensors."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from copy import copy
from typing import Any

import facula

__all__ = ["default_collate", "default_convert"]

_MESSAGE = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def _is_numpy(value: Any) -> bool:
    """Say whether a value is a NumPy array or scalar, without importing NumPy."""
    cls = type(value)
    return cls.__module__ == "numpy" and cls.__name__ not in ("str_", "bytes_", "string_")


def _refuses_text(value: Any) -> None:
    if value.dtype.kind in "SUaO":
        raise TypeError(_MESSAGE.format(value.dtype))


def _like(original: Any, items: list) -> Any:
    """Return the items as a sequence of the original's type where that can be built."""
    if hasattr(original, "_fields"):
        return type(original)(*items)
    try:
        if isinstance(original, MutableSequence):
            clone = copy(original)
            for i, item in enumerate(items):
                clone[i] = item
            return clone
        return type(original)(items)
    except TypeError:
        return items


def _mapping_like(first: Mapping, items: dict) -> Any:
    """Give the items in a mapping like `first`, or as they are where none can be made."""
    try:
        if isinstance(first, MutableMapping):
            clone = copy(first)
            clone.update(items)
            return clone
        return type(first)(items)  # type: ignore[call-arg]
    except TypeError:
        return items


def default_convert(data: Any) -> Any:
    """Turn NumPy arrays inside (nested) containers into tensors; leave all else alone."""
    if isinstance(data, facula.Tensor):
        return data
    if _is_numpy(data):
        if hasattr(data, "dtype") and data.dtype.kind in "SUaO":
            return data
        return facula.as_tensor(data)
    if isinstance(data, Mapping):
        return _mapping_like(data, {k: default_convert(v) for k, v in data.items()})
    if isinstance(data, tuple) and not hasattr(data, "_fields"):
        return [default_convert(d) for d in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like(data, [default_convert(d) for d in data])
    return data


def default_collate(batch: Any) -> Any:
    """Stack a list of samples into a batch.

    Tensors and arrays are stacked along a new first dimension, numbers become one tensor, text
    stays a list, and containers are collated field by field.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate_tensor_fn(batch: Any, *, collate_fn_map: dict | None = None) -> Any:
    """Stack tensors along a new first dimension."""
    return facula.stack(list(batch), 0)


def collate_float_fn(batch: Any, *, collate_fn_map: dict | None = None) -> Any:
    """Make a tensor of float64 of numbers."""
    return facula.tensor(batch, dtype=facula.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: dict | None = None) -> Any:
    """Make a tensor of integers."""
    return facula.tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: dict | None = None) -> Any:
    """Leave texts in their list."""
    return batch


default_collate_err_msg_format = _MESSAGE
np_str_obj_array_pattern = re.compile(r"[SaUO]")
#: What `default_collate` does with which type; programs may add types of their own.
default_collate_fn_map: dict[Any, Any] = {
    facula.Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def collate(batch: Any, *, collate_fn_map: dict | None = None) -> Any:
    """Collate as `default_collate` does; types of `collate_fn_map` have functions of their own."""
    first = batch[0]
    functions = collate_fn_map or {}
    if type(first) in functions:
        return functions[type(first)](batch, collate_fn_map=collate_fn_map)
    numpy = _is_numpy(first)
    for cls, function in functions.items():
        if isinstance(first, cls) and not (numpy and cls in (float, int, str, bytes)):
            return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, facula.Tensor):
        return facula.stack(list(batch), 0)
    if numpy:
        if hasattr(first, "shape") and first.shape == () and type(first).__name__ != "ndarray":
            return facula.as_tensor([b.item() for b in batch]).to(facula.as_tensor(first).dtype)
        _refuses_text(first)
        return facula.stack([facula.as_tensor(b) for b in batch], 0)
    if isinstance(first, float):
        return facula.tensor(batch, dtype=facula.float64)
    if isinstance(first, int):
        return facula.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _collate_mapping(batch, first, collate_fn_map)
    if isinstance(first, Sequence):
        return _collate_sequence(batch, first, collate_fn_map)
    raise TypeError(_MESSAGE.format(type(first)))


def _collate_mapping(batch: Any, first: Mapping, collate_fn_map: dict | None) -> Any:
    fields = {k: collate([d[k] for d in batch], collate_fn_map=collate_fn_map) for k in first}
    return _mapping_like(first, fields)


def _collate_sequence(batch: Any, first: Sequence, collate_fn_map: dict | None) -> Any:
    if any(len(sample) != len(first) for sample in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    columns = [
        collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=True)
    ]
    if isinstance(first, tuple) and not hasattr(first, "_fields"):
        return columns
    return _like(first, columns)
