"""Errors about the arguments of constructors name the class that was called."""

import inspect

import pytest

from facula import nn

# What hands any arguments on to its base class, or takes them all.
OPEN = {"Container", "GRU", "Identity", "LSTM", "NLLLoss2d", "RNN"}
MODULES = [getattr(nn, name) for name in nn.modules.__all__ if name not in OPEN]


@pytest.mark.parametrize("kind", MODULES, ids=lambda kind: kind.__name__)
def test_errors_name_the_class(kind):
    with pytest.raises(TypeError, match=rf"^{kind.__name__}\.__init__\(\) got an unexpected"):
        kind(no_such_argument=1)
    required = [
        p
        for p in inspect.signature(kind).parameters.values()
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    if required:
        with pytest.raises(TypeError, match=rf"^{kind.__name__}\.__init__\(\) missing"):
            kind()
