"""From what the recorder noted to the events of a profile: names, shapes and operation counts.

Operators are named as PyTorch names them, `aten::addmm`; a row of Facula's table that has no
counterpart there goes by its own name.
"""

from __future__ import annotations

import threading
from math import prod
from typing import Any

import facula
from facula.autograd.profiler_util import FunctionEvent

__all__ = ["events_of", "operator_name"]

# What the recorder notes (src/facula/python/trace_recorder.cpp).
OPERATOR, EVALUATE, NODE, FUNCTION, BLOCK, MEMORY = range(6)
_VALUE, _TENSOR, _TENSORS = range(3)
# PyTorch's numbers of scopes.
_SCOPES = {OPERATOR: 0, EVALUATE: 1, NODE: 1, FUNCTION: 0, BLOCK: 7, MEMORY: 0}

# record_function is not where a block was called.
_OWN = f"{facula.autograd.__path__[0]}/profiler.py("

# Rows that go by the name of another operator, where facula.utils._dispatch_classes has no entry.
_NAMES = {
    "cast": "_to_copy",
    "to_device": "_to_copy",
    "narrow": "narrow",
    "square_number": "pow",
    "gelu_erf": "gelu",
    "gelu_tanh": "gelu",
    "linear_input_grad": "mm",
    "linear_weight_grad": "mm",
    "squeeze_dims": "squeeze",
    "attend": "scaled_dot_product_attention",
}
_CPP_TYPES = {
    "float32": "float",
    "float64": "double",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "int64": "long",
    "int32": "int",
    "int16": "short",
    "int8": "signed char",
    "uint8": "unsigned char",
    "bool": "bool",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def operator_name(row: str, tensors: int = 0) -> str:
    """Name the operator that a row of the table stands for, without "aten::".

    Args:
        row: the name of the row.
        tensors: bit mask of the arguments that were tensors.
    """
    from facula.utils._dispatch_classes import _RENAMED

    if row == "linear_product":
        return "addmm" if tensors & 4 else "mm"
    if row in _NAMES:
        return _NAMES[row]
    if row in _RENAMED:
        return _RENAMED[row][0]
    base = row.removesuffix("_")
    if base != row and base in _RENAMED:
        return _RENAMED[base][0] + "_"
    return row


def _event_name(kind: int, name: str, tensors: int) -> str:
    if kind == OPERATOR:
        return name if "::" in name else f"aten::{operator_name(name, tensors)}"
    if kind in (EVALUATE, NODE):
        if name == "AccumulateGrad":
            name = "torch::autograd::AccumulateGrad"
        return f"autograd::engine::evaluate_function: {name}" if kind == EVALUATE else name
    return name


def _ordered(row: str, inputs: list) -> list:
    """Give the inputs in the order of the operator that the row stands for."""
    if row != "linear_product":
        return inputs
    x, weight, bias = inputs
    sizes, strides, dtype = weight[1]
    weight = (_TENSOR, (sizes[::-1], strides[::-1], dtype))
    return [x, weight] if bias[0] != _TENSOR else [bias, x, weight]


def _shapes(inputs: list, place: int) -> list:
    """Give sizes (place 0) or strides (place 1) for each input: a list of lists for lists."""
    found = []
    for kind, what in inputs:
        if kind == _TENSORS:
            found.append([note[place] for note in what])
        else:
            found.append(what[place] if kind == _TENSOR else [])
    return found


def _dtype(kind: int, what: Any) -> str:
    if kind == _TENSOR:
        name = str(what[2]).rpartition(".")[2]
        return _CPP_TYPES.get(name, name)
    if kind == _TENSORS:
        return "TensorList"
    return "" if what is None else "ScalarList" if isinstance(what, list) else "Scalar"


def _flops(name: str, inputs: list, shapes: list, results: list) -> int:
    """Count the floating-point operations of products, convolutions, sums and products of elements.

    `shapes` are those of the inputs in the operator's order; other operators count as none.
    """
    name = name.removeprefix("aten::")
    if name in ("mm", "bmm") and len(shapes) > 1:
        return 2 * prod(shapes[0]) * shapes[1][-1]
    if name in ("addmm", "baddbmm") and len(shapes) > 2:
        return 2 * prod(shapes[1]) * shapes[2][-1]
    if name in ("mul", "add") and shapes:
        return prod(shapes[0]) if shapes[0] else 0
    if name == "convolution" and results:
        transposed = inputs[6][1]
        places = shapes[0] if transposed else results[0][0]
        return 2 * prod(places) * prod(shapes[1][1:])
    return 0


def events_of(
    raw: list, *, shapes: bool, flops: bool, memory: bool, stacks: bool
) -> list[FunctionEvent]:
    """Make the events of a profile.

    Args:
        raw: what `_C._profiler_stop` gave.
        shapes: keep the shapes of inputs.
        flops: count floating-point operations.
        memory: keep what memory was freed between operators.
        stacks: keep stacks. What was not asked for may be there for another profile.
    """
    thread = threading.get_native_id()
    origin = raw[0][2] if raw else 0
    events = []
    for number, noted in enumerate(raw):
        kind, name, begin, end, bytes_, sequence, tensors, inputs, results, stack = noted
        if kind == MEMORY and not memory:
            continue
        shown = _event_name(kind, name, tensors)
        if kind == OPERATOR and inputs:
            inputs = _ordered(name, inputs)
        sizes = _shapes(inputs, 0)
        is_step = kind == BLOCK and name.startswith("ProfilerStep#")
        event = FunctionEvent(
            number + 1,
            "ProfilerStep*" if is_step else shown,
            thread,
            (begin - origin) / 1000,
            (end - origin) / 1000,
            trace_name=None if kind == MEMORY else shown,
            fwd_thread=thread if kind in (EVALUATE, NODE) else 0,
            scope=_SCOPES[kind],
            cpu_memory_usage=bytes_ if memory else 0,
            sequence_nr=-1 if name == "AccumulateGrad" else sequence,
            is_user_annotation=kind == BLOCK,
            stack=[f for f in stack or () if not f.startswith(_OWN)] if stacks else [],
        )
        if shapes:
            flat = [[] if k == _TENSORS else s for (k, _), s in zip(inputs, sizes, strict=True)]
            event.input_shapes, event.structured_input_shapes = flat, sizes
            event.structured_input_strides = _shapes(inputs, 1)
            event.input_dtypes = [_dtype(*i) for i in inputs]
            event.concrete_inputs = [w if k == _VALUE else None for k, w in inputs]
        if flops and kind == OPERATOR:
            event.flops = _flops(shown, inputs, sizes, results)
        events.append(event)
    return events
