"""How draws from gamma and beta distributions move with a parameter at constant cumulative
probability F: dx/da = -(dF/da) / f(x), where f is the density.

dF/da is an integral over one tail, the shorter one. Written in w = |log(t / x)| it is a smooth
function times an exponential that falls steeply, for which Gauss-Legendre quadrature on two panels
is accurate to about 1e-10. All tensors are float64.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import facula

Tensor = facula.Tensor

_CUT = 50.0  # the integrand is neglected where it has fallen by exp(-50)


@functools.cache
def _legendre(n: int) -> list[tuple[float, float]]:
    """Give nodes and weights of the Gauss-Legendre rule with `n` nodes on [0, 1]."""
    rule = []
    for i in range(n):
        x = math.cos(math.pi * (i + 0.75) / (n + 0.5))
        slope = 0.0
        for _ in range(100):
            p, before = 1.0, 0.0
            for k in range(1, n + 1):
                p, before = ((2 * k - 1) * x * p - (k - 1) * before) / k, p
            slope = n * (x * p - before) / (x * x - 1.0)
            step = p / slope
            x -= step
            if abs(step) < 1e-15:
                break
        rule.append(((1.0 + x) / 2.0, 1.0 / ((1.0 - x * x) * slope * slope)))
    return rule


def _integrate(f: Callable[[Tensor], Tensor], end: Tensor) -> Tensor:
    """Integrate `f` from 0 to `end`; most of its structure lies near 0."""
    middle = (end / 4).clamp(max=10.0)
    total = facula.zeros_like(end)
    for start, width in ((facula.zeros_like(end), middle), (middle, end - middle)):
        for node, weight in _legendre(32):
            total = total + weight * width * f(start + node * width)
    return total


def _fall(
    height: Callable[[Tensor], Tensor], slope: Callable[[Tensor], Tensor], start: Tensor
) -> Tensor:
    """Find where the convex increasing `height` reaches the cut, from a point at or beyond it."""
    w = start
    for _ in range(25):
        w = w - (height(w) - _CUT).clamp(min=0) / slope(w).clamp(min=1e-30)
    return w


def _gamma_series(a: Tensor, x: Tensor) -> Tensor:
    """The slope for x < 1, from the power series of the lower incomplete gamma function."""
    term, psi, log_x = x / a, facula.digamma(a + 1), facula.log(x)
    total = term * (psi - log_x)
    for k in range(1, 22):
        term, psi = term * x / (a + k), psi + 1 / (a + k)
        total = total + term * (psi - log_x)
    return total


def _gamma_lower(a: Tensor, x: Tensor) -> Tensor:
    """The slope for 1 <= x < a, from the lower tail, t = x exp(-w)."""
    height = lambda w: a * w + x * facula.expm1(-w)  # noqa: E731
    end = _fall(height, lambda w: a - x * facula.exp(-w), (_CUT + x) / a)
    start = facula.digamma(a) - facula.log(x)
    return x * _integrate(lambda w: (start + w) * facula.exp(-height(w)), end)


def _gamma_upper(a: Tensor, x: Tensor) -> Tensor:
    """The slope for x >= 1 and x >= a, from the upper tail, t = x exp(w)."""
    height = lambda w: x * facula.expm1(w) - a * w  # noqa: E731
    end = _fall(height, lambda w: x * facula.exp(w) - a, facula.sqrt(2 * _CUT / x))
    start = facula.log(x) - facula.digamma(a)
    return x * _integrate(lambda w: (start + w) * facula.exp(-height(w)), end)


def gamma_slope(a: Tensor, x: Tensor) -> Tensor:
    """Give dx/da of draws `x` from the standard gamma distribution of shape `a`."""
    a, x = facula.broadcast_tensors(a, x)
    small = x < 1
    lower = (x < a) & ~small
    upper = ~(small | lower)
    result = facula.zeros_like(x)
    for where, formula in ((small, _gamma_series), (lower, _gamma_lower), (upper, _gamma_upper)):
        if where.any():
            result[where] = formula(a[where], x[where])
    return result


def _beta_tail(
    rate: Tensor, other: Tensor, y: Tensor, weight: Callable[[Tensor, Tensor], Tensor]
) -> Tensor:
    """Give `y` times the integral over w > 0 of `weight(w, r) exp(-rate w + (other - 1) r)`, where
    r = log((1 - y exp(-w)) / (1 - y)).
    """
    odds = y / (1 - y)
    ratio = lambda w: facula.log1p(-odds * facula.expm1(-w))  # noqa: E731
    excess = (other - 1).clamp(min=0)  # below 1 the power only helps the integrand to fall
    height = lambda w: rate * w - excess * ratio(w)  # noqa: E731
    slope = lambda w: rate - excess / (facula.exp(w) * (1 + 1 / odds) - 1)  # noqa: E731
    end = _fall(height, slope, (_CUT - excess * facula.log1p(-y)) / rate)

    def integrand(w: Tensor) -> Tensor:
        r = ratio(w)
        return weight(w, r) * facula.exp((other - 1) * r - rate * w)

    return y * _integrate(integrand, end)


def beta_slope(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """Give dx/da of draws `x` from the beta distribution of `a` and `b`."""
    a, b, x = facula.broadcast_tensors(a, b, x)
    center = facula.digamma(a) - facula.digamma(a + b)  # the mean of log t
    below = x * (a + b) <= a
    result = facula.zeros_like(x)
    if below.any():
        start = (center - facula.log(x))[below]
        result[below] = _beta_tail(a[below], b[below], x[below], lambda w, r: start + w)
    above = ~below
    if above.any():
        begin = (facula.log(x) - center)[above]
        result[above] = _beta_tail(b[above], a[above], 1 - x[above], lambda w, r: begin + r)
    return result
