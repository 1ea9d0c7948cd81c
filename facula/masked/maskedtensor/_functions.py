"""What functions do with tensors that carry a mask, where it is not what their operators do:
reductions, `where`, and changes of layout.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import facula
from facula import Tensor
from facula.masked import _ops
from facula.masked.maskedtensor.core import MaskedTensor, is_masked_tensor

__all__ = ["REDUCTIONS", "reduce", "table"]

REDUCTIONS = "sum mean amin amax argmin argmax prod all norm var std".split()


def _all(input: MaskedTensor, dim: Any = None, *, keepdim: bool = False, **_: Any) -> Tensor:
    filled = input.get_data().masked_fill(~input.get_mask(), True)
    return filled.all() if dim is None else filled.all(dim, keepdim)


def _any_of(mask: Tensor, dim: Any, keepdim: bool) -> Tensor:
    if dim is None:
        dim = tuple(range(mask.dim()))
    return mask.any(dim, keepdim) if mask.dim() else mask.clone()


def reduce(
    name: str, input: MaskedTensor, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> MaskedTensor:
    """Reduce over the elements that count; a result over none of them is masked."""
    if not is_masked_tensor(input):
        raise TypeError(f"Input to {name} must be a MaskedTensor")
    function = _all if name == "all" else getattr(_ops, name)
    options = {} if name == "all" else {"dtype": dtype}
    data = function(input, dim, keepdim=keepdim, **options)
    return MaskedTensor._from_values(data, _any_of(input.get_mask(), dim, keepdim))


def _norm(
    input: MaskedTensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> MaskedTensor:
    order = 2.0 if p in (None, "fro") else p
    data = _ops.norm(input, order, dim, keepdim=keepdim, dtype=dtype)
    return MaskedTensor._from_values(data, _any_of(input.get_mask(), dim, keepdim))


def _reduction(name: str) -> Callable[..., MaskedTensor]:
    return lambda *args, **kwargs: reduce(name, *args, **kwargs)


class _Where(facula.autograd.Function):
    """`where` of tensors with masks: what was not chosen has a masked gradient."""

    @staticmethod
    def forward(ctx: Any, cond: Tensor, a: Any, b: Any) -> MaskedTensor:  # type: ignore[override]
        ctx.save_for_backward(cond)
        return chosen(cond, a, b)

    @staticmethod
    def backward(ctx: Any, grad_output: MaskedTensor) -> tuple:  # type: ignore[override]
        (cond,) = ctx.saved_tensors
        mask = grad_output.get_mask()
        nothing = MaskedTensor(grad_output.get_data(), facula.zeros_like(mask))
        return None, chosen(cond, grad_output, nothing), chosen(cond, nothing, grad_output)


def _with_mask(x: Any, other: Any) -> MaskedTensor:
    """Give a tensor without a mask one of ones, and a number the mask of the other choice."""
    if is_masked_tensor(x):
        return x
    if not isinstance(x, Tensor) and is_masked_tensor(other):
        return MaskedTensor(facula.full_like(other._masked_data, x), other._masked_mask)
    data = x.detach() if isinstance(x, Tensor) else facula.tensor(x)
    return MaskedTensor(data, facula.ones_like(data, dtype=facula.bool))


def chosen(condition: Tensor, a: Any, b: Any) -> MaskedTensor:
    """Choose elements and what the masks say of them; tensors without a mask count everywhere."""
    a, b = _with_mask(a, b), _with_mask(b, a)
    return MaskedTensor(
        facula.where(condition, a._masked_data, b._masked_data),
        facula.where(condition, a._masked_mask, b._masked_mask),
    )


def _where(*args: Any, **kwargs: Any) -> MaskedTensor:
    if len(args) != 3:
        raise ValueError(
            f"__torch_function__, torch.where: len(args) must be 3 but got {len(args)}"
        )
    if kwargs:
        raise ValueError(
            f"__torch_function__, torch.where: len(kwargs) must be 0 but got {len(kwargs)}"
        )
    return _Where.apply(*args)


def _method_where(self: Any, condition: Tensor, other: Any) -> MaskedTensor:
    return _Where.apply(condition, self, other)


class _Contiguous(facula.autograd.Function):
    """Data and mask laid out contiguously."""

    @staticmethod
    def forward(ctx: Any, input: MaskedTensor) -> MaskedTensor:  # type: ignore[override]
        return MaskedTensor(input._masked_data.contiguous(), input._masked_mask.contiguous())

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:  # type: ignore[override]
        return grad_output


def _contiguous(input: MaskedTensor, **kwargs: Any) -> MaskedTensor:
    return input if _is_contiguous(input) else _Contiguous.apply(input)


def _is_contiguous(input: MaskedTensor, **kwargs: Any) -> bool:
    return input._masked_data.is_contiguous(**kwargs)


def _sparse(input: MaskedTensor, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError("MaskedTensor: sparse layouts are not built")


def table() -> dict[Any, Callable[..., Any]]:
    """Return the rules by the functions that `__torch_function__` sees."""
    rules: dict[Any, Callable[..., Any]] = {}
    for name in REDUCTIONS:
        rule = _norm if name == "norm" else _reduction(name)
        rules[getattr(facula, name)] = rules[getattr(Tensor, name)] = rule
    rules[facula.where], rules[Tensor.where] = _where, _method_where
    rules[Tensor.contiguous], rules[Tensor.is_contiguous] = _contiguous, _is_contiguous
    rules[Tensor.to_dense] = lambda input, *args, **kwargs: input
    for name in ("to_sparse", "to_sparse_coo", "to_sparse_csr"):
        if hasattr(Tensor, name):
            rules[getattr(Tensor, name)] = _sparse
    return rules
