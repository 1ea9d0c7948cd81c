"""Padding, resizing, pixel shuffles, folds, sampling grids, embeddings, distances."""

import numpy as np
import pytest

import facula
from facula import nn
from facula.nn import functional as F


def array(t):
    return t.detach().numpy()


def tensor(a):
    return facula.from_numpy(np.array(a))


def numpy_pads(rank, pad):
    pairs = [(pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)][::-1]
    return [(0, 0)] * (rank - len(pairs)) + pairs


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("mode, numpy_mode", [
    ("constant", "constant"), ("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap"),
])  # fmt: skip
def test_pad(rng, rank, mode, numpy_mode):
    x = rng.standard_normal((2, 3, 4, 5, 4)[: rank + 2])
    pad = (1, 2, 2, 0, 3, 1)[: 2 * rank]
    got = F.pad(tensor(x), pad, mode)
    expected = np.pad(x, numpy_pads(x.ndim, pad), mode=numpy_mode)
    np.testing.assert_array_equal(array(got), expected)
    name = {"constant": "ZeroPad", "reflect": "ReflectionPad", "replicate": "ReplicationPad",
            "circular": "CircularPad"}[mode]  # fmt: skip
    module = getattr(nn, f"{name}{rank}d")(pad)
    np.testing.assert_array_equal(array(module(tensor(x))), expected)
    np.testing.assert_array_equal(array(module(tensor(x[0]))), expected[0])


def test_constant_pad_of_any_rank(rng):
    x = rng.standard_normal((2, 3))
    got = array(F.pad(tensor(x), (1, -1, 2, 0), value=7.0))
    np.testing.assert_array_equal(got, np.pad(x, [(2, 0), (1, 0)], constant_values=7.0)[:, :-1])
    assert repr(nn.ConstantPad1d(2, 3.5)) == "ConstantPad1d(padding=(2, 2), value=3.5)"
    assert repr(nn.ZeroPad2d(1)) == "ZeroPad2d((1, 1, 1, 1))"


def test_pad_refusals():
    x = facula.ones(2, 3, 4, 4)
    with pytest.raises(RuntimeError, match="must be divisible by 2"):
        F.pad(x, (1,))
    with pytest.raises(NotImplementedError, match="Unrecognised padding mode"):
        F.pad(x, (1, 1), "other")
    with pytest.raises(NotImplementedError, match="Padding size 2 is not supported for 4D"):
        F.pad(x, (1, 1), "circular")
    with pytest.raises(RuntimeError, match="wrapping around more than once"):
        F.pad(x, (5, 1, 1, 1), "circular")
    with pytest.raises(RuntimeError, match="doesn't take in value"):
        F.pad(x, (1, 1, 1, 1), "reflect", value=1.0)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_nearest(rng, rank):
    x = rng.standard_normal((2, 3, 4, 5, 3)[: rank + 2])
    got = nn.Upsample(scale_factor=2)(tensor(x))
    expected = x
    for d in range(rank):
        expected = expected.repeat(2, axis=2 + d)
    np.testing.assert_array_equal(array(got), expected)
    sizes = [3, 7, 2][:rank]
    got = array(F.interpolate(tensor(x), size=sizes))
    at = [
        np.floor(np.arange(n) * (s / n)).astype(int)
        for n, s in zip(sizes, x.shape[2:], strict=True)
    ]
    np.testing.assert_array_equal(got, x[(slice(None), slice(None), *np.ix_(*at))])


def linear_1d(x, n, align):
    """Linear interpolation along the last axis."""
    s = x.shape[-1]
    at = np.arange(n) * (s - 1) / max(n - 1, 1) if align else (np.arange(n) + 0.5) * s / n - 0.5
    at = np.clip(at, 0, s - 1)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, s - 1)
    return x[..., low] * (1 - (at - low)) + x[..., high] * (at - low)


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("rank, mode", [(1, "linear"), (2, "bilinear"), (3, "trilinear")])
def test_linear_resizing(rng, rank, mode, align):
    x = rng.standard_normal((2, 3, 4, 5, 3)[: rank + 2])
    sizes = [7, 3, 6][:rank]
    expected = x
    for d, n in enumerate(sizes):
        expected = np.moveaxis(linear_1d(np.moveaxis(expected, 2 + d, -1), n, align), -1, 2 + d)
    got = F.interpolate(tensor(x), sizes, mode=mode, align_corners=align)
    np.testing.assert_allclose(array(got), expected, rtol=1e-9, atol=1e-12)


def test_resizing_by_area_and_by_factor(rng):
    x = rng.standard_normal((1, 2, 4, 6))
    got = F.interpolate(tensor(x), (2, 3), mode="area")
    expected = x.reshape(1, 2, 2, 2, 3, 2).mean((3, 5))
    np.testing.assert_allclose(array(got), expected, rtol=1e-9)
    assert F.interpolate(tensor(x), scale_factor=1.6).shape == (1, 2, 6, 9)
    assert nn.UpsamplingBilinear2d(scale_factor=2)(tensor(x)).shape == (1, 2, 8, 12)


def test_bicubic_reproduces_lines():
    x = np.arange(8.0).reshape(1, 1, 1, 8).repeat(8, axis=2)
    got = array(F.interpolate(tensor(x), (8, 15), mode="bicubic", align_corners=True))
    np.testing.assert_allclose(got[0, 0, 0, 4:11], np.arange(4, 11) / 2, rtol=1e-9)


# Of (arange(35) * 37 % 256) as a 5 x 7 picture of bytes, to 3 x 4 and to 6 x 9; as PyTorch 2.15.
BYTES = {
    ("bilinear", True): ([20, 78, 146, 204, 25, 83, 151, 209, 30, 88, 156, 214],
                         [0, 25, 53, 82, 111, 140, 169, 197, 222]),
    ("bilinear", False): ([15, 80, 144, 209, 20, 85, 149, 214, 25, 90, 154, 219],
                          [0, 25, 53, 82, 111, 140, 169, 197, 222]),
    ("bicubic", True): ([16, 78, 146, 208, 21, 83, 151, 213, 26, 88, 156, 218],
                        [0, 22, 53, 82, 111, 140, 169, 200, 224]),
    ("bicubic", False): ([12, 81, 143, 212, 17, 86, 148, 217, 22, 91, 153, 222],
                         [0, 21, 54, 84, 111, 138, 168, 201, 224]),
}


@pytest.mark.parametrize("mode, antialias", BYTES)
def test_pictures_of_bytes(mode, antialias):
    x = (facula.arange(35) * 37 % 256).to(facula.uint8).view(1, 1, 5, 7)
    small, first_row = BYTES[mode, antialias]
    assert F.interpolate(x, (3, 4), mode=mode, antialias=antialias).flatten().tolist() == small
    wide = F.interpolate(x, (6, 9), mode=mode, antialias=antialias)
    assert wide[0, 0, 0].tolist() == first_row
    assert facula.equal(F.interpolate(x, (5, 7), mode=mode, antialias=antialias), x)


def test_bytes_are_rounded_between_passes(rng):
    """Near the picture in floats, and the same for its transpose up to that rounding."""
    x = tensor(rng.integers(0, 256, (2, 3, 30, 40)).astype(np.uint8))
    for mode, limit in [("bilinear", 1), ("bicubic", 30)]:
        got = F.interpolate(x, (17, 23), mode=mode, antialias=True).int()
        exact = F.interpolate(x.double(), (17, 23), mode=mode, antialias=True)
        assert got.dtype == facula.int32
        assert (got - exact.round().clamp(0, 255).int()).abs().max() <= limit


def test_interpolate_refusals():
    x = facula.ones(1, 1, 4, 4)
    with pytest.raises(ValueError, match="either size or scale_factor"):
        F.interpolate(x)
    with pytest.raises(ValueError, match="only one of size or scale_factor"):
        F.interpolate(x, 2, 2)
    with pytest.raises(ValueError, match="align_corners option can only be set"):
        F.interpolate(x, 2, align_corners=True)
    with pytest.raises(NotImplementedError, match="Got 4D input, but linear mode needs 3D input"):
        F.interpolate(x, 2, mode="linear")
    with pytest.raises(ValueError, match="same number of spatial dimensions"):
        F.interpolate(x, (2,))


def test_pixel_and_channel_shuffles():
    x = np.arange(16.0).reshape(1, 4, 2, 2)
    up = nn.PixelShuffle(2)(tensor(x))
    expected = x.reshape(1, 1, 2, 2, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(1, 1, 4, 4)
    np.testing.assert_array_equal(array(up), expected)
    np.testing.assert_array_equal(array(nn.PixelUnshuffle(2)(up)), x)
    got = array(nn.ChannelShuffle(2)(tensor(x)))
    np.testing.assert_array_equal(got, x[:, [0, 2, 1, 3]])


def test_unfold_and_fold(rng):
    x = rng.standard_normal((2, 3, 5, 4))
    columns = nn.Unfold(2, stride=1)(tensor(x))
    assert columns.shape == (2, 12, 12)
    block = x[:, :, 1:3, 2:4].reshape(2, -1)
    np.testing.assert_array_equal(array(columns)[:, :, 1 * 3 + 2], block)
    back = array(nn.Fold((5, 4), 2)(columns))
    counts = array(nn.Fold((5, 4), 2)(nn.Unfold(2)(tensor(np.ones_like(x)))))
    np.testing.assert_allclose(back, x * counts, rtol=1e-9)


def test_grids(rng):
    theta = np.array([[[1.0, 0, 0], [0, 1, 0]]])
    for align in (False, True):
        grid = F.affine_grid(tensor(theta), (1, 1, 3, 4), align_corners=align)
        ys, xs = ((np.arange(n) * 2 + 1) / n - 1 if not align else np.linspace(-1, 1, n)
                  for n in (3, 4))  # fmt: skip
        np.testing.assert_allclose(array(grid)[0, :, 0, 1], ys, atol=1e-12)
        np.testing.assert_allclose(array(grid)[0, 0, :, 0], xs, atol=1e-12)
        x = rng.standard_normal((1, 2, 3, 4))
        same = F.grid_sample(tensor(x), grid, align_corners=align)
        np.testing.assert_allclose(array(same), x, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="expected mode to be"):
        F.grid_sample(tensor(x), grid, mode="x")


def test_flatten_and_unflatten():
    x = facula.ones(2, 3, 4)
    assert nn.Flatten()(x).shape == (2, 12) and nn.Flatten(0, 1)(x).shape == (6, 4)
    assert nn.Unflatten(1, (3, 1))(x).shape == (2, 3, 1, 4)
    with pytest.raises(TypeError, match="unflattened_size must be a tuple of ints"):
        nn.Unflatten(1, 2.0)


def test_embedding(rng):
    table = nn.Embedding(5, 3, padding_idx=2)
    assert (array(table.weight)[2] == 0).all()
    at = facula.tensor([[0, 2, 0], [4, 1, 2]])
    out = table(at)
    np.testing.assert_array_equal(array(out), array(table.weight)[array(at)])
    out.sum().backward()
    assert array(table.weight.grad)[:, 0].tolist() == [2.0, 1.0, 0.0, 0.0, 1.0]
    with pytest.raises(AssertionError, match="Padding_idx must be within num_embeddings"):
        nn.Embedding(3, 2, padding_idx=5)


def test_embedding_max_norm_and_pretrained(rng):
    values = rng.standard_normal((4, 3)) * 5
    table = nn.Embedding.from_pretrained(tensor(values), max_norm=1.0)
    assert not table.weight.requires_grad
    out = array(table(facula.tensor([0, 2])))
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    np.testing.assert_allclose(out, (values / lengths)[[0, 2]], rtol=1e-5)
    np.testing.assert_array_equal(array(table.weight)[1], values[1])


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_embedding_bag(rng, mode):
    bag = nn.EmbeddingBag(6, 3, mode=mode, dtype=facula.float64)
    weight = array(bag.weight)
    at, starts = np.array([1, 2, 4, 5, 4, 3, 2]), np.array([0, 2, 5])
    parts = [weight[p] for p in np.split(at, starts[1:])]
    expected = np.stack([getattr(p, mode)(0) for p in parts])
    np.testing.assert_allclose(array(bag(tensor(at), tensor(starts))), expected, rtol=1e-9)
    rows = at[:6].reshape(2, 3)
    expected = getattr(weight[rows], mode)(1)
    np.testing.assert_allclose(array(bag(tensor(rows))), expected, rtol=1e-9)
    with pytest.raises(ValueError, match="offsets has to be a 1D Tensor but got None"):
        bag(tensor(at))


def test_embedding_bag_weights(rng):
    bag = nn.EmbeddingBag(6, 3, mode="sum", dtype=facula.float64)
    rows, scale = rng.integers(0, 6, (2, 4)), rng.random((2, 4))
    expected = (array(bag.weight)[rows] * scale[..., None]).sum(1)
    got = bag(tensor(rows), per_sample_weights=tensor(scale))
    np.testing.assert_allclose(array(got), expected, rtol=1e-9)
    with pytest.raises(NotImplementedError, match="only supported for mode='sum'"):
        F.embedding_bag(tensor(rows), bag.weight, per_sample_weights=tensor(scale))


def test_distances(rng):
    a, b = rng.standard_normal((4, 3)), rng.standard_normal((4, 3))
    expected = np.linalg.norm(a - b + 1e-6, axis=1)
    np.testing.assert_allclose(array(nn.PairwiseDistance()(tensor(a), tensor(b))), expected)
    expected = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    np.testing.assert_allclose(array(nn.CosineSimilarity()(tensor(a), tensor(b))), expected)
    unit = array(F.normalize(tensor(a), dim=1))
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1.0)
    assert F.one_hot(facula.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]


def test_embedding_bag_refuses_other_types_and_positions():
    weight, index, starts = facula.ones(5, 3), facula.tensor([0, 1, 2]), facula.tensor([0, 2])
    for call in (
        lambda: F.embedding_bag(index, weight.long(), starts),
        lambda: F.embedding_bag(index, weight.to(facula.complex64), starts),
        lambda: F.embedding_bag(index, weight, starts.double()),
        lambda: F.embedding_bag(facula.tensor([0, 5, 1]), weight, starts),
        lambda: F.embedding_bag(facula.tensor([0, -1, 1]), weight, starts),
        lambda: F.embedding_bag(
            index, weight, starts, mode="sum", per_sample_weights=facula.ones(3).double()
        ),
    ):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(IndexError, match="negative"):
        F.embedding_bag(index, weight, facula.tensor([0, -1]))


def test_embedding_bag_of_indices_that_are_in_no_bag():
    weight, index = facula.arange(15.0).reshape(5, 3), facula.tensor([0, 1, 2])
    empty = facula.tensor([], dtype=facula.int64)
    assert F.embedding_bag(index, weight, empty).shape == (0, 3)
    out = F.embedding_bag(
        index,
        weight,
        facula.tensor([0, 2]),
        mode="sum",
        include_last_offset=True,
        per_sample_weights=facula.tensor([1.0, 2.0, 9.0]),
    )
    assert out.tolist() == [[6, 9, 12]]
    out = F.embedding_bag(index.to(facula.int8), weight, facula.tensor([0]))
    assert out.tolist() == [[3, 4, 5]]
