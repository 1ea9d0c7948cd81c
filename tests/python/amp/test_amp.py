"""autocast and GradScaler, against types and values recorded from PyTorch 2.15."""

import pytest

import facula
from facula.nn import functional


def test_types_inside():
    x, w = facula.ones(4, 4), facula.ones(4, 4)
    half = facula.bfloat16
    with facula.autocast("cpu"):
        assert facula.is_autocast_enabled("cpu") and not facula.is_autocast_enabled("cuda")
        assert (x @ w).dtype == facula.mm(x, w).dtype == functional.linear(x, w).dtype == half
        assert facula.nn.Conv2d(1, 1, 1)(facula.ones(1, 1, 2, 2)).dtype == half
        assert (x + w).dtype == facula.float32
        assert functional.relu(x @ w).dtype == half
        assert functional.mse_loss(x @ w, (x @ w)).dtype == facula.float32
        assert facula.cat([x @ w, x]).dtype == facula.float32
        assert (x.double() @ w.double()).dtype == facula.float64
        with facula.autocast("cpu", enabled=False):
            assert (x @ w).dtype == facula.float32 and not facula.is_autocast_enabled("cpu")
        assert (x @ w).dtype == half
    assert (x @ w).dtype == facula.float32 and not facula.is_autocast_enabled("cpu")
    with facula.autocast("cpu", dtype=facula.float16):
        assert (x @ w).dtype == facula.float16 == facula.get_autocast_dtype("cpu")


def test_products_by_other_names():
    x, v = facula.ones(2, 6, 8), facula.ones(8)
    half, single = facula.bfloat16, facula.float32
    narrow = x.to(half)
    with facula.autocast("cpu"):
        assert facula.einsum("bij,bkj->bik", x, x).dtype == half
        assert facula.einsum("i,i->", v, v).dtype == half
        assert facula.einsum("ij,jk,kl->il", x[0], x[0].T, x[0]).dtype == half
        assert facula.einsum("bij,bij->bij", x, x).dtype == single
        assert facula.einsum("bij->b", x).dtype == single
        assert facula.tensordot(x, x, 3).dtype == facula.inner(x, x).dtype == half
        assert facula.inner(v, v).dtype == facula.mv(x[0], v).dtype == single
        assert facula.nn.PReLU()(x).dtype == facula.matrix_power(x[:, :, :6], 3).dtype == half
        assert facula.nn.Bilinear(8, 8, 3)(x, x).dtype == facula.nn.GRU(8, 4)(x)[0].dtype == single
        assert functional.interpolate(narrow, scale_factor=2.0, mode="linear").dtype == half
        assert functional.pad(narrow, (1, 1), mode="reflect").dtype == single
        assert functional.adaptive_avg_pool3d(narrow[None], 2).dtype == single


def test_norms_that_have_namesakes():
    x = facula.arange(24.0).reshape(2, 3, 4).cos()
    for norm in (facula.nn.BatchNorm1d(3), facula.nn.InstanceNorm1d(3, affine=True)):
        wanted = norm(x)
        with facula.autocast("cpu"):
            found = norm(x)
        assert facula.equal(found, wanted) and found.requires_grad


def test_as_decorator_and_gradients():
    net = facula.nn.Linear(3, 2)

    @facula.autocast("cpu")
    def loss(x):
        return net(x).float().pow(2).sum()

    loss(facula.ones(4, 3)).backward()
    assert net.weight.grad.dtype == facula.float32 and net.weight.grad.shape == (2, 3)


def test_cuda_is_switched_off_with_a_warning():
    with pytest.warns(UserWarning, match="CUDA is not available"), facula.autocast("cuda"):
        assert not facula.is_autocast_enabled("cuda")
    with pytest.warns(UserWarning, match="CUDA is not available"):
        scaler = facula.amp.GradScaler()
    assert not scaler.is_enabled() and scaler.get_scale() == 1.0
    with pytest.raises(RuntimeError):
        facula.autocast("no such device")


def test_scaler():
    p = facula.nn.Parameter(facula.tensor([1.0, 2.0]))
    optimizer = facula.optim.SGD([p], lr=0.5)
    scaler = facula.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    for factor, scale in ((1.0, 8.0), (1.0, 16.0), (float("inf"), 8.0)):
        optimizer.zero_grad()
        before = p.detach().clone()
        scaler.scale((p * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        assert scaler.get_scale() == scale
        assert p.tolist() == (before - (0.5 if factor == 1.0 else 0.0)).tolist()
    state = scaler.state_dict()
    again = facula.amp.GradScaler("cpu")
    again.load_state_dict(state)
    assert again.get_scale() == 8.0 and again.state_dict() == state
    with pytest.raises(AssertionError):
        scaler.update()
    (p.sum()).backward()
    scaler.scale(facula.ones(()))
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)


def test_custom_functions():
    seen = []

    class Double(facula.autograd.Function):
        @staticmethod
        @facula.amp.custom_fwd(device_type="cpu", cast_inputs=facula.float32)
        def forward(ctx, x):
            seen.append((x.dtype, facula.is_autocast_enabled("cpu")))
            return x * 2

        @staticmethod
        @facula.amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            seen.append(facula.is_autocast_enabled("cpu"))
            return grad * 2

    x = facula.ones(2, dtype=facula.bfloat16, requires_grad=True)
    with facula.autocast("cpu"):
        y = Double.apply(x)
    y.sum().backward()
    assert seen == [(facula.float32, False), False] and x.grad.tolist() == [2.0, 2.0]
