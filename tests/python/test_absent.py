"""Names that PyTorch has and Facula does not build: neutral, and raising when they are used."""

import pickle
import subprocess
import sys
import warnings

import pytest

import facula


def test_decorators_and_questions_are_neutral():
    def f(x):
        return x + 1

    jit, compiler, dynamo = facula.jit, facula.compiler, facula._dynamo
    for decorate in (
        jit.ignore, jit.unused, jit.export, jit.script_if_tracing, jit.ignore(drop=True),
        compiler.disable, compiler.disable(), compiler.allow_in_graph, dynamo.disable,
        facula.fx.wrap, facula._disable_dynamo, jit._overload_method, jit.interface,
    ):  # fmt: skip
        assert decorate(f) is f
    for answer in (
        jit.is_scripting, jit.is_tracing, compiler.is_compiling, facula.onnx.is_in_onnx_export,
        facula.cuda.is_available, facula.distributed.is_available, facula.mps.is_available,
        facula.distributed.is_initialized, facula.xpu.is_available, dynamo.is_compiling,
        facula.accelerator.is_available, facula.is_autocast_enabled, facula.cuda.is_initialized,
        facula.xpu.is_bf16_supported, facula.backends.nnpack.is_available,
        facula.backends.flags_frozen, facula._C._get_cudnn_enabled,
    ):  # fmt: skip
        assert answer() is False
    assert facula.cuda.device_count() == 0 and facula.accelerator.current_accelerator() is None


def test_flags_of_a_build_are_values():
    names = "_has_cuda _has_cudnn _has_magma _has_mps _has_xpu has_mkl".split()
    assert [getattr(facula._C, name) for name in names] == [False] * len(names)
    for name in ("_has_mkldnn", "has_lapack", "has_openmp"):
        assert getattr(facula._C, name) is True
    for name in ("has_lapack", "has_openmp", "has_mkl", "has_spectral"):
        assert getattr(facula._C, name) is getattr(facula, name)
    assert facula.cuda._initialized is False and facula.backends.fp32_precision == "none"
    assert not facula.backends.mps.is_macos_or_newer(14, 0)


def test_settings_of_absent_backends_are_taken():
    backends = facula.backends
    before = backends.cudnn.deterministic, backends.cudnn.benchmark
    try:
        with getattr(backends, "__allow_nonbracketed_mutation")():
            backends.cudnn.deterministic, backends.cudnn.benchmark = True, False
    finally:
        backends.cudnn.deterministic, backends.cudnn.benchmark = before
    with backends.nnpack.flags(enabled=True):
        assert backends.nnpack.set_flags(False) == (True,)
    assert backends.nnpack.set_flags(False) == (False,)
    facula.xpu.reset_peak_memory_stats()
    facula.xpu.set_rng_state_all(facula.xpu.get_rng_state_all())
    for refused in (facula.xpu.mem_get_info, facula.accelerator.get_memory_info):
        with pytest.raises(RuntimeError, match=r"no .* is available"):
            refused()
    with pytest.raises(NotImplementedError, match="_get_trace_graph"):
        facula.jit._get_trace_graph(facula.nn.Identity(), ())


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_gradients_of_softmax_have_a_function(name):
    x = facula.randn(3, 4, requires_grad=True)
    grad = facula.randn(3, 4)
    y = getattr(facula, name)(x, 1)
    y.backward(grad)
    found = getattr(facula, f"_{name}_backward_data")(grad, y.detach(), 1, facula.float64)
    assert found.dtype == facula.float64
    facula.testing.assert_close(found.float(), x.grad)


def test_compile_and_script_run_eagerly_and_say_so_once():
    program = """
import warnings, facula
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    @facula.compile
    def f(x):
        return x + 1
    net = facula.nn.Linear(2, 2)
    assert facula.compile(net, mode="max-autotune") is net
    assert facula.jit.script(net) is net and facula.jit.script(net) is net
    assert f(1) == 2
texts = [str(w.message) for w in caught]
assert len(texts) == 2 and "compile" in texts[0] and "jit.script" in texts[1], texts
assert all(w.filename == "<string>" for w in caught)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(RuntimeError, match="Either mode or options"):
        facula.compile(abs, mode="x", options={})


@pytest.mark.parametrize(
    "path",
    [
        "jit.trace", "jit.load", "jit.save", "fx.symbolic_trace", "fx.GraphModule", "fx.Tracer",
        "onnx.export", "export.export", "distributed.init_process_group",
        "distributed.fsdp.FullyShardedDataParallel", "distributed.tensor.DTensor",
        "ao.quantization.prepare", "SymInt", "Stream",
        "utils.tensorboard.SummaryWriter", "nn.attention.flex_attention.flex_attention",
        "_subclasses.FakeTensor", "distributed.rpc.init_rpc",
    ],
)  # fmt: skip
def test_promises_raise_by_name(path):
    import importlib

    target = facula
    *folder, last = path.split(".")
    if folder:
        target = importlib.import_module("facula." + ".".join(folder))
    with pytest.raises(NotImplementedError, match=last):
        getattr(target, last)("argument")


def test_absent_classes_serve_as_types():
    from facula.distributed.fsdp import ShardingStrategy

    assert not isinstance(facula.ones(1), (facula.SymInt, facula.fx.Proxy, facula.fx.GraphModule))
    assert issubclass(facula.fx.GraphModule, facula.nn.Module)
    assert ShardingStrategy.FULL_SHARD == ShardingStrategy.FULL_SHARD
    assert ShardingStrategy.FULL_SHARD != ShardingStrategy.NO_SHARD
    assert "FULL_SHARD" in repr(ShardingStrategy.FULL_SHARD)

    class Mine(facula.fx.Tracer):
        pass

    with pytest.raises(NotImplementedError, match="Tracer"):
        Mine()


def test_cuda_is_honest():
    cuda = facula.cuda
    assert cuda.memory_allocated() == 0 and cuda.get_rng_state_all() == []
    cuda.manual_seed_all(3)
    cuda.empty_cache()
    with cuda.device(-1), cuda.stream(None), cuda.device_of(facula.ones(1)):
        pass
    for call in (cuda.current_device, cuda.synchronize, cuda.get_device_name, cuda.Stream,
                 lambda: cuda.set_device(0), lambda: cuda.device(0).__enter__()):  # fmt: skip
        with pytest.raises(RuntimeError, match="no CUDA device"):
            call()
    with pytest.raises(TypeError):
        cuda.FloatTensor(2)
    assert not isinstance(facula.ones(1), cuda.FloatTensor)


def test_types_without_tensors_serve_in_tables():
    table = {facula.float8_e4m3fn: 1, facula.float32: 4}
    assert table[facula.float8_e4m3fn] == 1 and facula.float8_e5m2.is_floating_point
    assert repr(facula.float8_e4m3fn) == "facula.float8_e4m3fn"
    assert facula.finfo(facula.float8_e5m2).max == 57344.0
    assert facula.complex32.to_real() is facula.half and facula.complex32.is_complex
    with pytest.raises(NotImplementedError, match="float8_e5m2"):
        facula.nn.Linear(1, 1).to(facula.float8_e5m2)


def _asks(dtype):
    x = facula.ones(2)
    yield lambda: facula.ones(2, dtype=dtype)
    yield lambda: x.to(dtype)
    yield lambda: x.to("cpu", dtype)
    yield lambda: x.type(dtype)
    yield lambda: x.view(dtype)
    yield lambda: facula.tensor([1.0], dtype=dtype)
    yield lambda: facula.nn.Linear(1, 1, dtype=dtype)
    yield lambda: facula.promote_types(dtype, facula.float32)
    yield lambda: facula.frombuffer(bytearray(8), dtype=dtype)


@pytest.mark.parametrize(
    "name", "float8_e4m3fn float4_e2m1fn_x2 complex32 qint8 quint4x2 int4 uint1 bits16".split()
)
def test_tensors_of_types_that_are_not_built_are_refused_by_name(name):
    dtype = getattr(facula, name)
    assert isinstance(dtype, facula.dtype) and pickle.loads(pickle.dumps(dtype)) is dtype
    for ask in _asks(dtype):
        with pytest.raises(NotImplementedError, match=name):
            ask()


def test_checks_and_symbolic_numbers():
    facula._check(True)
    with pytest.raises(ValueError, match="why"):
        facula._check_value(False, lambda: "why")
    with pytest.raises(KeyError, match="why"):
        facula._check_with(KeyError, False, "why")
    with pytest.raises(AssertionError, match="why"):
        facula._assert(False, "why")
    with pytest.raises(RuntimeError):
        facula._assert_async(facula.tensor(0))
    assert facula.sym_max(2, 3.0) == 3.0 and isinstance(facula.sym_max(2.0, 3), float)
    assert facula.sym_int(2.7) == 2 and facula.sym_not(False) is True


def test_warning_names_the_caller():
    from facula import _absent

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _absent.once("facula.test_name", "text")
        _absent.once("facula.test_name", "text")
    assert len(caught) == 1 and caught[0].filename == __file__


def test_futures_of_calls_are_there_at_once():
    assert facula.jit.wait(facula.jit.fork(lambda x: x + 1, 2)) == 3
    with pytest.raises(ZeroDivisionError):
        facula.jit.wait(facula.jit.fork(lambda: 1 // 0))


def test_names_of_results_exist_before_their_first_use():
    for name in ("max", "topk", "cummin", "kthvalue", "sort", "qr", "linalg_eigh"):
        kind = getattr(facula.return_types, name)
        assert issubclass(kind, tuple) and kind.__name__ == name
    assert isinstance(facula.ones(2).max(0), facula.return_types.max)
    with pytest.raises(AttributeError):
        _ = facula.return_types.nothing


def test_parts_of_optimisers_and_modules_under_their_names():
    from facula.nn.modules.module import _global_forward_hooks
    from facula.optim.optimizer import _use_grad_for_differentiable, _view_as_real

    class Halving(facula.optim.Optimizer):
        @_use_grad_for_differentiable
        def step(self, closure=None):
            assert not facula.is_grad_enabled()
            for p in self.param_groups[0]["params"]:
                p.mul_(0.5)

    p = facula.ones(2, requires_grad=True)
    Halving([p], {"differentiable": False}).step()
    assert p.tolist() == [0.5, 0.5]
    params, grads = [facula.ones(2, dtype=facula.complex64)], [facula.ones(2) * 1j]
    _view_as_real(params, grads)
    assert params[0].shape == (2, 2) and grads[0].shape == (2, 2)
    layer = facula.nn.Linear(2, 1)
    assert facula.equal(layer._call_impl(p), layer(p))
    assert not _global_forward_hooks
    net = facula.func.functional_call(layer, parameter_and_buffer_dicts={}, args=(p,))
    assert facula.equal(net, layer(p))


def test_older_name_of_distributed_tensors():
    import facula.distributed._tensor as older
    import facula.distributed.tensor as newer
    from facula.distributed._tensor.experimental import implicit_replication
    from facula.distributed._tensor.placement_types import Shard

    assert older.DTensor is newer.DTensor and Shard is older.Shard
    with pytest.raises(NotImplementedError, match="implicit_replication"):
        implicit_replication()
    with pytest.raises(AttributeError):
        _ = older.nothing


def test_types_of_loader_arguments():
    from facula.utils.data import dataloader

    def collate(
        batch: dataloader._collate_fn_t, start: dataloader._worker_init_fn_t | None = None
    ) -> None: ...

    assert set(collate.__annotations__) == {"batch", "start", "return"}
