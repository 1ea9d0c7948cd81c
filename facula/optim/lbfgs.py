"""L-BFGS (Nocedal 1980) with an optional strong-Wolfe line search (Nocedal and Wright, 3.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import facula
from facula.optim.optimizer import Optimizer, check_lr, number

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """Limited-memory BFGS; `step` needs a closure, which it calls several times.

    One parameter group only. Up to `history_size` pairs of steps and gradient changes stand for
    the inverse Hessian. `line_search_fn` is None (a fixed rate) or "strong_wolfe".
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        *,
        maximize: bool = False,
    ) -> None:
        check_lr(lr)
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
                "maximize": maximize,
            },
        )
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self) -> list[facula.Tensor]:
        return self.param_groups[0]["params"]

    def _flat_grad(self) -> facula.Tensor:
        parts = []
        for p in self._params:
            part = p.new_zeros(p.numel()) if p.grad is None else p.grad.reshape(-1)
            parts.append(facula.view_as_real(part).reshape(-1) if part.is_complex() else part)
        flat = facula.cat(parts, 0)
        return -flat if self.param_groups[0]["maximize"] else flat

    def _move(self, rate: Any, direction: facula.Tensor) -> None:
        """Add `rate * direction`, a flat vector over all parameters, to the parameters."""
        offset = 0
        for p in self._params:
            target = facula.view_as_real(p) if p.is_complex() else p
            count = target.numel()
            target.add_(direction[offset : offset + count].view_as(target), alpha=number(rate))
            offset += count

    def _evaluate(
        self, closure: Callable, start: list, rate: Any, direction: facula.Tensor
    ) -> tuple[float, facula.Tensor]:
        """Return loss and gradient at `start + rate * direction`, and come back to `start`."""
        self._move(rate, direction)
        loss = _value(closure())
        grad = self._flat_grad()
        for p, saved in zip(self._params, start, strict=True):
            p.copy_(saved)
        return (-loss if self.param_groups[0]["maximize"] else loss), grad

    def step(self, closure: Callable[[], Any]) -> Any:
        """Run up to `max_iter` iterations; returns the closure's first loss."""
        with facula.no_grad():
            return self._minimise(facula.enable_grad()(closure))

    def _minimise(self, closure: Callable[[], Any]) -> Any:
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss = _value(first_loss)
        if group["maximize"]:
            loss = -loss
        state["func_evals"] += 1
        grad = self._flat_grad()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first_loss
        direction, rate = state.get("d"), state.get("t")
        history = _History(state)
        prev_grad, prev_loss = state.get("prev_flat_grad"), state.get("prev_loss")
        iterations, evaluations = 0, 1
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                direction = -grad
                history.clear()
            else:
                history.add(direction * rate, grad - prev_grad, group["history_size"])
                alphas = state.setdefault("al", [None] * group["history_size"])
                direction = history.direction(grad, alphas)
            prev_grad = grad.clone(memory_format=facula.contiguous_format)
            prev_loss = loss
            rate = group["lr"]
            if state["n_iter"] == 1:
                rate = min(1.0, 1.0 / grad.abs().sum()) * rate
            slope = grad.dot(direction)
            if slope > -group["tolerance_change"]:
                break
            loss, grad, rate, calls = self._advance(
                closure, loss, grad, rate, direction, slope, iterations == group["max_iter"]
            )
            evaluations += calls
            state["func_evals"] += calls
            if _converged(group, iterations, evaluations, loss - prev_loss, grad, direction, rate):
                break
        state.update(d=direction, t=rate, prev_flat_grad=prev_grad, prev_loss=prev_loss)
        history.save(state)
        return first_loss

    def _advance(
        self,
        closure: Callable,
        loss: float,
        grad: facula.Tensor,
        rate: Any,
        direction: facula.Tensor,
        slope: facula.Tensor,
        last: bool,
    ) -> tuple[float, facula.Tensor, Any, int]:
        """Take one step along `direction`; returns loss, gradient, rate and evaluations."""
        search = self.param_groups[0]["line_search_fn"]
        if search is not None:
            if search != "strong_wolfe":
                raise RuntimeError("only 'strong_wolfe' is supported")
            start = [p.clone(memory_format=facula.contiguous_format) for p in self._params]

            def evaluate(rate: Any) -> tuple[float, facula.Tensor]:
                return self._evaluate(closure, start, rate, direction)

            loss, grad, rate, calls = _strong_wolfe(evaluate, rate, direction, loss, grad, slope)
            self._move(rate, direction)
            return loss, grad, rate, calls
        self._move(rate, direction)
        if last:
            return loss, grad, rate, 0
        with facula.enable_grad():
            loss = _value(closure())
        if self.param_groups[0]["maximize"]:
            loss = -loss
        return loss, self._flat_grad(), rate, 1


def _converged(
    group: dict[str, Any],
    iterations: int,
    evaluations: int,
    change: float,
    grad: facula.Tensor,
    direction: facula.Tensor,
    rate: Any,
) -> bool:
    return bool(
        iterations == group["max_iter"]
        or evaluations >= group["max_eval"]
        or grad.abs().max() <= group["tolerance_grad"]
        or (direction * number(rate)).abs().max() <= group["tolerance_change"]
        or abs(change) < group["tolerance_change"]
    )


def _value(loss: Any) -> float:
    """Return the number that the closure gave, as a tensor or not."""
    return loss.item() if isinstance(loss, facula.Tensor) else float(loss)


class _History:
    """The pairs (step, change of the gradient) and the scale of the initial Hessian."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.changes = state.get("old_dirs") or []
        self.steps = state.get("old_stps") or []
        self.ro = state.get("ro") or []
        self.scale = state.get("H_diag", 1)

    def clear(self) -> None:
        self.changes, self.steps, self.ro, self.scale = [], [], [], 1

    def save(self, state: dict[str, Any]) -> None:
        state.update(old_dirs=self.changes, old_stps=self.steps, ro=self.ro, H_diag=self.scale)

    def add(self, step: facula.Tensor, change: facula.Tensor, limit: int) -> None:
        """Keep the pair if it has positive curvature, dropping the oldest beyond `limit`."""
        curvature = change.dot(step)
        if not curvature > 1e-10:  # also refuses NaN
            return
        if len(self.changes) == limit:
            for kept in (self.changes, self.steps, self.ro):
                kept.pop(0)
        self.changes.append(change)
        self.steps.append(step)
        self.ro.append(1.0 / curvature)
        self.scale = curvature / change.dot(change)

    def direction(self, grad: facula.Tensor, alphas: list) -> facula.Tensor:
        """Multiply the gradient by the inverse Hessian: the two-loop recursion.

        The factors of the first loop go to the front of `alphas`, the oldest pair's first.
        """
        q = -grad
        pairs = list(zip(self.steps, self.changes, self.ro, strict=True))
        for i in reversed(range(len(pairs))):
            step, change, ro = pairs[i]
            alphas[i] = step.dot(q) * ro
            q = q - alphas[i] * change
        r = q * self.scale
        for i, (step, change, ro) in enumerate(pairs):
            r = r + step * (alphas[i] - change.dot(r) * ro)
        return r


def _cubic_minimum(
    x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: tuple[Any, Any] | None = None
) -> Any:
    """Return the minimum of the cubic through two points with slopes, inside the bounds."""
    low, high = bounds if bounds is not None else ((x1, x2) if x1 <= x2 else (x2, x1))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if square >= 0:
        d2 = square**0.5
        if x1 <= x2:
            best = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
        else:
            best = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
        return min(max(best, low), high)
    return (low + high) / 2.0


def _strong_wolfe(
    evaluate: Callable[[Any], tuple[float, facula.Tensor]],
    rate: Any,
    direction: facula.Tensor,
    loss: float,
    grad: facula.Tensor,
    slope: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_calls: int = 25,
) -> tuple[float, facula.Tensor, Any, int]:
    """Find a rate with sufficient decrease and flat enough slope; see `_zoom` for phase two."""
    longest = direction.abs().max()
    point = _Point(0, loss, grad.clone(memory_format=facula.contiguous_format), slope)
    new = _point(evaluate, rate, direction)
    calls, tries = 1, 0
    prev = point
    bracket = None
    while tries < max_calls:
        if new.loss > loss + c1 * new.rate * slope or (tries > 1 and new.loss >= prev.loss):
            bracket = [prev, new]
            break
        if abs(new.slope) <= -c2 * slope:
            return new.loss, new.grad, new.rate, calls
        if new.slope >= 0:
            bracket = [prev, new]
            break
        low = new.rate + 0.01 * (new.rate - prev.rate)
        high = new.rate * 10
        rate = _cubic_minimum(
            prev.rate, prev.loss, prev.slope, new.rate, new.loss, new.slope, bounds=(low, high)
        )
        prev = new
        new = _point(evaluate, rate, direction)
        calls += 1
        tries += 1
    if bracket is None:
        bracket = [point, new]
    best, more = _zoom(
        evaluate,
        bracket,
        direction,
        loss,
        slope,
        longest,
        c1,
        c2,
        tolerance_change,
        max_calls - tries,
    )
    return best.loss, best.grad, best.rate, calls + more


class _Point:
    """A rate along the direction with loss, gradient and slope there."""

    __slots__ = ("grad", "loss", "rate", "slope")

    def __init__(self, rate: Any, loss: float, grad: facula.Tensor, slope: Any) -> None:
        self.rate, self.loss, self.grad, self.slope = rate, loss, grad, slope


def _point(evaluate: Callable, rate: Any, direction: facula.Tensor) -> _Point:
    loss, grad = evaluate(rate)
    grad = grad.clone(memory_format=facula.contiguous_format)
    return _Point(rate, loss, grad, grad.dot(direction))


def _zoom(
    evaluate: Callable,
    bracket: list[_Point],
    direction: facula.Tensor,
    loss: float,
    slope: Any,
    longest: Any,
    c1: float,
    c2: float,
    tolerance_change: float,
    max_tries: int,
) -> tuple[_Point, int]:
    """Shrink the bracket around a point that satisfies the Wolfe conditions."""
    calls = 0
    stuck = False
    low, high = bracket if bracket[0].loss <= bracket[1].loss else bracket[::-1]
    for _ in range(max_tries):
        if abs(high.rate - low.rate) * longest < tolerance_change:
            break
        rate = _cubic_minimum(low.rate, low.loss, low.slope, high.rate, high.loss, high.slope)
        left, right = min(low.rate, high.rate), max(low.rate, high.rate)
        margin = 0.1 * (right - left)
        if min(right - rate, rate - left) < margin:
            # Twice near an end, or beyond it, means no progress: stay a tenth inside.
            if stuck or rate >= right or rate <= left:
                near_right = abs(rate - right) < abs(rate - left)
                rate = right - margin if near_right else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        new = _point(evaluate, rate, direction)
        calls += 1
        if new.loss > loss + c1 * rate * slope or new.loss >= low.loss:
            high = new
            if low.loss > high.loss:
                low, high = high, low
        else:
            if abs(new.slope) <= -c2 * slope:
                return new, calls
            if new.slope * (high.rate - low.rate) >= 0:
                high = low
            low = new
    return low, calls
