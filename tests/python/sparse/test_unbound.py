"""Methods taken from the class Tensor and called with sparse tensors, as map() and wrappers do."""

import pytest

import facula


@pytest.mark.parametrize(
    "name", ["coalesce", "values", "indices", "sparse_dim", "dense_dim", "_nnz", "to_sparse_csr"]
)
def test_methods_of_the_class_are_those_of_the_tensor(name: str) -> None:
    sparse = facula.tensor([[1.0, 0.0], [0.0, 2.0]]).to_sparse().coalesce()
    got, want = getattr(facula.Tensor, name)(sparse), getattr(sparse, name)()
    if isinstance(want, facula.Tensor):
        got, want = got.to_dense(), want.to_dense()
        assert facula.equal(got, want)
    else:
        assert got == want


def test_what_sparse_tensors_lack_is_refused() -> None:
    sparse = facula.eye(2).to_sparse()
    with pytest.raises(NotImplementedError, match="sparse"):
        facula.Tensor.cumsum(sparse, 0)
