"""Marks for where a model would change to integers and back: the identity."""

from __future__ import annotations

from typing import Any

from facula import nn

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]


class QuantStub(nn.Module):
    """Marks where tensors would become quantised: the identity."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        """Return `x`."""
        return x


class DeQuantStub(QuantStub):
    """Marks where tensors would become floating again: the identity."""


class QuantWrapper(nn.Module):
    """A module between the two marks."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.quant, self.dequant, self.module = QuantStub(), DeQuantStub(), module
        self.train(module.training)

    def forward(self, x: Any) -> Any:
        """Return what the module makes of `x`."""
        return self.dequant(self.module(self.quant(x)))
