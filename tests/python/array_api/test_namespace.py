"""The namespace of the standard: its names, signatures, inspection, and the methods of arrays."""

from __future__ import annotations

import inspect
import operator

import array_api_strict as strict
import numpy as np
import pytest
from test_values import FUNCTIONS

import facula
from facula import array_api

CONSTANTS = {"e", "inf", "nan", "newaxis", "pi"}
DTYPES = {
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
    "float64", "complex64", "complex128",
}  # fmt: skip


def function_of(namespace, path):
    return operator.attrgetter(path)(namespace)


# ---- the namespace


def test_array_namespace():
    x = facula.ones(2)
    assert x.__array_namespace__() is array_api
    for version in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        assert x.__array_namespace__(api_version=version) is array_api
    for version in ("2020.01", "2025.12", "", "newest"):
        with pytest.raises(ValueError, match="api_version"):
            x.__array_namespace__(api_version=version)
    with pytest.raises(TypeError):
        x.__array_namespace__("2024.12")
    assert array_api.__array_api_version__ == "2024.12"


def test_names_are_exactly_those_of_the_standard():
    functions = {path for path in FUNCTIONS if "." not in path}
    others = {"__array_api_version__", "__array_namespace_info__", "fft", "linalg"}
    assert set(array_api.__all__) == functions | CONSTANTS | DTYPES | others
    assert dir(array_api) == sorted(array_api.__all__)
    for extension in ("linalg", "fft"):
        module = getattr(array_api, extension)
        assert dir(module) == sorted(getattr(strict, extension).__all__)
        assert all(hasattr(module, name) for name in module.__all__)


def test_constants_and_dtypes():
    for name in CONSTANTS - {"nan"}:
        assert getattr(array_api, name) == getattr(strict, name)
    assert array_api.nan != array_api.nan
    for name in DTYPES:
        assert getattr(array_api, name) is getattr(facula, name)


@pytest.mark.parametrize("path", FUNCTIONS)
def test_signatures(path):
    mine = inspect.signature(function_of(array_api, path)).parameters.values()
    theirs = inspect.signature(function_of(strict, path)).parameters.values()
    assert [(p.name, p.kind) for p in mine] == [(p.name, p.kind) for p in theirs]
    for p, q in zip(mine, theirs, strict=True):
        default = None if "Undef" in type(q.default).__name__ else q.default
        if path == "expand_dims" and p.name == "axis":
            default = 0  # which array-api-strict lacks
        assert p.default == default, p.name


@pytest.mark.parametrize("path", FUNCTIONS)
def test_docstrings(path):
    assert len(function_of(array_api, path).__doc__) > 4
    assert function_of(array_api, path).__name__ == path.split(".")[-1]


def test_submodule_is_not_imported_with_the_package():
    import subprocess
    import sys

    program = "import sys, facula; print('facula.array_api' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False"


# ---- inspection


def test_info():
    mine, theirs = array_api.__array_namespace_info__(), strict.__array_namespace_info__()
    assert mine.capabilities() == theirs.capabilities()
    assert mine.default_device() == facula.device("cpu")
    assert facula.device("cpu") in mine.devices()
    assert mine.default_dtypes() == {
        "real floating": facula.float32,
        "complex floating": facula.complex64,
        "integral": facula.int64,
        "indexing": facula.int64,
    }
    assert set(mine.dtypes()) == DTYPES
    kinds = ("bool", "signed integer", "unsigned integer", "integral", "real floating",
             "complex floating", "numeric", ("bool", "complex floating"), ())  # fmt: skip
    for kind in kinds:
        found = mine.dtypes(kind=kind, device=facula.device("cpu"))
        assert found == {name: getattr(facula, name) for name in theirs.dtypes(kind=kind)}
    with pytest.raises(ValueError, match="real floating"):
        mine.dtypes(kind="floating")


def test_largest_number_of_dimensions():
    most = array_api.__array_namespace_info__().capabilities()["max dimensions"]
    assert array_api.ones((1,) * most).ndim == most


def test_default_dtypes_follow_the_setting():
    facula.set_default_dtype(facula.float64)
    try:
        assert array_api.__array_namespace_info__().default_dtypes()["complex floating"] == (
            facula.complex128
        )
        assert array_api.asarray(1.5).dtype == facula.float64
        assert array_api.linspace(0, 1j, 3).dtype == facula.complex128
    finally:
        facula.set_default_dtype(facula.float32)


# ---- the array object


def test_array_attributes():
    x = facula.ones(2, 3)
    assert x.shape == (2, 3) and isinstance(x.shape, tuple)
    assert x.ndim == 2 and x.dtype is facula.float32 and x.device == facula.device("cpu")
    assert x.T.shape == (3, 2) and facula.ones(4, 2, 3).mT.shape == (4, 3, 2)


def test_to_device():
    x = facula.ones(2)
    assert x.to_device(x.device) is x
    assert x.to_device("meta").is_meta
    with pytest.raises(ValueError, match="stream"):
        x.to_device("cpu", stream=1)
    with pytest.raises(TypeError):
        x.to_device(device="cpu")


SPECIAL_METHODS = sorted(
    {n for n, f in vars(type(strict.asarray(1))).items() if n.startswith("__") and callable(f)}
    - {"__buffer__", "__release_buffer__", "__new__", "__init__"}
)


@pytest.mark.parametrize("name", SPECIAL_METHODS)
def test_special_methods(name):
    if name == "__imatmul__":  # Python takes __matmul__ for it, as of PyTorch's tensors
        x = facula.eye(2)
        x @= 2 * facula.eye(2)
        assert x.tolist() == [[2, 0], [0, 2]]
        return
    assert callable(getattr(facula.Tensor, name))


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_python_numbers(dtype):
    x = facula.tensor(1, dtype=getattr(facula, dtype))
    assert bool(x) is True and complex(x) == 1
    if "complex" not in dtype:
        assert float(x) == 1.0 and int(x) == 1
    if "int" in dtype:
        assert operator.index(x) == 1
    elif dtype != "bool":  # which PyTorch takes for an index too
        with pytest.raises(TypeError):
            operator.index(x)


# ---- DLPack


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_from_numpy_by_dlpack(dtype):
    source = np.ones((2, 3), dtype)
    x = array_api.from_dlpack(source)
    assert x.dtype is getattr(facula, dtype) and x.shape == (2, 3)
    source[0, 0] = 0
    assert x[0, 0] == 0
    y = array_api.from_dlpack(source, copy=True)
    source[0, 1] = 0
    assert y[0, 1] == 1


def test_dlpack_arguments():
    x = facula.arange(4)
    back = np.from_dlpack(x)
    x[0] = 9
    assert back[0] == 9 and x.__dlpack_device__() == (1, 0)
    assert array_api.from_dlpack(x, device="cpu", copy=False).data_ptr() == x.data_ptr()
    assert array_api.from_dlpack(x, copy=True).data_ptr() != x.data_ptr()
    for options in ({"max_version": (1, 0)}, {"dl_device": (1, 0)}, {"copy": True}, {}):
        assert x.__dlpack__(**options) is not None
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="copy"):
        array_api.from_dlpack(x, device="meta", copy=False)
