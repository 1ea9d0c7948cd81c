"""How tensors are printed: PyTorch's layout, number formats and options, character by character.

`Tensor.__repr__` calls `_str`. Values are read as Python numbers, so no operator but slicing and
`tolist` is needed.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import facula

__all__ = ["get_printoptions", "printoptions", "set_printoptions"]


class _Options:
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PRINT_OPTS = _Options()

_PROFILES = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed.

    `precision` is the number of digits behind the point, `threshold` the number of elements above
    which only `edgeitems` at both ends of each dimension are shown, `profile` one of "default",
    "short" and "full"; `sci_mode` forces or forbids scientific notation, None decides by values.

    Raises TypeError for anything but numbers, ValueError for negative numbers of digits, elements
    or columns.
    """
    if profile is not None:
        for key, value in _PROFILES.get(profile, {}).items():
            setattr(PRINT_OPTS, key, value)
    for key, value in (
        ("precision", precision),
        ("threshold", threshold),
        ("edgeitems", edgeitems),
        ("linewidth", linewidth),
    ):
        if value is not None:
            setattr(PRINT_OPTS, key, _checked(key, value))
    PRINT_OPTS.sci_mode = sci_mode


def _checked(key: str, value: Any) -> Any:
    kinds = (int, float) if key == "threshold" else (int,)
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise TypeError(f"set_printoptions: {key} must be a number, got {type(value).__name__}")
    if value < 0 or (key != "threshold" and value > 10_000):
        raise ValueError(f"set_printoptions: {key} is out of range: {value}")
    return value


def get_printoptions() -> dict[str, Any]:
    """Return the present options as keyword arguments of `set_printoptions`."""
    return {
        key: getattr(PRINT_OPTS, key)
        for key in ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")
    }


@contextlib.contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Set options for the length of a `with` block."""
    before = get_printoptions()
    set_printoptions(**{**before, **kwargs})
    try:
        yield
    finally:
        set_printoptions(**before)


class _Format:
    """The common width and notation of the numbers of one tensor."""

    def __init__(self, values: list, floating: bool) -> None:
        self.floating = floating
        self.whole = True
        self.scientific = False
        self.width = 1
        if not floating:
            self.width = max([1, *(len(str(v)) for v in values)])
            return
        shown = [v for v in values if math.isfinite(v) and v != 0]
        if shown:
            self.whole = all(v == math.ceil(v) for v in shown)
            smallest, largest = min(map(abs, shown)), max(map(abs, shown))
            wide = largest / smallest > 1000.0 or largest > 1.0e8
            self.scientific = wide or (not self.whole and smallest < 1.0e-4)
            if PRINT_OPTS.sci_mode is not None:
                self.scientific = PRINT_OPTS.sci_mode
            self.width = max(1, *(len(self._text(v)) for v in shown))

    def _text(self, value: Any) -> str:
        if not self.floating:
            return str(value)
        if self.scientific:
            return f"{value:.{PRINT_OPTS.precision}e}"
        if self.whole:
            return f"{value:.0f}" + ("." if math.isfinite(value) else "")
        return f"{value:.{PRINT_OPTS.precision}f}"

    def text(self, value: Any) -> str:
        """Return the number, padded on the left."""
        return self._text(value).rjust(self.width)


def _flat(values: Any) -> Iterator[Any]:
    if isinstance(values, list):
        for v in values:
            yield from _flat(v)
    else:
        yield values


class _Dots:
    """Stands for the elements that are left out."""


_DOTS = _Dots()


def _shown(t: facula.Tensor, summarize: bool) -> Any:
    """Return the elements as nested lists; with `summarize` only edges, and dots between them."""
    edge = PRINT_OPTS.edgeitems
    if not summarize or t.dim() == 0:
        return t.tolist()
    if t.size(0) > 2 * edge:
        parts = [*range(edge), None, *range(t.size(0) - edge, t.size(0))]
    else:
        parts = [*range(t.size(0))]
    if t.dim() == 1:
        if None not in parts:
            return t.tolist()
        head = t[:edge].tolist()
        return [*head, _DOTS, *(t[t.size(0) - edge :].tolist() if edge else [])]
    return [_DOTS if i is None else _shown(t[i], summarize) for i in parts]


def _nested(values: Any, dims: int, indent: int, text: Any, width: int) -> str:
    """Lay out nested lists of numbers that start at column `indent`."""
    if dims == 0:
        return text(values)
    if dims == 1:
        per_line = max(1, (PRINT_OPTS.linewidth - indent) // width)
        dots = " ..." if PRINT_OPTS.edgeitems else "..."
        items = [dots if v is _DOTS else text(v) for v in values]
        lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    parts = ["..." if v is _DOTS else _nested(v, dims - 1, indent + 1, text, width) for v in values]
    return "[" + ("," + "\n" * (dims - 1) + " " * (indent + 1)).join(parts) + "]"


def _contents(t: facula.Tensor, indent: int) -> str:
    """Return the elements of a tensor that has some."""
    values = _shown(t, t.numel() > PRINT_OPTS.threshold)
    numbers = [v for v in _flat(values) if v is not _DOTS]
    if t.is_complex():
        real = _Format([v.real for v in numbers], True)
        imag = _Format([v.imag for v in numbers], True)

        def text(value: complex) -> str:
            right = (imag.text(value.imag) + "j").lstrip()
            return real.text(value.real) + ("" if right[0] in "+-" else "+") + right

        return _nested(values, t.dim(), indent, text, real.width + imag.width + 3)
    form = _Format(numbers, t.is_floating_point())
    return _nested(values, t.dim(), indent, form.text, form.width + 2)


def _with_suffixes(contents: str, suffixes: list[str], indent: int) -> str:
    """Append the suffixes, on new lines where the last one is full."""
    parts = [contents]
    length = len(contents) - contents.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > PRINT_OPTS.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            length = indent + len(suffix)
        else:
            parts.append(", " + suffix)
            length += len(suffix) + 2
    return "".join(parts) + ")"


def _grad_suffix(t: facula.Tensor) -> list[str]:
    try:
        node = t.grad_fn
    except RuntimeError:
        return ["grad_fn=<Invalid>"]
    if node is not None:
        return [f"grad_fn=<{type(node).__name__}>"]
    return ["requires_grad=True"] if t.requires_grad else []


def _tensor_str(t: facula.Tensor, indent: int) -> str:
    """Return the text of the elements, for texts that start at a column."""
    if t.numel() == 0:
        return "[]"
    with facula.no_grad():
        return _contents(t.detach().cpu(), indent)


def _add_suffixes(
    tensor_str: str, suffixes: list[str], indent: int, force_newline: bool = False
) -> str:
    """Append suffixes and the closing bracket; `force_newline` puts the first on a new line."""
    if force_newline and suffixes:
        tensor_str, suffixes = f"{tensor_str},\n{' ' * indent}{suffixes[0]}", suffixes[1:]
    return _with_suffixes(tensor_str, suffixes, indent)


def _str(t: facula.Tensor, *, tensor_contents: str | None = None) -> str:
    """Return the text of `repr(t)`; `tensor_contents` takes the place of the elements."""
    if facula._C._is_batched(t):
        level, value = facula._C._batch_value(t)
        return f"BatchedTensor(lvl={level}, bdim=0, value=\n    {value!r}\n)"
    plain = type(t) is facula.Tensor or isinstance(t, facula.nn.Parameter)
    prefix = "tensor(" if plain else f"{type(t).__name__}("
    default = facula.get_default_dtype()
    complex_default = facula.complex128 if default == facula.float64 else facula.complex64
    suffixes = [] if t.device.type == "cpu" else [f"device='{t.device}'"]
    with facula.no_grad():
        # The values of a tensor of a class with a __torch_dispatch__ are for its __repr__ to show.
        hidden = type(t).__torch_dispatch__ is not facula.Tensor.__torch_dispatch__
        data = t if hidden else t.detach()
        if tensor_contents is not None:
            contents = tensor_contents
        elif t.device.type == "meta" or hidden:
            contents = "..."
        elif t.numel() == 0:
            contents = "[]"
        else:
            contents = _contents(data.cpu(), len(prefix))
    if t.device.type == "meta" or hidden or (t.numel() == 0 and t.dim() != 1):
        suffixes.append(f"size={tuple(t.shape)}")
    if t.device.type == "meta" or t.numel() == 0:
        usual = t.dtype == default
    else:
        usual = t.dtype in (default, complex_default, facula.int64, facula.bool)
    if not usual:
        suffixes.append(f"dtype={t.dtype}")
    return _with_suffixes(prefix + contents, suffixes + _grad_suffix(t), len(prefix))
