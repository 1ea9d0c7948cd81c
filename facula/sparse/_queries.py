"""Questions to sparse tensors: where they are, what they hold, one value; and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import facula
from facula import _C
from facula.sparse._table import TABLE, entry
from facula.sparse._tensor import SparseTensor, parts


@entry("cpu")
def _cpu(input: SparseTensor, *args: Any, **kwargs: Any) -> SparseTensor:
    return input


@entry("cuda")
def _cuda(input: SparseTensor, *args: Any, **kwargs: Any) -> SparseTensor:
    facula.empty(0).cuda(*args, **kwargs)
    return input


@entry("is_contiguous")
def _is_contiguous(input: SparseTensor, *args: Any, **kwargs: Any) -> bool:
    if not parts(input).is_coo:
        raise RuntimeError("Tensors of type SparseCsrTensorImpl do not have is_contiguous")
    return False


@entry("is_pinned", "is_shared", "is_distributed", "is_conj", "is_neg", "_is_view", "is_set_to")
def _false(*args: Any, **kwargs: Any) -> bool:
    return False


@entry("is_nonzero", "item", "__index__", "__complex__")
def _one_value(input: SparseTensor) -> Any:
    if input.numel() != 1:
        raise RuntimeError(f"a Tensor with {input.numel()} elements cannot be converted to Scalar")
    return _C._sparse_dense(input).item()


for _name, _question in {
    "is_floating_point": lambda t: t.dtype.is_floating_point,
    "is_complex": lambda t: t.dtype.is_complex,
    "is_signed": lambda t: t.dtype.is_signed,
    "is_inference": lambda t: parts(t).values.is_inference(),
    "numel": lambda t: math.prod(t.shape),
    "nelement": lambda t: math.prod(t.shape),
}.items():
    TABLE[_name] = _question


def _item_like(kind: type, error: type[Exception], message: str) -> Callable:
    def convert(input: SparseTensor) -> Any:
        if input.numel() != 1:
            raise error(message)
        return kind(_one_value(input))

    return convert


TABLE["__bool__"] = _item_like(
    bool, RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"
)
_ONE = "only one element tensors can be converted to Python scalars"
TABLE["__float__"] = _item_like(float, ValueError, _ONE)
TABLE["__int__"] = _item_like(int, ValueError, _ONE)


def _refusal(error: type[Exception], message: str) -> Callable:
    def raise_it(*args: Any, **kwargs: Any) -> Any:
        raise error(message)

    return raise_it


_TO_NUMPY = "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first."
for _names, _error, _text in (
    ("numpy __array__", TypeError, _TO_NUMPY),
    (
        "reshape flatten view_as reshape_as",
        RuntimeError,
        "reshape is not implemented for sparse tensors",
    ),
    ("expand expand_as", RuntimeError, "expand is unsupported for Sparse tensors"),
    (
        "data_ptr tolist",
        RuntimeError,
        "Cannot access data pointer of Tensor that doesn't have storage",
    ),
    (
        "storage untyped_storage typed_storage set_ share_memory_",
        NotImplementedError,
        "Cannot access storage of a sparse tensor",
    ),
    ("__dlpack__", BufferError, "Can't export sparse tensors"),
):
    for _name in _names.split():
        TABLE[_name] = _refusal(_error, _text)


@entry("backward")
def _backward(
    input: SparseTensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    facula.autograd.backward(input, gradient, retain_graph, create_graph, inputs=inputs)
