"""What the distributions share: broadcasting of parameters, probabilities against logits,
properties that are computed once, triangular matrices as vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

import facula
from facula.nn import functional as F
from facula.overrides import is_tensor_like

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

Tensor = facula.Tensor
Number = (int, float, bool)
euler_constant = 0.57721566490153286060  # Euler Mascheroni constant


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Broadcast numbers and tensors to one shape.

    Numbers become tensors of the dtype and device of the first tensor, or of the default dtype if
    there is no tensor. Raises ValueError for anything else.

    Example::

        >>> loc, scale = broadcast_all(facula.zeros(3), 1.0)
        >>> scale.shape
        facula.Size([3])
    """
    if not all(isinstance(v, Number) or is_tensor_like(v) for v in values):
        raise ValueError(
            facula._C._package_words(
                "Input arguments must all be instances of Number, facula.Tensor or objects "
                "implementing __torch_function__."
            )
        )
    if not all(is_tensor_like(v) for v in values):
        options: dict[str, Any] = {"dtype": facula.get_default_dtype()}
        for v in values:
            if isinstance(v, Tensor):
                options = {"dtype": v.dtype, "device": v.device}
                break
        values = tuple(v if is_tensor_like(v) else facula.tensor(v, **options) for v in values)
    return facula.broadcast_tensors(*values)


def all_numbers(*values: Any) -> bool:
    """Tell whether all values are plain numbers, so that the batch shape is empty."""
    return all(isinstance(v, Number) for v in values)


def _standard_normal(shape: Sequence[int], dtype: Any, device: Any) -> Tensor:
    return facula.normal(
        facula.zeros(shape, dtype=dtype, device=device),
        facula.ones(shape, dtype=dtype, device=device),
    )


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """Sum over the last `dim` dimensions."""
    if dim == 0:
        return value
    return value.reshape(tuple(value.shape[: value.dim() - dim]) + (-1,)).sum(-1)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Turn logits into probabilities: log odds if `is_binary`, else unnormalised logarithms of the
    probabilities along the last dimension.
    """
    return facula.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Keep probabilities away from 0 and 1 by the machine epsilon of their dtype."""
    eps = facula.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Turn probabilities into logits, the inverse of `logits_to_probs`; 0 and 1 are clamped."""
    safe = clamp_probs(probs)
    return facula.log(safe) - facula.log1p(-safe) if is_binary else facula.log(safe)


class lazy_property:  # noqa: N801 - the name that programs know
    """A property that is computed at its first use and kept in the instance.

    Gradients are recorded while it is computed, also below `no_grad`.
    """

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return _LazyPropertyOfClass(self.wrapped)
        with facula.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _LazyPropertyOfClass(lazy_property, property):
    """What a lazy property gives when it is read from the class: documentation tools see a
    property.
    """

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        property.__init__(self, wrapped)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """Give the lower triangle of matrices `(..., n, n)` up to diagonal `diag` as vectors, row by
    row.
    """
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    at = facula.arange(n, device=mat.device)
    return mat[..., at < at.view(-1, 1) + (diag + 1)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Give the lower triangular matrices whose triangles are the vectors `(..., d)`; the inverse of
    `tril_matrix_to_vec`.

    Raises ValueError if d is not the size of such a triangle.
    """
    d = vec.shape[-1]
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * d + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if abs(round(n) - n) > facula.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {d} which cannot be expressed as the lower triangular "
            "part of a square D x D matrix."
        )
    n = round(n)
    at = facula.arange(n, device=vec.device)
    mat = vec.new_zeros(tuple(vec.shape[:-1]) + (n, n))
    mat[..., at < at.view(-1, 1) + (diag + 1)] = vec
    return mat


class ProbsOrLogits:
    """The parameters of distributions that take either `probs` or `logits`.

    A subclass says with `_binary` whether logits are log odds or unnormalised log probabilities.
    """

    _binary = True
    probs: Any
    logits: Any

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    @lazy_property
    def logits(self) -> Tensor:  # noqa: F811
        """The logits."""
        return probs_to_logits(self.probs, is_binary=self._binary)

    @lazy_property
    def probs(self) -> Tensor:  # noqa: F811
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=self._binary)

    @property
    def _param(self) -> Tensor:
        return self.__dict__["probs"] if self._has_probs else self.__dict__["logits"]

    @property
    def _has_probs(self) -> bool:
        """Whether `probs` was given; what is derived later does not change it."""
        return self.__dict__["_given"] == "probs"

    @property
    def param_shape(self) -> Any:
        """The shape of the given parameter."""
        return self._param.size()

    def _choose(self, probs: Any, logits: Any) -> str:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        self._given = "probs" if probs is not None else "logits"
        return self._given

    def _set_binary(self, probs: Any, logits: Any) -> Any:
        """Store the given parameter of a scalar distribution; returns the batch shape."""
        name = self._choose(probs, logits)
        value = probs if logits is None else logits
        (tensor,) = broadcast_all(value)
        setattr(self, name, tensor)
        return facula.Size() if isinstance(value, Number) else tensor.size()

    def _set_categories(self, probs: Any, logits: Any) -> None:
        """Store the given parameter of a distribution over categories, normalised."""
        self._choose(probs, logits)
        if probs is not None:
            if probs.dim() < 1:
                raise ValueError("`probs` parameter must be at least one-dimensional.")
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            if logits.dim() < 1:
                raise ValueError("`logits` parameter must be at least one-dimensional.")
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
