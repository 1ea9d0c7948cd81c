"""Distribution: the base class of all distributions, with the checks of arguments and values."""

from __future__ import annotations

import warnings
from typing import Any

import facula
from facula.distributions import constraints
from facula.distributions.utils import lazy_property

__all__ = ["Distribution"]

Tensor = facula.Tensor
Size = facula.Size


def _describe(value: Any) -> str:
    shape = tuple(value.shape) if hasattr(value, "shape") else ()
    return f"({type(value).__name__} of shape {shape})"


class Distribution:
    """A probability distribution over tensors.

    `batch_shape` is the shape of the independent distributions that an object holds, `event_shape`
    the shape of one draw; `sample(sample_shape)` gives `sample_shape + batch_shape + event_shape`.
    With `validate_args` parameters and values are checked (on unless Python runs with `-O`).
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Turn the checks of all distributions made from now on or off."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Any = Size(), event_shape: Any = Size(), validate_args: Any = None
    ) -> None:
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set "
                "`arg_constraints = {}` or initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=3,
            )
        for param, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint):
                continue  # it cannot be checked
            if param not in self.__dict__ and isinstance(
                getattr(type(self), param), lazy_property
            ):
                continue  # checking would compute it
            value = getattr(self, param)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {param} {_describe(value)} of distribution {self!r} to "
                    f"satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Distribution:
        """Give the distribution with its batch dimensions expanded to `batch_shape`; no memory is
        allocated for the parameters.
        """
        raise NotImplementedError

    def _expand(
        self,
        cls: type,
        batch_shape: Any,
        instance: Any,
        parts: dict[str, Any] | None = None,
        **event_dims: int,
    ) -> Any:
        """Expand the tensors named in `event_dims`, of which the last so many dimensions stay, as
        far as they have been computed. `parts` are further attributes, which subclasses may ask for
        as soon as any other is set.
        """
        new = self._get_checked_instance(cls, instance)
        batch_shape = Size(batch_shape)
        for name, value in (parts or {}).items():
            setattr(new, name, value)
        for name, dims in event_dims.items():
            value = self.__dict__.get(name)
            if value is not None:
                event = tuple(value.shape[value.dim() - dims :])
                setattr(new, name, value.expand(tuple(batch_shape) + event))
        if "_given" in self.__dict__:
            new._given = self._given
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def batch_shape(self) -> Any:
        """The shape of the independent distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one draw."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """The constraints of the parameters, by name."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint that all draws satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The mode."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """Draw, without gradients to the parameters."""
        with facula.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """Draw such that gradients flow to the parameters, where `has_rsample`."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """Draw n samples: `sample((n,))`; deprecated."""
        warnings.warn(
            "sample_n(n) will be deprecated. Use .sample((n,)) instead.", UserWarning, stacklevel=2
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """Give the logarithm of the density or probability of `value`, of shape
        `sample_shape + batch_shape`.
        """
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """Give the probability of draws up to `value`."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """Give the quantile of the probability `value`, the inverse of `cdf`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Give all values of a discrete distribution along dimension 0; of the full batch shape, or
        with batch dimensions of size 1 when `expand` is false.
        """
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Give the entropy, of shape `batch_shape`."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """Give the exponential of the entropy."""
        return facula.exp(self.entropy())

    def _extended_shape(self, sample_shape: Any = Size()) -> Any:
        if not isinstance(sample_shape, Size):
            sample_shape = Size(sample_shape)
        return Size(sample_shape + self._batch_shape + self._event_shape)

    def _validate_sample(self, value: Any) -> None:
        """Raise ValueError unless `value` is a tensor that fits the shapes and the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        first = len(value.size()) - len(self._event_shape)
        if first < 0 or tuple(value.size()[first:]) != tuple(self._event_shape):
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.size()} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(value.size()), reversed(expected), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.size()} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please "
                "initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=2,
            )
            return
        if support is None:
            raise AssertionError("support must not be None for validation")
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument {_describe(value)} to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ "
                "method must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def __repr__(self) -> str:
        def show(value: Any) -> Any:
            return value if value.numel() == 1 else value.size()

        names = [k for k in self.arg_constraints if k in self.__dict__]
        shown = ", ".join(f"{k}: {show(self.__dict__[k])}" for k in names)
        return f"{type(self).__name__}({shown})"
