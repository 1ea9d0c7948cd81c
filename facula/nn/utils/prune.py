"""Pruning: masks that take elements of a parameter out of play.

A pruned parameter `weight` becomes the parameter `weight_orig` and the buffer `weight_mask`; a
forward pre-hook makes `weight` their product before each call. The functions apply a method to a
module; the classes say which elements go.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import facula

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]

Tensor = facula.Tensor


class BasePruningMethod(ABC):
    """A way to choose elements; a subclass says the kind with `PRUNING_TYPE` ("unstructured",
    "structured" or "global") and gives masks with `compute_mask`.
    """

    _tensor_name: str
    PRUNING_TYPE: str

    def __call__(self, module: Any, inputs: Any) -> None:
        """Make the pruned tensor anew; the forward pre-hook."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Give a mask for elements of importance `t`: ones to keep, within `default_mask`."""

    def apply_mask(self, module: Any) -> Tensor:
        """Give the original tensor times the mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> Any:
        """Prune `module.name` and keep it pruned; further methods on the same tensor combine.

        `importance_scores`, of the tensor's shape, are judged in place of its values. Returns the
        method that is now the hook, a `PruningContainer` if there are several.
        """
        method = cls(*args, **kwargs)
        method._tensor_name = name
        found = [
            (key, hook)
            for key, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        if len(found) > 1:
            raise AssertionError(
                f"Avoid having multiple pruning hooks on the same tensor {name} in module "
                f"{module}. Use a PruningContainer."
            )
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, "
                f"got {importance_scores.shape} vs {original.shape}"
            )
        if found:
            previous = found[0][1]
            container = PruningContainer()
            container._tensor_name = name
            for m in previous if isinstance(previous, PruningContainer) else (previous,):
                container.add_pruning_method(m)
            container.add_pruning_method(method)
            method = container
            default_mask = getattr(module, name + "_mask").detach().clone(
                memory_format=facula.contiguous_format
            )
        else:
            default_mask = facula.ones_like(original)
        mask = method.compute_mask(importance_scores, default_mask=default_mask)
        # Nothing of the module changes before this point, so that a refusal leaves it whole.
        if found:
            del module._forward_pre_hooks[found[0][0]]
        else:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Any = None
    ) -> Tensor:
        """Give a pruned version of a tensor, without any module."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        if default_mask is None:
            default_mask = facula.ones_like(t)
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module: Any) -> None:
        """Make the pruned tensor an ordinary parameter again; what was pruned stays zero."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several pruning methods of one tensor, each applied to what the ones before have left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple = ()
        if len(args) == 1 and not isinstance(args[0], Iterable):
            self._tensor_name = args[0]._tensor_name
            self.add_pruning_method(args[0])
        else:
            methods = args[0] if len(args) == 1 else args
            for method in methods:
                self._tensor_name = method._tensor_name
                self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method for the same tensor."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, index: Any) -> Any:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Apply the last method to the part of `t` that `default_mask` keeps."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            kept = mask == 1
        elif method.PRUNING_TYPE == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError(
                    "Pruning methods of PRUNING_TYPE "
                    '"structured" need to have the attribute `dim` defined.'
                )
            dim = method.dim if method.dim >= 0 else method.dim + t.dim()
            others = [d for d in range(t.dim()) if d != dim]
            kept = [slice(None)] * t.dim()
            kept[dim] = mask.sum(dim=others) != 0
            kept = tuple(kept)
        elif method.PRUNING_TYPE == "global":
            kept = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask[kept] = method.compute_mask(t[kept], default_mask=mask[kept]).to(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing; a mask of ones is put in place."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask

    @classmethod
    def apply(cls, module: Any, name: str) -> Any:
        return super().apply(module, name)


class RandomUnstructured(BasePruningMethod):
    """Prunes elements by chance: a fraction `amount`, or so many."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _drop(self, t: Tensor, default_mask: Tensor, scores: Tensor, largest: bool) -> Tensor:
        """Take the elements with the extreme scores out of the mask."""
        size = t.nelement()
        count = _compute_nparams_toprune(self.amount, size)
        _validate_pruning_amount(count, size)
        mask = default_mask.clone(memory_format=facula.contiguous_format)
        if count:
            at = facula.topk(scores.reshape(-1), k=count, largest=largest)
            mask.view(-1)[at.indices] = 0
        return mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return self._drop(t, default_mask, facula.rand_like(t), largest=True)

    @classmethod
    def apply(cls, module: Any, name: str, amount: float) -> Any:
        return super().apply(module, name, amount=amount)


class L1Unstructured(RandomUnstructured):
    """Prunes the elements with the least absolute values: a fraction `amount`, or so many."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return self._drop(t, default_mask, facula.abs(t), largest=False)

    @classmethod
    def apply(cls, module: Any, name: str, amount: float, importance_scores: Any = None) -> Any:
        return super(RandomUnstructured, cls).apply(
            module, name, amount=amount, importance_scores=importance_scores
        )


class RandomStructured(BasePruningMethod):
    """Prunes whole slices along `dim` by chance: a fraction `amount`, or so many."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.dim = dim

    def _counts(self, t: Tensor) -> tuple[int, int]:
        """Give the number of slices and how many of them to prune."""
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        size = t.shape[self.dim]
        count = _compute_nparams_toprune(self.amount, size)
        _validate_pruning_amount(count, size)
        return size, count

    def _spread(self, t: Tensor, kept: Any) -> Tensor:
        mask = facula.zeros_like(t)
        at: list[Any] = [slice(None)] * t.dim()
        at[self.dim] = kept
        mask[tuple(at)] = 1
        return mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        size, count = self._counts(t)
        if count == 0:
            return default_mask
        chance = facula.rand(size)
        threshold = facula.kthvalue(chance, k=count).values
        mask = self._spread(t, chance > threshold)
        return mask * default_mask.to(dtype=mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, amount: float, dim: int = -1) -> Any:
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(RandomStructured):
    """Prunes the slices along `dim` with the least n-norms: a fraction `amount`, or so many."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        size, count = self._counts(t)
        if count == 0:
            return default_mask
        norms = _compute_norm(t, self.n, self.dim)
        kept = facula.topk(norms, k=size - count, largest=True)
        mask = self._spread(t, kept.indices)
        return mask * default_mask.to(dtype=mask.dtype)

    @classmethod
    def apply(
        cls, module: Any, name: str, amount: float, n: Any, dim: int, importance_scores: Any = None
    ) -> Any:
        return super(RandomStructured, cls).apply(
            module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores
        )


class CustomFromMask(BasePruningMethod):
    """Prunes what a given mask leaves out."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape "
                f"{self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, mask: Tensor) -> Any:
        return super().apply(module, name, mask=mask)


def identity(module: Any, name: str) -> Any:
    """Put a mask of ones on `module.name`."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: float) -> Any:
    """Prune a fraction `amount` (a float), or so many (an int), of the elements by chance.

    Example::

        >>> net = prune.random_unstructured(facula.nn.Linear(2, 3), "weight", amount=1)
        >>> int(net.weight_mask.sum())
        5
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Any, name: str, amount: float, importance_scores: Any = None
) -> Any:
    """Prune the elements with the least absolute values."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: float, dim: int) -> Any:
    """Prune slices along `dim` by chance."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: float, n: Any, dim: int, importance_scores: Any = None
) -> Any:
    """Prune the slices along `dim` with the least n-norms."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """Prune what `mask` leaves out."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Any, pruning_method: type, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune several parameters, given as pairs of module and name, as if they were one vector.

    `importance_scores` maps such pairs to scores that are judged in place of the values. Raises
    TypeError unless the method is unstructured and `parameters` a list of pairs.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    parameters = list(parameters)
    if not all(isinstance(p, tuple) and len(p) == 2 for p in parameters):
        raise TypeError("global_unstructured(): expected pairs of a module and a name")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    relevant = facula.nn.utils.parameters_to_vector(
        [scores.get((module, name), getattr(module, name)) for module, name in parameters]
    )
    default_mask = facula.nn.utils.parameters_to_vector(
        [
            getattr(module, name + "_mask", facula.ones_like(getattr(module, name)))
            for module, name in parameters
        ]
    )
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for '
            f"the `pruning_method`. Found method {pruning_method} of type {method.PRUNING_TYPE}"
        )
    final_mask = container.compute_mask(relevant, default_mask)
    start = 0
    for module, name in parameters:
        param = getattr(module, name)
        count = param.numel()
        custom_from_mask(module, name, mask=final_mask[start : start + count].view_as(param))
        start += count


def remove(module: Any, name: str) -> Any:
    """Make the pruned tensor an ordinary parameter again; ValueError if it is not pruned."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
    )


def is_pruned(module: Any) -> bool:
    """Tell whether the module or one below it is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for child in module.modules()
        for hook in child._forward_pre_hooks.values()
    )


def _validate_pruning_amount_init(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (isinstance(amount, numbers.Integral) and amount < 0) or (
        not isinstance(amount, numbers.Integral) and (float(amount) > 1.0 or float(amount) < 0.0)
    ):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
            "integer"
        )


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune="
            f"{tensor_size}"
        )


def _validate_structured_pruning(t: Tensor) -> None:
    if len(t.shape) <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of "
            f"shape {t.shape} with {len(t.shape)} dims"
        )


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    if isinstance(amount, numbers.Integral):
        return int(amount)
    return round(amount * tensor_size)


def _validate_pruning_dim(t: Tensor, dim: int) -> None:
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_norm(t: Tensor, n: Any, dim: int) -> Tensor:
    dims = list(range(t.dim()))
    del dims[dim]
    return facula.norm(t, p=n, dim=dims)
