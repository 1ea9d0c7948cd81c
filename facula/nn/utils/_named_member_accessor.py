"""Putting tensors in the place of a module's parameters and buffers, by name."""

from __future__ import annotations

from typing import Any

from facula import _C, Tensor, nn

__all__ = ["NamedMemberAccessor", "set_tensor", "swap_submodule", "swap_tensor"]

_MISSING: Any = object()


def _place(module: nn.Module, name: str) -> dict[str, Any]:
    """Find the dictionary of a module that holds a tensor."""
    if not isinstance(module, nn.Module):
        raise TypeError(f"{module}" + _C._package_words(" is not an instance of facula.nn.Module"))
    if "." in name:
        raise KeyError('tensor name can\'t contain "."')
    if name == "":
        raise KeyError('tensor name can\'t be empty string ""')
    return module._parameters if name in module._parameters else module._buffers


def swap_tensor(
    module: nn.Module, name: str, tensor: Tensor | None, allow_missing: bool = False
) -> Tensor | None:
    """Put a tensor in the place of a parameter, buffer or attribute; gives what was there.

    AttributeError for a name that is not there, unless `allow_missing`.
    """
    place = _place(module, name)
    if name in place:
        before = place[name]
        if tensor is _MISSING:
            del place[name]
        else:
            place[name] = tensor
        return before
    before = getattr(module, name, _MISSING)
    if before is _MISSING and not allow_missing:
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    if before is not _MISSING and not isinstance(before, Tensor):
        raise TypeError(
            f"attribute `{name}`: {before}"
            + _C._package_words(" is not an instance of facula.Tensor")
        )
    if tensor is not _MISSING:
        setattr(module, name, tensor)
    elif before is not _MISSING:
        delattr(module, name)
    return before


def set_tensor(module: nn.Module, name: str, tensor: Tensor) -> None:
    """Put a tensor in the place of a parameter or buffer."""
    swap_tensor(module, name, tensor)


def swap_submodule(module: nn.Module, name: str, submodule: nn.Module) -> nn.Module:
    """Put a module in the place of a child; gives the one that was there."""
    if name not in module._modules:
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    before = module._modules[name]
    module._modules[name] = submodule
    return before


class NamedMemberAccessor:
    """Reads and replaces tensors and modules below a module by their dotted names.

    Example:
        before = NamedMemberAccessor(net).swap_tensor("0.weight", facula.zeros(2, 3))
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module

    def get_submodule(self, name: str) -> nn.Module:
        """Give the module of a name."""
        return self.module.get_submodule(name)

    def _owner(self, name: str) -> tuple[nn.Module, str]:
        path, _, leaf = name.rpartition(".")
        return self.module.get_submodule(path), leaf

    def get_tensor(self, name: str) -> Tensor:
        """Give the tensor of a name; AttributeError when there is none."""
        owner, leaf = self._owner(name)
        return getattr(owner, leaf)

    def swap_tensor(self, name: str, value: Any, allow_missing: bool = False) -> Any:
        """Put a tensor in the place of another one, which is given."""
        owner, leaf = self._owner(name)
        return swap_tensor(owner, leaf, value, allow_missing)

    def set_tensor(self, name: str, value: Tensor) -> None:
        """Put a tensor in the place of another one."""
        self.swap_tensor(name, value)

    def del_tensor(self, name: str) -> None:
        """Take a tensor away."""
        self.swap_tensor(name, _MISSING)

    def swap_tensors_dict(
        self, named_tensors: dict[str, Tensor], allow_missing: bool = False
    ) -> tuple[dict[str, Tensor], list[str]]:
        """Replace tensors by name; gives those that were there, and the names that were not."""
        before, missing = {}, []
        for name, value in named_tensors.items():
            old = self.swap_tensor(name, value, allow_missing=True)
            if old is _MISSING:
                missing.append(name)
            before[name] = old
        if missing and not allow_missing:
            raise RuntimeError(f"Missing key(s): {', '.join(missing)}.")
        return before, missing

    def named_parameters(self, remove_duplicate: bool = True) -> Any:
        """Iterate over the module's parameters with their names."""
        return self.module.named_parameters(remove_duplicate=remove_duplicate)

    def named_buffers(self, remove_duplicate: bool = True) -> Any:
        """Iterate over the module's buffers with their names."""
        return self.module.named_buffers(remove_duplicate=remove_duplicate)
