"""Nested tensors of the strided layout: made, taken apart, padded and printed."""

import pytest

import facula
from facula import nested


@pytest.fixture
def parts():
    return [facula.arange(6.0).view(2, 3), facula.arange(12.0).view(3, 4)]


def test_parts(parts):
    t = nested.nested_tensor(parts)
    assert t.is_nested and t.layout is facula.strided and len(t) == 2 and t.dim() == 3
    assert t.is_cpu and not t.is_meta and t.is_signed()
    for a, b in zip(t.unbind(), parts, strict=True):
        assert facula.equal(a, b)
    assert facula.equal(t[1], parts[1]) and t.numel() == 18


def test_sizes(parts):
    t = nested.nested_tensor([parts[0], facula.ones(4, 3)])
    assert t.size(0) == 2 and t.size(2) == t.size(-1) == 3
    with pytest.raises(RuntimeError, match="dimension 1 is irregular"):
        t.size(1)
    with pytest.raises(RuntimeError, match="doesn't support sizes"):
        t.size()
    with pytest.raises(RuntimeError, match="doesn't support sizes"):
        _ = t.shape
    with pytest.raises(IndexError):
        t.size(3)


def test_padding(parts):
    t = nested.nested_tensor(parts)
    dense = t.to_padded_tensor(-1.0)
    assert dense.shape == (2, 3, 4)
    assert facula.equal(dense[0, :2, :3], parts[0]) and facula.equal(dense[1], parts[1])
    assert (dense[0, 2] == -1).all() and (dense[0, :, 3] == -1).all()
    wide = nested.to_padded_tensor(t, 0.0, (3, 4, 5))
    assert wide.shape == (3, 4, 5) and not wide[2].any()
    with pytest.raises(RuntimeError, match="output_size"):
        t.to_padded_tensor(0.0, (2, 2, 4))


def test_gradients(parts):
    leaf = parts[0].requires_grad_(True)
    t = nested.as_nested_tensor([leaf, parts[1]])
    (t.to_padded_tensor(0.0) * 3).sum().backward()
    assert (leaf.grad == 3).all()
    own = nested.nested_tensor([p.detach() for p in parts], requires_grad=True)
    own.unbind()[1].sum().backward()
    assert facula.equal(own.grad.unbind()[1], facula.ones(3, 4)) and own.is_leaf


def test_text(parts):
    t = nested.nested_tensor([facula.ones(1, 2), facula.zeros(2, 1)])
    assert repr(t) == (
        "nested_tensor([\n  tensor([[1., 1.]]),\n  tensor([[0.],\n          [0.]])\n])"
    )


def test_other_functions_are_refused_by_name(parts):
    t = nested.nested_tensor(parts)
    for f, name in [(lambda: t + 1, "add"), (lambda: t.sum(), "sum"), (lambda: t @ t, "matmul")]:
        with pytest.raises(NotImplementedError, match=name):
            f()
    with pytest.raises(RuntimeError, match="same dimension"):
        nested.nested_tensor([facula.ones(1), facula.ones(1, 1)])


def test_between_layouts(parts):
    t = nested.nested_tensor([parts[0], facula.ones(4, 3)])
    assert nested.as_nested_tensor(t, layout=facula.jagged).offsets().tolist() == [0, 2, 6]
    back = nested.as_nested_tensor(nested.as_nested_tensor(t, layout=facula.jagged))
    assert back.layout is facula.strided and facula.equal(back[0], parts[0])
    assert t.double().dtype == facula.float64
