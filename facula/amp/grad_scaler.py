"""`GradScaler`: keeps small gradients of narrow types from vanishing by scaling the loss."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Iterable
from typing import Any

import facula

__all__ = ["GradScaler", "OptState"]


class OptState(enum.Enum):
    """What has been done for an optimiser since the last update."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class GradScaler:
    """Multiplies losses by a scale, divides gradients by it, and adapts it.

    A step with a gradient that is not finite is left out, and the scale shrinks by
    `backoff_factor`; after `growth_interval` good steps it grows by `growth_factor`. Disabled, as
    it is for a kind of device that the machine lacks, it hands everything through.

    Example:
        >>> scaler = facula.amp.GradScaler("cpu")
        >>> scaler.scale(loss).backward()
        >>> scaler.step(optimizer)
        >>> scaler.update()
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda" and not facula.cuda.is_available():
            warnings.warn(
                "GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2
            )
            self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError("The growth factor must be > 1.0.")
            if backoff_factor >= 1.0:
                raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = init_scale
        self._scale: facula.Tensor | None = None
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._growth = 0
        self._stages: dict[int, OptState] = {}
        self._bad: dict[int, facula.Tensor] = {}

    def _started(self, what: str) -> facula.Tensor:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {what} but _scale is None. scaler.scale(loss or outputs) has to be "
                "called before in the iteration."
            )
        return self._scale

    def _tensor(self) -> facula.Tensor:
        if self._scale is None:
            self._scale = facula.full((), self._init_scale, dtype=facula.float32)
        return self._scale

    def scale(self, outputs: Any) -> Any:
        """Return a tensor, or a nest of lists and tuples of tensors, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, facula.Tensor):
            return outputs * self._tensor().to(device=outputs.device)
        if isinstance(outputs, Iterable):
            items = [self.scale(v) for v in outputs]
            return type(outputs)(items) if isinstance(outputs, (list, tuple)) else items
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimiser by the scale, once between two updates."""
        if not self._enabled:
            return
        stage = self._stages.get(id(optimizer), OptState.READY)
        if stage is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if stage is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = self._started("unscale_").double().reciprocal().float()
        bad = facula.zeros((), dtype=facula.float32)
        with facula.no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    if p.grad.dtype == facula.float16 and p.dtype == facula.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    grad = p.grad._values() if p.grad.is_sparse else p.grad
                    if not bool(facula.isfinite(grad).all()):
                        bad.fill_(1.0)
                    grad.mul_(inverse.to(grad.dtype))
        self._bad[id(optimizer)] = bad
        self._stages[id(optimizer)] = OptState.UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Call `optimizer.step(*args, **kwargs)` unless a gradient is not finite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError(
                "Closure use is not currently supported if GradScaler is enabled."
            )
        self._started("step")
        stage = self._stages.get(id(optimizer), OptState.READY)
        if stage is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if stage is OptState.READY:
            self.unscale_(optimizer)
        self._stages[id(optimizer)] = OptState.STEPPED
        if self._bad[id(optimizer)].item():
            return None
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | facula.Tensor | None = None) -> None:
        """Adapt the scale to what the steps since the last update found, or set it."""
        if not self._enabled:
            return
        scale = self._started("update")
        if new_scale is not None:
            if isinstance(new_scale, facula.Tensor):
                new_scale = float(new_scale.item())
            scale.fill_(new_scale)
        else:
            if not self._bad:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(bad.item() for bad in self._bad.values()):
                scale.mul_(self._backoff_factor)
                self._growth = 0
            else:
                self._growth += 1
                if self._growth == self._growth_interval:
                    grown = scale * self._growth_factor
                    if bool(facula.isfinite(grown)):
                        scale.copy_(grown)
                    self._growth = 0
        self._stages.clear()
        self._bad.clear()

    def get_scale(self) -> float:
        """Return the scale; 1 when disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.item())

    def get_growth_factor(self) -> float:
        """Return the factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return the factor by which the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return the number of good steps after which the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of good steps after which the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Say whether anything is scaled."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Return the state; empty when disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take a state from `state_dict()`."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved "
                "from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth = state_dict["_growth_tracker"]
