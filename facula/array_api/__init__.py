"""The namespace of the Python array API standard, revision 2024.12.

`Tensor.__array_namespace__()` gives this module. It holds the names of the standard, with its
signatures and rules: positional arguments by place only, options by keyword, promotion by dtype
alone. Arrays are `facula.Tensor`; derivatives flow through all functions as they do elsewhere.
The files follow the chapters of the standard.
"""

from __future__ import annotations

import math as _math

from facula.array_api import (
    _creation,
    _data_types,
    _elementwise,
    _indexing,
    _info,
    _linear_algebra,
    _manipulation,
    _searching,
    _sets,
    _statistical,
    fft,
    linalg,
)
from facula.array_api._creation import *
from facula.array_api._data_types import *
from facula.array_api._elementwise import *
from facula.array_api._indexing import *
from facula.array_api._info import __array_namespace_info__
from facula.array_api._linear_algebra import *
from facula.array_api._manipulation import *
from facula.array_api._searching import *
from facula.array_api._sets import *
from facula.array_api._statistical import *

__array_api_version__ = "2024.12"

e = _math.e
inf = _math.inf
nan = _math.nan
newaxis = None
pi = _math.pi

#: The revisions that `Tensor.__array_namespace__` accepts: the later ones only added to the first.
_REVISIONS = ("2021.12", "2022.12", "2023.12", "2024.12")

__all__ = [
    *("__array_api_version__", "__array_namespace_info__"),
    *("e", "inf", "nan", "newaxis", "pi", "fft", "linalg"),
    *_creation.__all__,
    *_data_types.__all__,
    *_elementwise.__all__,
    *_indexing.__all__,
    *_linear_algebra.__all__,
    *_manipulation.__all__,
    *_searching.__all__,
    *_sets.__all__,
    *_statistical.__all__,
]


def __dir__() -> list[str]:
    return sorted(__all__)
