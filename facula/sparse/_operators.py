"""The operators of sparse tensors, by name: what `SparseTensor.__torch_function__` looks up.

Each takes the arguments of the strided operator. What works on values alone is made of the
differentiable operator on values; the rest calls the compiled functions. A module a family
registers them when it is imported.
"""

from facula.sparse import (  # noqa: F401
    _arithmetic,
    _copies,
    _products,
    _queries,
    _reductions,
    _shapes,
)
from facula.sparse._table import TABLE, on_values

__all__ = ["TABLE", "on_values"]
