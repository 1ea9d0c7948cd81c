"""LRScheduler, the base class of all learning-rate schedulers, and what they share."""

from __future__ import annotations

import warnings
from typing import Any

import facula
from facula.optim.optimizer import Optimizer

__all__ = ["LRScheduler"]

_STEP_ORDER = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and "
    "later, you should call them in the opposite order: `optimizer.step()` before "
    "`lr_scheduler.step()`. Failure to do this will result in PyTorch skipping the first value "
    "of the learning rate schedule."
)
_EPOCH_ARGUMENT = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler."
)


def expect_optimizer(optimizer: Any) -> None:
    """Raise TypeError unless it is an Optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def per_group(optimizer: Optimizer, value: Any, name: str) -> list[Any]:
    """Return one value for each parameter group: `value` repeated, or the list that it is."""
    expect_optimizer(optimizer)
    if isinstance(value, (list, tuple)):
        if len(value) != len(optimizer.param_groups):
            raise ValueError(
                f"{name} must have the same length as optimizer.param_groups. {name} has "
                f"{len(value)} values, param_groups has {len(optimizer.param_groups)}."
            )
        return list(value)
    return [value] * len(optimizer.param_groups)


def copied(value: Any) -> Any:
    """Return a copy of a rate that may be a tensor, which the optimiser changes in place."""
    return value.clone() if isinstance(value, facula.Tensor) else value


def set_value(group: dict[str, Any], key: str, value: Any) -> None:
    """Set an option of a group; one that is a tensor keeps its identity."""
    if isinstance(group[key], facula.Tensor):
        group[key].fill_(value.item() if isinstance(value, facula.Tensor) else value)
    else:
        group[key] = value


class LRScheduler:
    """Base class: `step()` moves `last_epoch` on and sets each group's rate to `get_lr()`.

    `get_lr` computes the new rates from the present ones, so that several schedulers can work on
    one optimiser; `_get_closed_form_lr`, where it exists, computes them from `base_lrs` and
    `last_epoch` alone and serves `step(epoch)`.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        expect_optimizer(optimizer)
        self.optimizer = optimizer
        if last_epoch == -1:
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", copied(group["lr"]))
        else:
            for i, group in enumerate(optimizer.param_groups):
                if "initial_lr" not in group:
                    raise KeyError(
                        f"param 'initial_lr' is not specified in param_groups[{i}] when "
                        "resuming scheduler with last_epoch >= 0. Load the optimizer's state "
                        "dict first, or leave last_epoch at -1 for a fresh run."
                    )
        self.base_lrs = [copied(g["initial_lr"]) for g in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the first rates without counting as a step of the schedule."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimiser."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state dict made by `state_dict`; the optimiser's own has the present rates."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """Return the rates that the last step set, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """Compute the next rates from the groups' present ones."""
        raise NotImplementedError

    def _rates(self) -> list[Any]:
        """Return the groups' present rates; warns where `get_lr` is called from outside."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )
        return [copied(group["lr"]) for group in self.optimizer.param_groups]

    def step(self, epoch: int | None = None) -> None:
        """Set the next rates, or those of `epoch`."""
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", True):
            warnings.warn(_STEP_ORDER, UserWarning, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(_EPOCH_ARGUMENT, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                closed_form = getattr(self, "_get_closed_form_lr", self.get_lr)
                values = closed_form()
        finally:
            self._get_lr_called_within_step = False
        self._apply(values)

    def _apply(self, values: list[Any]) -> None:
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_value(group, "lr", value)
        self._last_lr = [copied(group["lr"]) for group in self.optimizer.param_groups]
