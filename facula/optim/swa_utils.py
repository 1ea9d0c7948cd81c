"""Averages of model weights: stochastic weight averaging and exponential moving averages."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, Literal

import facula
from facula import nn
from facula.optim.lr_scheduler import LRScheduler, per_group

__all__ = [
    "AveragedModel",
    "SWALR",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1].")


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """Return the update of an exponential moving average for one tensor."""
    _check_decay(decay)

    @facula.no_grad()
    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """Return the update of an exponential moving average for a list of tensors, in place."""
    _check_decay(decay)

    @facula.no_grad()
    def ema_update(ema_params: list, current_params: list, _: Any) -> None:
        for ema, current in zip(ema_params, current_params, strict=True):
            if ema.is_floating_point() or ema.is_complex():
                ema.lerp_(current.to(ema.dtype), 1 - decay)
            else:
                ema.copy_(ema * decay + current * (1 - decay))

    return ema_update


def get_swa_avg_fn() -> Callable:
    """Return the update of an equal-weight average for one tensor."""

    @facula.no_grad()
    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_swa_multi_avg_fn() -> Callable:
    """Return the update of an equal-weight average for a list of tensors, in place."""

    @facula.no_grad()
    def swa_update(averaged_params: list, current_params: list, num_averaged: Any) -> None:
        weight = 1 / (float(num_averaged) + 1)
        for averaged, current in zip(averaged_params, current_params, strict=True):
            if averaged.is_floating_point() or averaged.is_complex():
                averaged.lerp_(current.to(averaged.dtype), weight)
            else:
                averaged.copy_(averaged + (current - averaged) * weight)

    return swa_update


class AveragedModel(nn.Module):
    """A copy of `model` whose parameters are averages; call `update_parameters` after a step.

    `avg_fn(averaged, current, num_averaged)` averages one tensor, `multi_avg_fn` whole lists in
    place; without either the average has equal weights. With `use_buffers` buffers are averaged
    too, else they are copied from the model.
    """

    def __init__(
        self,
        model: nn.Module,
        device: Any = None,
        avg_fn: Callable | None = None,
        multi_avg_fn: Callable | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", facula.tensor(0, dtype=facula.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the averaged model."""
        return self.module(*args, **kwargs)

    def _averaged_and_current(self, model: nn.Module) -> tuple[list, list]:
        def tensors(module: nn.Module) -> list:
            buffers = module.buffers() if self.use_buffers else ()
            return [t.detach() for t in itertools.chain(module.parameters(), buffers)]

        averaged = tensors(self.module)
        current = [c.to(a.device) for a, c in zip(averaged, tensors(model), strict=True)]
        return averaged, current

    def update_parameters(self, model: nn.Module) -> None:
        """Take the present parameters of `model` into the average."""
        averaged, current = self._averaged_and_current(model)
        if self.n_averaged == 0:
            for a, c in zip(averaged, current, strict=True):
                a.copy_(c)
        elif self.avg_fn is None:
            update = self.multi_avg_fn or get_swa_multi_avg_fn()
            update(averaged, current, self.n_averaged.to(averaged[0].device))
        else:
            for a, c in zip(averaged, current, strict=True):
                a.copy_(self.avg_fn(a, c, self.n_averaged.to(a.device)))
        if not self.use_buffers:
            for a, c in zip(self.module.buffers(), model.buffers(), strict=True):
                a.detach().copy_(c.detach().to(a.device))
        self.n_averaged += 1


@facula.no_grad()
def update_bn(loader: Iterable[Any], model: nn.Module, device: Any = None) -> None:
    """Recompute the running statistics of batch norm layers in one pass over `loader`."""
    momenta = {}
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    for batch in loader:
        if isinstance(batch, (list, tuple)):
            batch = batch[0]
        if device is not None:
            batch = batch.to(device)
        model(batch)
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Anneal the learning rate of each group to `swa_lr` over `anneal_epochs`, then keep it."""

    def __init__(
        self,
        optimizer: Any,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        for group, value in zip(
            optimizer.param_groups, per_group(optimizer, swa_lr, "swa_lr"), strict=True
        ):
            group["swa_lr"] = value
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _weight(self, t: float) -> float:
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[float]:
        """Return the rates of this step from those of the step before."""
        step = self._step_count - 1
        length = max(1, self.anneal_epochs)
        before = self._weight(max(0, min(1, (step - 1) / length)))
        now = self._weight(max(0, min(1, step / length)))
        rates = []
        for group in self.optimizer.param_groups:
            target, lr = group["swa_lr"], group["lr"]
            start = lr if before == 1 else (lr - before * target) / (1 - before)
            if self.anneal_epochs == 0:
                start = target
            rates.append(target * now + start * (1 - now))
        return rates
