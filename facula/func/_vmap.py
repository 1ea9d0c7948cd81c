"""vmap: a function of one sample as a function of many."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

import facula
from facula.utils._pytree import (
    TreeSpec,
    _broadcast_to_and_flatten,
    tree_flatten,
    tree_unflatten,
)

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

Tensor = facula.Tensor
_RANDOMNESS = ("error", "same", "different")


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
    state = None if randomness == "different" else facula.get_rng_state()
    rows, out_spec = [], None
    for sample in _samples(flat, dims, size):
        if randomness == "same":
            facula.set_rng_state(state)
        out, out_spec = tree_flatten(func(*tree_unflatten(sample, spec), **kwargs))
        rows.append(out)
    if randomness == "error" and not state.equal(facula.get_rng_state()):
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the "
            "'same' or 'different' randomness flags on vmap or perform the randomness operation "
            "out of vmap"
        )
    wanted = _flat_out_dims(out_dims, out_spec, func)
    columns = zip(zip(*rows, strict=True), wanted, strict=True)
    stacked = [_stack(column, d, size, func) for column, d in columns]
    return tree_unflatten(stacked, out_spec)


def _samples(flat: list, dims: list, size: int) -> Iterable[list]:
    """The arguments for each sample; where there are none, one of zeros that tells the shapes."""
    for i in range(size):
        yield [x if d is None else x.select(d, i) for x, d in zip(flat, dims, strict=True)]
    if size == 0:
        yield [
            x if d is None else x.new_zeros(x.shape[:d] + x.shape[d + 1 :])
            for x, d in zip(flat, dims, strict=True)
        ]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.shape == b.shape and a.dtype == b.dtype and a.equal(b)
    return bool(a == b)


def _stack(column: tuple, dim: int | None, size: int, func: Callable) -> Any:
    if dim is None:
        if not all(c is column[0] or _same(c, column[0]) for c in column):
            raise ValueError(
                f"vmap({_name(func)}, ...): `{_name(func)}` can not return a result that differs "
                f"from sample to sample when out_dim is None"
            )
        return column[0]
    if not isinstance(column[0], Tensor):
        raise ValueError(
            f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type "
            f"{type(column[0])}. Did you mean to set out_dims= to None for output?"
        )
    stacked = facula.stack(column, dim)
    return stacked if size else stacked.narrow(dim, 0, 0)


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
        randomness: what random operators draw: the "same" for all samples, or "different" ones.
        chunk_size: how many samples run at once; all by default.

    Returns:
        A function of the same arguments with samples. Keyword arguments are not mapped over.
        Errors: ValueError where dimensions, sizes or structures do not fit.

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
        parts = [
            _run(func, piece, dims, spec, n, out_dims, randomness, kwargs)
            for piece, n in _chunks(flat, dims, size, chunk_size)
        ]
        return _join(parts, out_dims, func)

    return wrapped
