"""Counting the floating-point operations of matrix products and convolutions.

>>> from facula.utils.flop_counter import FlopCounterMode
>>> with FlopCounterMode(display=False) as counter:
...     y = facula.ones(2, 3) @ facula.ones(3, 4)
>>> counter.get_total_flops()
48
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable
from math import prod

import facula
from facula.utils._python_dispatch import TorchDispatchMode

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

__all__ = ["FlopCounterMode", "flop_registry", "register_flop_formula"]

# By the name of the operator's row: a formula of the call's arguments and result.
flop_registry: dict[Any, Callable] = {}


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable:
    """A decorator that makes a function the formula of operators.

    It gets the arguments of the call with shapes in place of tensors, and `out_shape`; with
    `get_raw`, the arguments themselves and `out_val`.
    """

    def register(formula: Callable) -> Callable:
        def count(args: tuple, kwargs: dict, result: Any) -> int:
            if get_raw:
                return formula(*args, **kwargs, out_val=result)
            shapes = facula.utils._pytree.tree_map(_shape, (args, kwargs, result))
            return formula(*shapes[0], **shapes[1], out_shape=shapes[2])

        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            flop_registry[_key(target)] = count
        return formula

    return register


def _key(target: Any) -> str:
    return target if isinstance(target, str) else target.__name__.partition(".")[0]


def _shape(value: Any) -> Any:
    return value.shape if isinstance(value, facula.Tensor) else value


@register_flop_formula(["mm", "bmm", "linear_input_grad"])
def _product(a: Any, b: Any, *_: Any, out_shape: Any = None, **kwargs: Any) -> int:
    return 2 * prod(a) * b[-1]


@register_flop_formula(["addmm", "baddbmm"])
def _sum_and_product(self: Any, a: Any, b: Any, *_: Any, **kwargs: Any) -> int:
    return 2 * prod(a) * b[-1]


@register_flop_formula(["mv", "dot", "vdot"])
def _vectors(a: Any, b: Any, *_: Any, **kwargs: Any) -> int:
    return 2 * prod(a)


@register_flop_formula("addmv")
def _sum_and_vectors(self: Any, a: Any, b: Any, *_: Any, **kwargs: Any) -> int:
    return 2 * prod(a)


@register_flop_formula("linear_product")
def _linear(x: Any, weight: Any, *_: Any, **kwargs: Any) -> int:
    return 2 * prod(x) * weight[0]


@register_flop_formula("linear_weight_grad")
def _linear_weight(grad: Any, x: Any, *_: Any, **kwargs: Any) -> int:
    return 2 * prod(grad) * x[-1]


def _convolved(x: Any, weight: Any, out: Any, transposed: bool) -> int:
    spatial = x[2:] if transposed else out[2:]
    return 2 * x[0] * prod(spatial) * prod(weight)


@register_flop_formula("convolution")
def _convolution(
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    *_: Any,
    out_shape: Any = None,
    **kwargs: Any,
) -> int:
    return _convolved(x, weight, out_shape, transposed)


@register_flop_formula("convolution_backward")
def _convolution_backward(
    grad: Any,
    x: Any,
    weight: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    mask: int,
    *_: Any,
    **kwargs: Any,
) -> int:
    one = _convolved(x, weight, grad, transposed)
    return one * ((mask & 1) + (mask >> 1 & 1))


@register_flop_formula("attend")
def _attention(query: Any, key: Any, value: Any, *_: Any, **kwargs: Any) -> int:
    scores = 2 * prod(query) * key[-2]
    return scores + 2 * prod(query[:-1]) * key[-2] * value[-1]


class FlopCounterMode(TorchDispatchMode):
    """A context that counts the operations of products and convolutions, by module.

    Args:
        mods: ignored; all modules that run inside are tracked.
        depth: how deep the table goes into modules.
        display: print the table at the end.
        custom_mapping: formulas of further operators.
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int = 2,
        display: bool = True,
        custom_mapping: dict | None = None,
    ) -> None:
        self.depth, self.display = depth, display
        self.formulas = flop_registry | {
            _key(k): lambda a, k, r, f=f: f(*a, **k, out_val=r)
            for k, f in (custom_mapping or {}).items()
        }
        self.flop_counts: dict = {}
        self._path = ["Global"]
        self._names: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self._hooks: list = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        """Call the operator and count."""
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        formula = self.formulas.get(_key(func))
        if formula is not None:
            flops = formula(args, kwargs, result)
            for name in dict.fromkeys(self._path):
                self.flop_counts[name][func.overloadpacket] += flops
        return result

    def _enter_module(self, module: Any, inputs: Any) -> None:
        # The outermost module is called by its class, all below by their attributes: "Net.body.0".
        if module not in self._names:
            for name, inner in module.named_modules(prefix=type(module).__name__):
                self._names[inner] = name
        self._path.append(self._names[module])

    def _leave_module(self, module: Any, inputs: Any, output: Any) -> None:
        self._path.pop()

    def __enter__(self) -> FlopCounterMode:
        from facula.nn.modules import module

        self.flop_counts = defaultdict(lambda: defaultdict(int))
        self._path = ["Global"]
        self._hooks = [
            module.register_module_forward_pre_hook(self._enter_module),
            module.register_module_forward_hook(self._leave_module),
        ]
        super().__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        super().__exit__(*exc)
        for hook in self._hooks:
            hook.remove()
        if self.display:
            print(self.get_table(self.depth))  # noqa: T201

    def get_total_flops(self) -> int:
        """The number of operations counted."""
        return sum(self.flop_counts.get("Global", {}).values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """The counts by module, then by operator."""
        return {k: dict(v) for k, v in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The counts as a table: module, operations, share of all."""
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        lines = [f"{'Module':<40} {'FLOP':>16} {'% Total':>8}"]
        for name, counts in self._rows(depth):
            share = 100 * sum(counts.values()) / total if total else 0
            lines.append(f"{name:<40} {sum(counts.values()):>16,} {share:>7.2f}%")
            lines += [f"{' - ' + str(op):<40} {n:>16,}" for op, n in counts.items()]
        return "\n".join(lines)

    def _rows(self, depth: int) -> Iterable[tuple[str, dict]]:
        for name, counts in self.flop_counts.items():
            if name == "Global" or name.count(".") < depth:
                yield name, counts
