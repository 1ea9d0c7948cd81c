"""Operators that programs define: calls, gradients, shapes without data, names."""

import pytest

import facula
from facula import library


def test_custom_op():
    @library.custom_op("facula_test::scaled", mutates_args=())
    def scaled(x: facula.Tensor, factor: float = 2.0) -> facula.Tensor:
        assert not facula.is_grad_enabled()
        return facula.from_numpy(x.detach().numpy() * factor)

    x = facula.tensor([1.0, 3.0])
    assert scaled(x).tolist() == [2.0, 6.0]
    assert facula.ops.facula_test.scaled(x, factor=3.0).tolist() == [3.0, 9.0]
    assert facula.ops.facula_test.scaled.default(x, 1.0).tolist() == [1.0, 3.0]
    assert scaled._op.schema == "(Tensor x, float factor=2.0) -> Tensor"
    x.requires_grad_()
    with pytest.raises(RuntimeError, match="no autograd formula"):
        scaled(x).sum().backward()

    def setup(ctx, inputs, output):
        ctx.factor = inputs[1]

    scaled.register_autograd(lambda ctx, grad: (grad * ctx.factor, None), setup_context=setup)
    scaled(x, 5.0).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
    with pytest.raises(NotImplementedError):
        scaled._op.kernels.clear() or scaled(facula.ones(1))
    scaled.register_kernel("cpu", lambda x, factor: x * 0)
    assert scaled(facula.ones(1)).tolist() == [0.0]
    scaled.register_fake(lambda x, factor: facula.empty_like(x))
    assert scaled(facula.empty(3, device="meta")).shape == (3,)


def test_list_arguments_and_several_outputs():
    @library.custom_op("facula_test::two", mutates_args=())
    def two(xs: list[facula.Tensor], n: int) -> tuple[facula.Tensor, facula.Tensor]:
        return sum(xs) * n, xs[0] - xs[1]

    two.register_autograd(
        lambda ctx, a, b: ([a * ctx.n + b, a * ctx.n - b], None),
        setup_context=lambda ctx, inputs, output: setattr(ctx, "n", inputs[1]),
    )
    x, y = (facula.tensor([v], requires_grad=True) for v in (1.0, 2.0))
    total, difference = two([x, y], 3)
    assert total.tolist() == [9.0] and difference.tolist() == [-1.0]
    (total + 10 * difference).sum().backward()
    assert x.grad.tolist() == [13.0] and y.grad.tolist() == [-7.0]


def test_mutation():
    @library.custom_op("facula_test::fill", mutates_args=("x",))
    def fill(x: facula.Tensor, value: float) -> None:
        x.fill_(value)

    x = facula.zeros(2)
    assert fill(x, 4.0) is None and x.tolist() == [4.0, 4.0]
    with pytest.raises(ValueError):
        library.custom_op("facula_test::bad", lambda x: x, mutates_args=("y",), schema="(Tensor x)")


def test_library_objects():
    lib = library.Library("facula_test2", "DEF")
    assert lib.define("plus(Tensor x, int n=1) -> Tensor") == "plus"
    lib.impl("plus", lambda x, n: x + n, "CPU")
    assert facula.ops.facula_test2.plus(facula.ones(1)).tolist() == [2.0]
    assert facula.ops.facula_test2.plus(facula.ones(1), n=4).tolist() == [5.0]

    @library.impl("facula_test2::minus", "CompositeImplicitAutograd")
    def minus(x):
        return x - 1

    library.define("facula_test2::minus", "(Tensor x) -> Tensor")
    x = facula.ones(1, requires_grad=True)
    facula.ops.facula_test2.minus(x).backward()
    assert x.grad.tolist() == [1.0]


def test_names_that_are_not_there():
    library.register_fake("no_such_extension::nms", lambda *a: None)
    with pytest.raises(AttributeError, match="no_such_extension"):
        facula.ops.no_such_extension.nms(facula.ones(1))
    assert facula.ops.aten.add.Tensor(facula.ones(1), 2).tolist() == [3.0]
    with pytest.raises(OSError):
        facula.ops.load_library("extension.so")
    with pytest.raises(ValueError, match="annotation"):
        library.infer_schema(lambda x: x, mutates_args=())


def test_custom_op_in_vmap():
    @library.custom_op("facula_test::tripled", mutates_args=())
    def tripled(x: facula.Tensor, y: facula.Tensor) -> facula.Tensor:
        return facula.tensor((x.numpy() * 3 + y.numpy()).tolist())

    x, y = facula.arange(6.0).view(2, 3), facula.ones(3)
    mapped = facula.vmap(tripled, (0, None))
    with pytest.warns(UserWarning, match="no batching rule"):
        assert mapped(x, y).tolist() == (x * 3 + y).tolist()
    nested = facula.vmap(facula.vmap(tripled))
    with pytest.warns(UserWarning, match="no batching rule"):
        assert nested(x, x).tolist() == (x * 4).tolist()
    seen = []

    @tripled.register_vmap
    def rule(info, in_dims, x, y):
        seen.append((info.batch_size, in_dims))
        return tripled(x, y), 0

    assert mapped(x, y).tolist() == (x * 3 + y).tolist()
    assert seen == [(2, (0, None))]


def test_halves_of_layers_under_their_library_names():
    aten = facula.ops.aten
    x = facula.tensor([[1.0, 2.0, 4.0], [0.0, -1.0, 3.0]], requires_grad=True)
    up = facula.tensor([[1.0, -2.0, 0.5], [3.0, 1.0, 2.0]])
    for forward, backward in (
        (facula.softmax, aten._softmax_backward_data),
        (facula.log_softmax, aten._log_softmax_backward_data),
    ):
        y = forward(x, 1)
        (expected,) = facula.autograd.grad(y, x, up)
        assert facula.allclose(backward(up, y.detach(), 1, facula.float32), expected)
        half = [t.detach().bfloat16() for t in (up * 100, y)]
        exact = backward(half[0].float(), half[1].float(), 1, facula.bfloat16)
        assert backward(*half, 1, facula.bfloat16).equal(exact)
        assert getattr(facula, backward.__name__)(*half, 1, facula.bfloat16).equal(exact)
    lost = facula.tensor([[float("-inf")] * 2, [0.0, 0.0]], requires_grad=True)
    y = aten._safe_softmax(lost, 1)
    y.sum().backward()
    assert y.tolist() == [[0.0, 0.0], [0.5, 0.5]] and lost.grad.tolist() == [[0.0, 0.0]] * 2
    mask = facula.tensor([True, False])
    assert aten.native_dropout_backward(facula.ones(2), mask, 2.0).tolist() == [2.0, 0.0]


def test_pooling_and_resizing_under_their_library_names():
    aten, F = facula.ops.aten, facula.nn.functional
    x = facula.rand(2, 3, 6, 7, requires_grad=True)
    y, at = F.max_pool2d(x, 3, 2, 1, return_indices=True)
    (expected,) = facula.autograd.grad(y.sum(), x)
    found = aten.max_pool2d_with_indices_backward(
        facula.ones_like(y), x.detach(), [3, 3], [2, 2], [1, 1], [1, 1], False, at
    )
    assert facula.equal(found, expected)
    for mode in ("bilinear", "bicubic"):
        small = getattr(aten, f"_upsample_{mode}2d_aa")(x, [3, 4], False)
        assert facula.equal(small, F.interpolate(x, (3, 4), mode=mode, antialias=True))
        resize = getattr(aten, f"_upsample_{mode}2d_aa")
        whole = facula.equal(resize(x, [3, 4], False, 0.5, None), small)
        assert whole and facula.equal(resize(x, [3, 4], False, None, 4 / 7), small)
        with pytest.raises(NotImplementedError, match="scales of another output size"):
            resize(x, [3, 4], False, None, 0.3)


def test_normalisation_and_attention_under_their_library_names():
    aten = facula.ops.aten
    x, mean, var = facula.rand(4, 3, 5), facula.zeros(3), facula.ones(3)
    out, saved, rstd, reserve = aten._batch_norm_with_update(x, None, None, mean, var, 0.5, 1e-5)
    assert facula.allclose(saved, x.mean((0, 2))) and facula.allclose(mean, saved / 2)
    assert facula.allclose(out, (x - saved[:, None]) * rstd[:, None], atol=1e-5)
    assert reserve.dtype == facula.uint8 and reserve.numel() == 0
    q, k = facula.rand(1, 2, 4, 8), facula.rand(1, 2, 6, 8)
    out, sums = aten._scaled_dot_product_flash_attention_for_cpu(q, k, k, 0.0, True)
    scores = (q @ k.mT / 8**0.5).masked_fill(~facula.ones(4, 6).bool().tril(), float("-inf"))
    assert facula.allclose(sums, scores.logsumexp(-1), atol=1e-5)
    assert facula.allclose(out, scores.softmax(-1) @ k, atol=1e-5)
