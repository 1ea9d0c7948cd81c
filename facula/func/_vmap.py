"""vmap: a function of one sample as a function of many."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable

import facula
from facula import _C
from facula.utils._pytree import (
    TreeSpec,
    _broadcast_to_and_flatten,
    tree_flatten,
    tree_map,
    tree_unflatten,
)

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

Tensor = facula.Tensor
_RANDOMNESS = {"error": 0, "same": 1, "different": 2}
_randomness_of_level: dict[int, str] = {}  # of the running vmaps, by their number


def _is_dim(x: Any) -> bool:
    return x is None or isinstance(x, int)


def _name(func: Callable) -> str:
    return getattr(func, "__name__", None) or repr(func)


def _flat_in_dims(in_dims: Any, args: tuple, func: Callable) -> tuple[list, list, TreeSpec, int]:
    """The leaves of the arguments, the dimension of each that is mapped over, and its size."""
    call = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{call}: expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"{call}: got no inputs. Maybe you forgot to add inputs, or you are trying to "
            f"vmap over a "
            f"function with no inputs. The latter is unsupported."
        )
    flat, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec, is_leaf=_is_dim)
    if dims is None:
        raise ValueError(
            f"{call}: in_dims is not compatible with the structure of `inputs`. in_dims "
            f"has structure "
            f"{tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    sizes = []
    for i, (x, d) in enumerate(zip(flat, dims, strict=True)):
        if not _is_dim(d):
            raise ValueError(
                f"{call}: Got in_dim={d} for an input but in_dim must be either an "
                f"integer dimension "
                f"or None."
            )
        if d is None:
            continue
        if not isinstance(x, Tensor):
            raise ValueError(
                f"{call}: Got in_dim={d} for an input but the input is of type {type(x)}. "
                f"We cannot "
                f"vmap over non-Tensor arguments, please use None as the respective in_dim"
            )
        if not -x.dim() <= d < x.dim():
            raise ValueError(
                f"{call}: Got in_dim={d} for some input, but that input is a Tensor of "
                f"dimensionality "
                f"{x.dim()} so expected in_dim to satisfy -{x.dim()} <= in_dim < {x.dim()}."
            )
        dims[i] = d % x.dim()
        sizes.append(x.shape[dims[i]])
    if not sizes:
        raise ValueError(
            f"{call}: got no mapped dimension: at least one of `in_dims` must be an integer."
        )
    if len(set(sizes)) > 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return flat, dims, spec, sizes[0]


def _flat_out_dims(out_dims: Any, spec: TreeSpec, func: Callable) -> list:
    call = f"vmap({_name(func)}, ..., out_dims={out_dims})"
    dims = _broadcast_to_and_flatten(out_dims, spec, is_leaf=_is_dim)
    if dims is None or not all(map(_is_dim, dims)):
        raise ValueError(
            f"{call}: out_dims is not compatible with the structure of `outputs`. out_dims has "
            f"structure {tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    return dims


def _unwrap(t: Any, dim: int | None, level: int, size: int, func: Callable) -> Any:
    if dim is None:
        if isinstance(t, Tensor) and _C._is_batched(t, level):
            raise ValueError(
                f"vmap({_name(func)}, ...): `{_name(func)}` can not return a BatchedTensor when "
                f"out_dim is None"
            )
        return t
    if not isinstance(t, Tensor):
        raise ValueError(
            f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got "
            f"type {type(t)}. "
            f"Did you mean to set out_dims= to None for output?"
        )
    shown = _C._vmap_show(t, level, size)
    if not -shown.dim() <= dim < shown.dim():
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-shown.dim()}, "
            f"{shown.dim() - 1}], "
            f"but got {dim})"
        )
    return shown.movedim(0, dim) if dim % shown.dim() else shown


def _run(
    func: Callable,
    flat: list,
    dims: list,
    spec: TreeSpec,
    size: int,
    out_dims: Any,
    randomness: str,
    kwargs: dict,
) -> Any:
    level = _C._vmap_push(size, _RANDOMNESS[randomness])
    _randomness_of_level[level] = randomness
    try:
        hidden = [
            x if d is None else _C._vmap_hide(x.movedim(d, 0) if d else x, level)
            for x, d in zip(flat, dims, strict=True)
        ]
        result = func(*tree_unflatten(hidden, spec), **kwargs)
        out, out_spec = tree_flatten(result)
        wanted = _flat_out_dims(out_dims, out_spec, func)
        shown = [_unwrap(t, d, level, size, func) for t, d in zip(out, wanted, strict=True)]
        return tree_unflatten(shown, out_spec)
    finally:
        del _randomness_of_level[level]
        _C._vmap_pop(level)


def _chunks(flat: list, dims: list, size: int, chunk: int) -> Iterable[tuple[list, int]]:
    for start in range(0, size, chunk):
        n = min(chunk, size - start)
        yield (
            [x if d is None else x.narrow(d, start, n) for x, d in zip(flat, dims, strict=True)],
            n,
        )


def _join(parts: list, out_dims: Any, func: Callable) -> Any:
    flat, specs = zip(*map(tree_flatten, parts), strict=True)
    dims = _flat_out_dims(out_dims, specs[0], func)
    joined = [
        column[0] if d is None else facula.cat(column, d)
        for column, d in zip(zip(*flat, strict=True), dims, strict=True)
    ]
    return tree_unflatten(joined, specs[0])


def vmap(
    func: Callable,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable:
    """A function that runs `func` on every sample of its inputs at once.

    Args:
        func: a function of tensors (or trees of them) that gives tensors (or a tree of them).
        in_dims: the dimension of each input that holds the samples, None for inputs that all
            samples share; an int for all inputs, or a tree shaped as the arguments.
        out_dims: where the samples go in each output.
        randomness: what random operators do: "error", the "same" for all samples, or "different".
        chunk_size: how many samples run at once; all by default.

    Returns:
        A function of the same arguments with samples. Keyword arguments are not mapped over.
        Errors: ValueError where dimensions, sizes or structures do not fit; RuntimeError for
        operators whose result would depend on the data of one sample (item, bool, nonzero).

    >>> vmap(facula.dot)(facula.ones(3, 5), facula.ones(3, 5))
    tensor([5., 5., 5.])

    """
    if randomness not in _RANDOMNESS:
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        flat, dims, spec, size = _flat_in_dims(in_dims, args, func)
        if chunk_size is None or chunk_size >= size:
            return _run(func, flat, dims, spec, size, out_dims, randomness, kwargs)
        # The same numbers for all samples are the same ones for all chunks.
        state = facula.get_rng_state() if randomness == "same" else None
        parts = []
        for piece, n in _chunks(flat, dims, size, chunk_size):
            if state is not None:
                facula.set_rng_state(state)
            parts.append(_run(func, piece, dims, spec, n, out_dims, randomness, kwargs))
        return _join(parts, out_dims, func)

    return wrapped


def apply_function(cls: type, args: tuple, kwargs: dict) -> Any:
    """Run an autograd.Function some of whose arguments are inside vmap.

    Its own `vmap` is used if it has one; otherwise it runs sample by sample.
    """
    rule = cls.vmap
    if rule is facula.autograd.Function.vmap:
        return _apply(functools.partial(cls.apply, **kwargs), None, args, cls.__name__)
    if cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and "
            f"an overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
            f"overridden vmap staticmethod to avoid ambiguity."
        )
    return _apply(cls.apply, functools.partial(rule, **kwargs), args, cls.__name__)


def apply_operator(call: Callable, rule: Callable | None, args: tuple, name: str) -> Any:
    """Run a program's own operator, some of whose arguments are inside vmap.

    `rule` is what `register_vmap` was given; without one the operator runs sample by sample, with a
    warning.
    """
    if rule is None:
        warnings.warn(
            f"There is a performance drop because {name} has no batching rule (register_vmap): "
            f"vmap runs it sample by sample.",
            stacklevel=3,
        )
    return _apply(call, rule, args, name)


def _apply(call: Callable, rule: Callable | None, args: tuple, name: str) -> Any:
    """A call with arguments inside vmap, by its rule or sample by sample; innermost level first."""
    flat, spec = tree_flatten(args)
    levels = dict(_C._vmap_levels())
    found = [lv for lv in levels if any(_C._is_batched(a, lv) for a in flat)]
    if not found:
        raise RuntimeError(f"{name}: a tensor from inside vmap is used after the vmap has ended")
    level = max(found)
    size = levels[level]
    mapped = [_C._is_batched(a, level) for a in flat]
    shown = [_C._vmap_show(a, level, size) if m else a for a, m in zip(flat, mapped, strict=True)]
    if rule is not None:
        dims = tree_unflatten([0 if m else None for m in mapped], spec)
        info = VmapInfo(size, _randomness_of_level.get(level, "error"))
        out, out_dims = rule(info, tuple(dims), *tree_unflatten(shown, spec))
        return _hide_results(out, out_dims, level, name)
    samples = []
    for i in range(size):
        picked = [a[i] if m else a for a, m in zip(shown, mapped, strict=True)]
        samples.append(call(*tree_unflatten(picked, spec)))
    if not samples:
        raise RuntimeError(f"vmap: {name} has no batching rule and cannot run over no samples")
    return tree_map(
        lambda *parts: (
            _C._vmap_hide(facula.stack(parts), level) if isinstance(parts[0], Tensor) else parts[0]
        ),
        *samples,
    )


class VmapInfo(tuple):
    """What a Function's `vmap` is told: batch_size and randomness."""

    __slots__ = ()

    def __new__(cls, batch_size: int, randomness: str) -> VmapInfo:
        return super().__new__(cls, (batch_size, randomness))

    @property
    def batch_size(self) -> int:
        """The number of samples."""
        return self[0]

    @property
    def randomness(self) -> str:
        """The randomness of the vmap."""
        return self[1]


def _hide_results(out: Any, out_dims: Any, level: int, name: str) -> Any:
    flat, spec = tree_flatten(out)
    dims = _broadcast_to_and_flatten(out_dims, spec, is_leaf=_is_dim)
    if dims is None or not all(map(_is_dim, dims)):
        raise ValueError(f"{name}: the out_dims of its vmap do not fit its results: {out_dims}")
    hidden = [
        t if d is None else _C._vmap_hide(t.movedim(d, 0) if d else t, level)
        for t, d in zip(flat, dims, strict=True)
    ]
    return tree_unflatten(hidden, spec)
