"""Every function of the standard gives what array-api-strict gives, over drawn arguments."""

from __future__ import annotations

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from judging.compare import assert_same, both, given_to, to_numpy
from judging.draws import Draw
from judging.matrices import SAMPLES

from facula import array_api

#: What array-api-strict has beyond the standard, or what is no function.
_ITS_OWN = {
    "Device", "ArrayAPIStrictFlags", "set_array_api_strict_flags", "get_array_api_strict_flags",
    "reset_array_api_strict_flags", "__array_namespace_info__",
}  # fmt: skip


def standard_functions() -> list[str]:
    """List the functions of the standard by the paths of array-api-strict's."""
    names = [n for n in strict.__all__ if n not in _ITS_OWN and callable(getattr(strict, n))]
    names = [n for n in names if not isinstance(getattr(strict, n), strict._dtypes.DType)]
    for extension in ("linalg", "fft"):
        names += [f"{extension}.{n}" for n in getattr(strict, extension).__all__]
    return names


FUNCTIONS = standard_functions()
#: Results that differ by the order of sums, or by the conditioning of matrices.
LOOSE = ("linalg.", "fft.", "sum", "prod", "cumulative_", "mean", "std", "var", "matmul", "diff",
         "vecdot", "tensordot", "pow", "linspace")  # fmt: skip
#: Results that are not determined: what they must satisfy is checked below.
FREE = {"empty", "empty_like", "linalg.qr", "linalg.svd", "linalg.eigh"}
#: Functions whose zeros have a sign that the standard fixes.
SIGNED_ZEROS = set(
    "abs acos asin asinh atan atan2 atanh ceil copysign expm1 floor log1p negative round sin sinh "
    "sqrt tan tanh trunc multiply divide add subtract".split()
)


def test_none_is_forgotten():
    assert set(FUNCTIONS) == set(SAMPLES)
    assert len(FUNCTIONS) == 170


def judged(path: str, data) -> None:
    args, kwargs = SAMPLES[path](Draw(data.draw))
    mine, theirs = both(path, args, kwargs)
    if path in ("finfo", "iinfo"):
        judge_info(mine, theirs)
        return
    assert_same(
        mine,
        theirs,
        values=path not in FREE,
        zeros=path in SIGNED_ZEROS,
        factor=20.0 if path.startswith(LOOSE) else 1.0,
        what=f"{path}(*{args}, **{kwargs})",
    )
    if path in FREE:
        recomposed(path, args, mine)


def judge_info(mine, theirs) -> None:
    for name in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(mine, name, None) == getattr(theirs, name, None)
    assert_same(mine.dtype, theirs.dtype)


def recomposed(path: str, args, mine) -> None:
    """Check that the factors of matrices give them again."""
    x = given_to(array_api, args[0]) if path.startswith("linalg") else None
    if path == "linalg.qr":
        again = array_api.matmul(*mine)
    elif path == "linalg.svd":
        count = mine.S.shape[-1]
        again = array_api.matmul(
            mine.U[..., :count] * mine.S[..., None, :], mine.Vh[..., :count, :]
        )
    elif path == "linalg.eigh":
        vectors = mine.eigenvectors
        scaled = vectors * mine.eigenvalues[..., None, :]
        again = array_api.matmul(scaled, array_api.conj(array_api.matrix_transpose(vectors)))
    else:
        return
    tolerance = 1e-4 if "32" in str(x.dtype) or "64" in str(x.dtype) else 1e-9
    np.testing.assert_allclose(to_numpy(again), to_numpy(x), rtol=tolerance, atol=30 * tolerance)


_CALM = {
    "database": None,
    "deadline": None,
    "derandomize": True,
    "phases": [Phase.generate],  # a failing call is small as it is
    "suppress_health_check": list(HealthCheck),
}


@pytest.mark.parametrize("path", FUNCTIONS)
@settings(max_examples=40, **_CALM)
@given(data=st.data())
def test_values(path, data):
    judged(path, data)


@pytest.mark.full
@pytest.mark.parametrize("path", FUNCTIONS)
@settings(max_examples=1000, **_CALM)
@given(data=st.data())
def test_more_values(path, data):
    judged(path, data)
