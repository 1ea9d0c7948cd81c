"""functional_call: a module called with other parameters and buffers than its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import facula
from facula.nn.utils._named_member_accessor import NamedMemberAccessor  # noqa: F401

__all__ = ["functional_call"]

Tensor = facula.Tensor


def _locate(module: Any, name: str) -> tuple[dict, str]:
    path, _, leaf = name.rpartition(".")
    owner = module.get_submodule(path)
    for place in (owner._parameters, owner._buffers):
        if leaf in place:
            return place, leaf
    raise AttributeError(f"{owner._get_name()} has no parameter or buffer `{leaf}`")


def _untie(module: Any, given: dict[str, Tensor]) -> dict[str, Tensor]:
    """Extend `given` to all names that share a tensor with a given one."""
    names_of: dict[int, list[str]] = {}
    tensors: dict[str, Tensor] = {}
    for name, t in [
        *module.named_parameters(remove_duplicate=False),
        *module.named_buffers(remove_duplicate=False),
    ]:
        names_of.setdefault(id(t), []).append(name)
        tensors[name] = t
    result = dict(given)
    for name, value in given.items():
        if name not in tensors:
            continue
        for other in names_of[id(tensors[name])]:
            if other in given and given[other] is not value:
                raise ValueError(
                    f"functional_call got multiple values for keys {sorted([name, other])}, which "
                    "are tied."
                )
            result[other] = value
    return result


@contextlib.contextmanager
def _reparametrize_module(
    module: Any,
    parameters_and_buffers: dict[str, Tensor],
    *,
    tie_weights: bool = False,
    strict: bool = False,
) -> Iterator[None]:
    given = _untie(module, parameters_and_buffers) if tie_weights else dict(parameters_and_buffers)
    if strict:
        own = {n for n, _ in [*module.named_parameters(), *module.named_buffers()]}
        missing, unexpected = own - given.keys(), set(given) - own
        if tie_weights:
            all_names = {n for n, _ in module.named_parameters(remove_duplicate=False)}
            unexpected -= all_names
        if missing or unexpected:
            texts = []
            if unexpected:
                texts.append(f"Unexpected key(s): {', '.join(sorted(unexpected))}.")
            if missing:
                texts.append(f"Missing key(s): {', '.join(sorted(missing))}.")
            raise RuntimeError(
                f"Error(s) in reparametrizing for {module._get_name()}:\n\t" + "\n\t".join(texts)
            )
    replaced: list[tuple[dict, str, Any]] = []
    try:
        for name, value in given.items():
            try:
                place, leaf = _locate(module, name)
            except AttributeError:
                if strict:
                    raise
                continue
            replaced.append((place, leaf, place[leaf]))
            place[leaf] = value
        yield
    finally:
        for place, leaf, value in reversed(replaced):
            place[leaf] = value


def functional_call(
    module: Any,
    parameters_and_buffers: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call `module` with the given tensors in place of its parameters and buffers of these names;
    the module stays as it is.

    Tensors that are tied in the module are replaced together with `tie_weights`.
    """
    if isinstance(parameters_and_buffers, (list, tuple)):
        merged: dict[str, Tensor] = {}
        for d in parameters_and_buffers:
            for key in d:
                if key in merged:
                    raise ValueError(
                        f"{key} appears in multiple dictionaries; behavior of functional call is "
                        "ambiguous"
                    )
            merged.update(d)
        parameters_and_buffers = merged
    if not isinstance(parameters_and_buffers, dict):
        raise ValueError(
            "Expected parameters_and_buffers to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameters_and_buffers)}"
        )
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(
        module, parameters_and_buffers, tie_weights=tie_weights, strict=strict
    ):
        return module(*args, **(kwargs or {}))
