"""What may come of a call: a value that can be read and differentiated, or a clear exception."""

from __future__ import annotations

import math
import re
import traceback
from typing import Any

import facula
from fuzzing.specs import Call, built
from fuzzing.targets import function

ALLOWED = (
    TypeError, ValueError, IndexError, RuntimeError, NotImplementedError, OverflowError,
    MemoryError, ZeroDivisionError, BufferError,
)
# Words that say that an error comes from within and is not about the arguments.
INNER = re.compile(
    r"internal|assert(?!_\w+\(\))|std::|vector::|basic_string|bad_alloc|unreachable|SystemError|"
    r"unpack_sequence|returned NULL|without setting an exception",
    re.IGNORECASE,
)
READ = 64  # elements of a result that are read one by one
MANY = 10_000  # tensors of a result that are looked at


MISSING = re.compile(r"(?:type object )?'(?:[\w.]*\.)?(\w+)'(?: object)? has no attribute '\w+'$")


def kinds_of(values: Any, depth: int = 3) -> set[str]:
    """The names of the types of arguments, nested ones too."""
    items = list(values.values()) if isinstance(values, dict) else values
    found = {type(v).__name__ for v in items} | {v.__name__ for v in items if type(v) is type}
    for v in items:
        if isinstance(v, (list, tuple, dict)) and depth:
            found |= kinds_of(v, depth - 1)
    return found


def duck(error: BaseException, given: Any, of_modules: bool) -> bool:
    """Whether an AttributeError says truly of an argument that it is no tensor, or no module.

    Functions written in Python read attributes of what they are given, here as in PyTorch.
    """
    found = MISSING.search(str(error)) if isinstance(error, AttributeError) else None
    if not found or (found[1] == "Tensor" and not of_modules):
        return False
    return found[1] in kinds_of(given) or "'numpy." in found[0]


# Functions that take modules or functions rather than tensors.
OF_MODULES = ("nn.utils.", "func.")
# Functions whose counterparts in PyTorch assert what they want, or that are assertions themselves.
ASSERTING = (
    "testing.", "nn.functional.multi_head_attention_forward", "nn.functional.embedding",
    "recorded:nn.functional.embedding", "Tensor.cuda", "Tensor.xpu",
)


def allowed(error: BaseException) -> str:
    """What is wrong with an exception; empty if nothing is."""
    if isinstance(error, RecursionError) or not isinstance(error, ALLOWED):
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({where.name}, {where.filename}:{where.lineno})"
    if not str(error).strip() and type(error) is not MemoryError:
        return f"{type(error).__name__} without a message"
    if INNER.search(str(error)):
        return f"{type(error).__name__} of the inside: {error}"
    return ""


def tensors_in(value: Any, depth: int = 3) -> list[facula.Tensor]:
    """The tensors of a result."""
    if isinstance(value, facula.Tensor):
        return [value]
    if isinstance(value, (list, tuple)) and depth:
        return [t for v in value for t in tensors_in(v, depth - 1)]
    return []


def outside(t: facula.Tensor) -> str:
    """Says so if a tensor reaches beyond its storage."""
    if t.is_meta or t.layout is not facula.strided or 0 in t.shape:
        return ""
    strides = zip(t.shape, t.stride(), strict=True)
    last = t.storage_offset() + sum((n - 1) * s for n, s in strides)
    size = t.untyped_storage().nbytes()
    if t.storage_offset() < 0 or (last + 1) * t.element_size() > size:
        return f"the result {tuple(t.shape)}, strides {t.stride()} leaves its {size} bytes"
    return ""


def parts_of(value: Any) -> list[facula.Tensor]:
    """Returns the first tensors of a result; of nested ones the items, which have shapes."""
    return [p for t in tensors_in(value)[:MANY] for p in (t.unbind() if t.is_nested else [t])]


def read(value: Any) -> str:
    """Looks at every tensor of a result; says what is wrong."""
    for t in parts_of(value):
        # Classes that take their operators themselves hold values of their own, which repr shows.
        if type(t).__torch_dispatch__ is not facula.Tensor.__torch_dispatch__:
            continue
        wrong = outside(t)
        if wrong:
            return wrong
        entries = math.prod(max(n, 1) for n in t.shape)  # empty lists are entries, too
        if not t.is_meta and t.layout is facula.strided and entries <= READ:
            t.tolist()
    if not isinstance(value, (list, tuple)) or len(value) < 4:
        repr(value)
    return ""


def differentiate(value: Any) -> None:
    """Runs backward through a result, with a graph of the gradients themselves."""
    wanted = [t for t in parts_of(value) if t.requires_grad and t.numel() <= 4096]
    if not wanted or any(t.is_meta for t in wanted):
        return
    total = sum((t.abs() if t.is_complex() else t).sum() for t in wanted)
    leaves = leaves_of(total)
    first = facula.autograd.grad(total, leaves, create_graph=True, allow_unused=True)
    again = [g for g in first if g is not None and g.requires_grad]
    if again:
        total = sum((g.abs() if g.is_complex() else g).sum() for g in again)
        facula.autograd.grad(total, leaves, allow_unused=True)
    for t in first:
        if t is not None:
            read(t)


def leaves_of(t: facula.Tensor) -> list[facula.Tensor]:
    """The leaves that a result's history ends in."""
    found, seen, stack = [], set(), [t.grad_fn]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if variable is not None:
            found.append(variable)
        stack += [n for n, _ in node.next_functions]
    return found


def complaint(call: Call) -> tuple[bool, str]:
    """Makes a call: (whether it returned a value, what is wrong or an empty text)."""
    made: list = []
    try:
        args, kwargs = built(call.args, made), built(call.kwargs, made)
    except ALLOWED:
        return False, ""
    try:
        value = function(call.path)(*args, **kwargs)
    except Exception as error:
        if isinstance(error, AssertionError) and call.path.startswith(ASSERTING):
            return False, ""
        if duck(error, [args, kwargs], call.path.startswith(OF_MODULES)):
            return False, ""
        return False, allowed(error)
    try:
        wrong = read(value) or next(filter(None, map(outside, made)), "")
    except Exception as error:
        return True, f"reading the result: {type(error).__name__}: {error}"
    if wrong:
        return True, wrong
    try:
        differentiate(value)
    except Exception as error:
        text = allowed(error)
        return True, text and f"backward: {text}"
    return True, ""
