"""Grouping tensors by device and type, for functions over lists of tensors."""

from __future__ import annotations

from typing import Any

__all__ = ["_group_tensors_by_device_and_dtype"]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list[Any]], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]]:
    """Split parallel lists by the device and dtype of the tensors in the first one."""
    groups: dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]] = {}
    for i, row in enumerate(zip(*tensorlistlist, strict=True)):
        key = (row[0].device, row[0].dtype)
        lists, indices = groups.setdefault(key, ([[] for _ in tensorlistlist], []))
        for column, value in zip(lists, row, strict=True):
            column.append(value)
        if with_indices:
            indices.append(i)
    return groups


def _get_foreach_kernels_supported_devices() -> list[str]:
    return ["cpu"]


def _has_foreach_support(tensors: Any, device: Any) -> bool:
    return True
