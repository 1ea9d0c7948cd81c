"""vmap: a function of one sample as a function of many.

Its steps have PyTorch's names and orders of arguments and are looked up here at every call:
libraries put their own in, so that containers of tensors take part.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

import facula
from facula import _C
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
_RANDOMNESS = {"error": 0, "same": 1, "different": 2}
_randomness_of_level: dict[int, str] = {}  # of the running vmaps, by their number


def _is_dim(x: Any) -> bool:
    return x is None or isinstance(x, int)


def _get_name(func: Callable) -> str:
    return getattr(func, "__name__", None) or repr(func)


def _process_batched_inputs(
    in_dims: Any, args: tuple, func: Callable
) -> tuple[int, list, list, TreeSpec]:
    """The number of samples, the dimension of each leaf that is mapped over, and the leaves."""
    call = f"vmap({_get_name(func)}, in_dims={in_dims}, ...)(<inputs>)"
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
    return sizes[0], dims, flat, spec


def _flat_out_dims(out_dims: Any, spec: TreeSpec, func: Callable) -> list:
    call = f"vmap({_get_name(func)}, ..., out_dims={out_dims})"
    dims = _broadcast_to_and_flatten(out_dims, spec, is_leaf=_is_dim)
    if dims is None or not all(map(_is_dim, dims)):
        raise ValueError(
            f"{call}: out_dims is not compatible with the structure of `outputs`. out_dims has "
            f"structure {tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    return dims


def _add_batch_dim(t: Tensor, in_dim: int, vmap_level: int) -> Tensor:
    """Hide a dimension, which holds the samples, from what runs inside vmap."""
    return _C._vmap_hide(t.movedim(in_dim, 0) if in_dim else t, vmap_level)


def _remove_batch_dim(t: Tensor, vmap_level: int, batch_size: int, out_dim: int) -> Tensor:
    """Bring the samples back as a dimension."""
    shown = _C._vmap_show(t, vmap_level, batch_size)
    if not -shown.dim() <= out_dim < shown.dim():
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-shown.dim()}, "
            f"{shown.dim() - 1}], "
            f"but got {out_dim})"
        )
    return shown.movedim(0, out_dim) if out_dim % shown.dim() else shown


def _maybe_remove_batch_dim(
    name: str, t: Any, vmap_level: int, batch_size: int, out_dim: int | None
) -> Any:
    """Bring the samples of a result back, where it is a tensor that is to have them."""
    if out_dim is None:
        if isinstance(t, Tensor) and _C._is_batched(t, vmap_level):
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
        return t
    if not isinstance(t, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(t)}. "
            f"Did you mean to set out_dims= to None for output?"
        )
    return _remove_batch_dim(t, vmap_level, batch_size, out_dim)


def _create_batched_inputs(
    flat_in_dims: list, flat_args: list, vmap_level: int, args_spec: TreeSpec
) -> Any:
    """The arguments as the function sees them."""
    hidden = [
        x if d is None else _add_batch_dim(x, d, vmap_level)
        for x, d in zip(flat_args, flat_in_dims, strict=True)
    ]
    return tree_unflatten(hidden, args_spec)


def _unwrap_batched(
    batched_outputs: Any, out_dims: Any, vmap_level: int, batch_size: int, func: Callable
) -> Any:
    """The results of all samples."""
    out, spec = tree_flatten(batched_outputs)
    dims = _flat_out_dims(out_dims, spec, func)
    name = _get_name(func)
    shown = [
        _maybe_remove_batch_dim(name, t, vmap_level, batch_size, d)
        for t, d in zip(out, dims, strict=True)
    ]
    return tree_unflatten(shown, spec)


def _flat_vmap(
    func: Callable,
    batch_size: int,
    flat_in_dims: list,
    flat_args: list,
    args_spec: TreeSpec,
    out_dims: Any,
    randomness: str,
    /,  # the function may have arguments of any name
    **kwargs: Any,
) -> Any:
    """Run the function once, on all samples of its flat arguments."""
    level = _C._vmap_push(batch_size, _RANDOMNESS[randomness])
    _randomness_of_level[level] = randomness
    try:
        inputs = _create_batched_inputs(flat_in_dims, flat_args, level, args_spec)
        return _unwrap_batched(func(*inputs, **kwargs), out_dims, level, batch_size, func)
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
        size, dims, flat, spec = _process_batched_inputs(in_dims, args, func)
        if chunk_size is None or chunk_size >= size:
            return _flat_vmap(func, size, dims, flat, spec, out_dims, randomness, **kwargs)
        # The same numbers for all samples are the same ones for all chunks.
        state = facula.get_rng_state() if randomness == "same" else None
        parts = []
        for piece, n in _chunks(flat, dims, size, chunk_size):
            if state is not None:
                facula.set_rng_state(state)
            parts.append(_flat_vmap(func, n, dims, piece, spec, out_dims, randomness, **kwargs))
        return _join(parts, out_dims, func)

    return wrapped
