"""Shared fixtures of the nn tests."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    """A generator of arrays with a fixed seed."""
    return np.random.default_rng(0)
