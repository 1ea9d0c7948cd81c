"""Examples of operators, found by trying: arguments that fit a row's signature, until one works.

A world is a choice of tensors for the arguments. The first one in which the call works, and gives
numbers, becomes the example; what it does with other dtypes is noted on the way.
"""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from typing import Any

from opgen.rows import Row

#: Arguments by name, where the name says what they are.
NAMED = {
    "index": "facula.tensor([0, 0, 1])", "indices": "facula.tensor([0, 1])",
    "mask": "facula.tensor([True, False, True])",
    "condition": "facula.tensor([True, False, True])",
    "generator": None, "dtype": None, "weight": "facula.tensor([0.5, 1.0, 2.0])",
    "kernel_size": "2", "size": "(2, 3)", "sizes": "(3, 1)", "shape": "(3, 1)",
    "output_size": "2", "padding": "(1, 1)", "pad": "(1, 1)", "equation": "'i,i->i'",
    "num_samples": "2", "n": "3", "k": "2", "dim": "0", "dims": "(0,)", "dim0": "0", "dim1": "0",
    "end": "4", "start": "0", "step": "1", "length": "2", "repeats": "2", "reduce": "'sum'",
    "other": "facula.tensor([2.0, 0.5, 1.0])", "p": "2", "sections": "3", "chunks": "2",
    "split_size": "2", "normalized_shape": "(3,)", "num_groups": "1", "groups": "1",
    "min": "0", "max": "1", "fill_value": "7", "value": "1.5", "high": "10", "low": "0",
    "steps": "4",
}  # fmt: skip
TYPED = {
    "int": "1", "int?": "1", "int[]": "(1,)", "int...": "3", "float": "0.5", "float?": "0.5",
    "Scalar": "2", "Scalar?": "2", "bool": "True", "str": "'mean'", "Tensor|Scalar": "2",
    "float[]": "(1.0,)", "DType": "facula.float64", "str?": "'mean'", "int[]?": "(1,)",
}  # fmt: skip
WORLDS = [
    "facula.tensor([0.25, -1.5, 2.0])",
    "facula.tensor([0.25, 0.5, 0.75])",
    "facula.tensor([2.0, 1.0, 3.0])",
    "facula.tensor([[2.0, 1.0], [1.0, 3.0]])",
    "facula.tensor([3, 1, 2])",
    "facula.tensor([0, 1, 2])",
    "facula.tensor([True, False, True])",
    "facula.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])",
    "facula.tensor([1 + 2j, 3 - 1j])",
    "facula.arange(8.0).reshape(1, 2, 4)",
    "facula.arange(16.0).reshape(1, 1, 4, 4)",
    "facula.arange(64.0).reshape(1, 1, 4, 4, 4)",
    "facula.arange(8.0).reshape(2, 2, 2)",
    "facula.tensor(2.0)",
]
DTYPES = (
    "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
).split()


def needed(row: Row) -> list[Any]:
    """Returns the parameters of a row that a call has to give."""
    return [p for p in row.sig.params if p.default is None and p.type != "Generator"]


def argument(name: str, kind: str, world: str, own: bool) -> str | None:
    """Returns the code of one argument in a world; with `own`, names choose tensors too."""
    if kind in ("Tensor", "Tensor?"):
        known = NAMED.get("index" if name == "index" else name) if own else None
        return known or world
    if kind in ("Tensor[]", "TensorList", "Tensor?[]"):
        return f"[{world}, {world}]"
    if name in NAMED and NAMED[name] is not None and kind != "Tensor|Scalar":
        return NAMED[name]
    return TYPED.get(kind)


def call_text(path: str, arguments: list[tuple[str, str, bool]], first: str) -> str:
    """Returns the call of a path: a method is called on its first argument."""
    values = [f"{n}={v}" if keyword else v for n, v, keyword in arguments]
    if path.startswith("Tensor."):
        return f"{first}.{path.removeprefix('Tensor.')}({', '.join(values[1:])})"
    return f"facula.{path}({', '.join([first, *values[1:]] if first else values)})"


def evaluate(lines: list[str], scope: dict[str, Any]) -> Any:
    """Runs statements and returns the value of the last line, if it is an expression."""
    *before, last = lines
    for line in before:
        exec(line, scope)
    try:
        code = compile(last, "example", "eval")
    except SyntaxError:
        exec(last, scope)
        return None
    return eval(code, scope)


@contextlib.contextmanager
def silence() -> Any:
    """Swallows warnings and what is printed."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def is_dull(value: Any) -> bool:
    """Returns whether a result says nothing: no numbers, or only NaN."""
    import facula

    if isinstance(value, facula.Tensor) and value.is_floating_point() and value.numel():
        return bool(value.isnan().all())
    return isinstance(value, float) and math.isnan(value)


class Sample:
    """An example of a row: the tensor it starts from, and the call of each of its names."""

    def __init__(self, start: str, calls: list[list[str]], arguments: list[str]) -> None:
        self.start, self.calls, self.arguments = start, calls, arguments


def find_sample(row: Row, paths: list[str], scope: dict[str, Any]) -> Sample | None:
    """Tries worlds until the row's first path works; the other paths are called alike."""
    params = needed(row)
    for own in (True, False):
        for world in WORLDS:
            kinds = [p.type for p in params]
            if kinds and kinds[0] == "Tensor|Scalar":
                kinds[0] = "Tensor"
            codes = [
                argument(p.name, kind, world, own and i > 0)
                for i, (p, kind) in enumerate(zip(params, kinds, strict=True))
            ]
            if any(c is None for c in codes):
                return None
            parts = [(p.name, c, p.keyword) for p, c in zip(params, codes, strict=True)]
            first = bool(kinds) and kinds[0] == "Tensor"
            start = [f"x = {codes[0]}"] if first else []
            lead = "x" if first else (codes[0] if codes else "")
            lines = [[*start, call_text(path, parts, lead)] for path in paths]
            try:
                with silence():
                    results = [evaluate(block, dict(scope)) for block in lines]
            except Exception:
                continue
            if not is_dull(results[0]):
                return Sample(start[0] if start else "", lines, codes)
    return None


def dtypes_of(sample: Sample, scope: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Returns the dtypes of x that the sample's first call takes, and what it says to others."""
    taken: list[str] = []
    errors: dict[str, str] = {}
    if not sample.start:
        return taken, []
    for dtype in DTYPES:
        inside = dict(scope)
        try:
            with silence():
                exec(sample.start, inside)
                inside["x"] = inside["x"].to(getattr(inside["facula"], dtype))
                evaluate(sample.calls[0][1:], inside)
            taken.append(dtype)
        except Exception as error:
            text = f"`{type(error).__name__}` for {dtype}: {str(error).splitlines()[0]}"
            errors.setdefault(type(error).__name__, text)
    return taken, list(errors.values())
