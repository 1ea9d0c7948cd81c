"""NumPy, buffers and DLPack: memory that is shared both ways."""

import array

import numpy as np
import pytest

import facula

NUMPY_TYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
               "float16", "float32", "float64", "complex64", "complex128"]  # fmt: skip


@pytest.mark.parametrize("name", NUMPY_TYPES)
def test_both_ways(name):
    a = np.arange(6).reshape(2, 3).astype(name)
    t = facula.from_numpy(a)
    assert t.dtype == getattr(facula, name) and t.tolist() == a.tolist()
    b = t.numpy()
    assert b.dtype == a.dtype and b.ctypes.data == a.ctypes.data and (b == a).all()


def test_strides():
    a = np.arange(24.0).reshape(4, 6)[::2, 1::2]
    t = facula.from_numpy(a)
    assert t.tolist() == a.tolist() and t.stride() == (12, 2)
    assert (t.t().numpy() == a.T).all()
    assert facula.zeros(2, 0).numpy().shape == (2, 0)
    assert facula.tensor(1.5).numpy().shape == ()


def test_memory_outlives_its_maker():
    t = facula.ones(3)
    a = t.numpy()
    del t
    assert a.tolist() == [1.0, 1.0, 1.0]
    t = facula.from_numpy(np.full(3, 7.0))
    assert t.tolist() == [7.0, 7.0, 7.0]


def test_refusals():
    with pytest.raises(TypeError, match="expected np.ndarray .got list."):
        facula.from_numpy([1])
    with pytest.raises(ValueError, match="negative"):
        facula.from_numpy(np.ones(3)[::-1])
    with pytest.raises(ValueError, match="byte order"):
        facula.from_numpy(np.ones(3, ">f4"))
    for bad in (np.array(["a"]), np.array([None]), np.ones(1, np.longdouble)):
        with pytest.raises(TypeError, match="can't convert np.ndarray of type numpy"):
            facula.from_numpy(bad)
    with pytest.raises(RuntimeError, match="requires grad"):
        facula.ones(1, requires_grad=True).numpy()
    with pytest.raises(TypeError, match="BFloat16"):
        facula.ones(1, dtype=facula.bfloat16).numpy()
    assert facula.ones(1, requires_grad=True).numpy(force=True).tolist() == [1.0]


def test_read_only_memory_is_not_written():
    a = np.zeros(3, np.float32)
    a.flags.writeable = False
    t = facula.from_numpy(a)
    with pytest.raises(RuntimeError):
        t.add_(1)
    assert a.tolist() == [0.0, 0.0, 0.0]
    assert not t.numpy().flags.writeable


def test_array_protocol():
    t = facula.tensor([1.0, 2.0])
    assert np.asarray(t).tolist() == [1.0, 2.0]
    assert np.array(t, dtype=np.int32).dtype == np.int32
    assert np.array(t).ctypes.data != t.data_ptr()
    assert np.sin(facula.zeros(2)).tolist() == [0.0, 0.0]


def test_mixed_arithmetic():
    r = facula.ones(3) + np.float64(2)
    assert isinstance(r, facula.Tensor) and r.dtype == facula.float32
    r = np.float64(2) * facula.ones(3)
    assert r.tolist() == [2.0, 2.0, 2.0]


def test_frombuffer():
    data = bytearray(np.arange(4, dtype=np.int32).tobytes())
    t = facula.frombuffer(data, dtype=facula.int32, offset=4)
    assert t.tolist() == [1, 2, 3]
    t[0] = 9
    assert data[4] == 9
    assert facula.frombuffer(array.array("d", [1.5]), dtype=facula.float64).tolist() == [1.5]
    for kwargs in ({"offset": 99}, {"count": 9}, {"offset": 1}):
        with pytest.raises(ValueError):
            facula.frombuffer(data, dtype=facula.int32, **kwargs)
    with pytest.warns(UserWarning, match="not writable"):
        facula.frombuffer(b"abcd", dtype=facula.uint8)


def test_dlpack_both_ways():
    t = facula.arange(6).reshape(2, 3).t()
    a = np.from_dlpack(t)
    assert (a == np.arange(6).reshape(2, 3).T).all() and a.ctypes.data == t.data_ptr()
    b = np.array([True, False])
    r = facula.from_dlpack(b)
    assert r.dtype == facula.bool and r.tolist() == [True, False]
    assert facula.from_dlpack(t).data_ptr() == t.data_ptr()
    assert t.__dlpack_device__() == (1, 0)
    assert facula.from_dlpack(facula.ones(2, dtype=facula.bfloat16)).dtype == facula.bfloat16
    capsule = t.__dlpack__()
    facula.from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="only once"):
        facula.from_dlpack(capsule)
    with pytest.raises(BufferError, match="gradient"):
        facula.ones(1, requires_grad=True).__dlpack__()


def read_only(count=4):
    memory = bytes(4 * count)
    with pytest.warns(UserWarning, match="not writable"):
        return memory, facula.frombuffer(memory, dtype=facula.float32)


def trained(name, **state):
    def write(t):
        p = facula.nn.Parameter(facula.ones(4) if state else t)
        p.grad = facula.ones(4)
        optimizer = getattr(facula.optim, name)([p], lr=0.1)
        if state:
            optimizer.state[p] = {"step": facula.tensor(1.0)} | {
                k: t if v is None else v for k, v in state.items()
            }
        optimizer.step()

    return write


def cleared(t):
    p = facula.ones(4, requires_grad=True)
    p.grad = t
    facula.optim.SGD([p], lr=0.1).zero_grad(set_to_none=False)


WRITERS = {
    "fill_": lambda t: t.untyped_storage().fill_(1),
    "copy_": lambda t: t.untyped_storage().copy_(facula.ones(4).untyped_storage()),
    "SGD.step": trained("SGD"),
    "Adam.step": trained("Adam"),
    "RMSprop.step": trained("RMSprop", square_avg=None),
    "AdamW.step": trained("AdamW", exp_avg=facula.zeros(4), exp_avg_sq=None),
    "Adagrad.step": trained("Adagrad"),
    "LBFGS": lambda t: trained_by_closure(t),
    "zero_": cleared,
    "batch_norm": lambda t: facula.nn.functional.batch_norm(
        facula.randn(3, 4), t, facula.ones(4), training=True
    ),
    "native_batch_norm": lambda t: facula.native_batch_norm(
        facula.randn(3, 4), None, None, facula.ones(4), t, True, 0.1, 1e-5
    ),
    "instance_norm": lambda t: facula.nn.functional.instance_norm(
        facula.randn(2, 4, 5), facula.ones(4), t
    ),
}


def trained_by_closure(t):
    p = facula.nn.Parameter(t)

    def closure():
        p.grad = facula.ones(4)
        return p.sum()

    facula.optim.LBFGS([p]).step(closure)


@pytest.mark.parametrize("name", WRITERS)
def test_no_writer_goes_round_the_check_of_memory(name):
    memory, t = read_only()
    with pytest.raises(RuntimeError, match="read-only"):
        WRITERS[name](t)
    assert memory == bytes(16)
