"""The Tensor type: attributes, values, operators, subclasses, identity, pickles."""

import copy
import gc
import os
import pickle
import weakref

import pytest

import facula


def test_type_and_attributes():
    t = facula.zeros(2, 3)
    assert type(t) is facula.Tensor
    assert type(t).__name__ == "Tensor" and type(t).__module__ == "facula"
    assert t.shape == (2, 3) and isinstance(t.shape, facula.Size)
    assert t.dtype is facula.float32 and t.device == facula.device("cpu")
    assert t.ndim == 2 and t.dim() == 2 and t.numel() == 6
    assert t.itemsize == 4 and t.nbytes == 24 and t.element_size() == 4
    assert t.stride() == (3, 1) and t.stride(0) == 3 and t.size(-1) == 3
    assert t.layout is facula.strided and t.is_leaf and not t.requires_grad
    assert t.grad is None and t.grad_fn is None and t._base is None
    assert t.is_contiguous() and t.storage_offset() == 0
    assert t.is_cpu and not t.is_cuda and not t.is_meta


def test_attributes_are_read_only():
    t = facula.zeros(2)
    with pytest.raises(AttributeError, match="'shape'.*not writable"):
        t.shape = (1,)


def test_size_errors():
    t = facula.zeros(2, 3)
    with pytest.raises(IndexError):
        t.size(2)
    with pytest.raises(TypeError, match="argument 'dim'"):
        t.size("a")


def test_item_and_conversions():
    assert facula.tensor(2.5).item() == 2.5
    assert facula.tensor([3]).item() == 3
    assert facula.tensor(True).item() is True
    assert facula.tensor(1 + 2j).item() == 1 + 2j
    assert float(facula.tensor(2)) == 2.0 and int(facula.tensor(2.7)) == 2
    assert complex(facula.tensor(2.0)) == 2 + 0j
    assert bool(facula.tensor([0.0])) is False
    assert range(10)[facula.tensor(2)] == 2
    with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
        facula.zeros(2).item()
    with pytest.raises(ValueError, match="only one element"):
        float(facula.zeros(2))
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        bool(facula.zeros(2))
    with pytest.raises(RuntimeError, match="no values is ambiguous"):
        bool(facula.zeros(0))
    with pytest.raises(TypeError, match="only integer tensors"):
        range(3)[facula.tensor(1.0)]


def test_tolist():
    assert facula.tensor([[1, 2], [3, 4]]).t().tolist() == [[1, 3], [2, 4]]
    assert facula.tensor(5).tolist() == 5
    assert facula.zeros(0, 2).tolist() == []


def test_len_iter_contains():
    t = facula.tensor([1.0, 2.0])
    assert len(t) == 2
    assert [x.item() for x in t] == [1.0, 2.0]
    with pytest.raises(TypeError, match="len"):
        len(facula.tensor(1))
    with pytest.raises(TypeError, match="0-d"):
        iter(facula.tensor(1))
    with pytest.raises(RuntimeError, match="only supports Tensor or scalar"):
        "a" in t


def test_number_operators():
    t = facula.tensor([1.0, -2.0])
    assert (t + 1).tolist() == [2.0, -1.0]
    assert (1 - t).tolist() == [0.0, 3.0]
    assert (t * t).tolist() == [1.0, 4.0]
    assert (2 / facula.tensor([4.0])).tolist() == [0.5]
    assert (2 ** facula.tensor([3.0])).tolist() == [8.0]
    assert (-t).tolist() == [-1.0, 2.0]
    assert abs(t).tolist() == [1.0, 2.0]
    assert (facula.tensor([7]) // 2).tolist() == [3]
    assert (7 % facula.tensor([4])).tolist() == [3]
    assert (t > 0).tolist() == [True, False]
    assert (0 < t).tolist() == [True, False]
    assert (t == t).tolist() == [True, True]
    assert (t != 1).tolist() == [False, True]
    i = facula.tensor([6])
    assert (i & 3).tolist() == [2] and (i | 1).tolist() == [7] and (i ^ 2).tolist() == [4]
    assert (i << 1).tolist() == [12] and (i >> 1).tolist() == [3] and (~i).tolist() == [-7]


def test_in_place_operators_keep_the_object():
    t = facula.tensor([1.0, 2.0])
    same = t
    t += 1
    t *= 2
    t -= 1
    t /= 3
    assert t is same and t.tolist() == [1.0, pytest.approx(5 / 3)]


def test_foreign_operands_are_not_implemented():
    t = facula.zeros(2)
    for other in ("a", None, [1], object()):
        with pytest.raises(TypeError, match="unsupported operand"):
            t + other
    assert (t == None) is False  # noqa: E711
    assert (t == "a") is False

    class Mine:
        def __radd__(self, other):
            return "mine"

    assert t + Mine() == "mine"


def test_hash_is_identity():
    a, b = facula.zeros(1), facula.zeros(1)
    assert len({a, b, a}) == 2


def test_argument_errors():
    t = facula.zeros(2)
    with pytest.raises(TypeError, match=r"add\(\): argument 'other' \(position 1\) must be Tensor"):
        t.add("a")
    with pytest.raises(TypeError, match=r"argument 'other' \(position 2\) must be Tensor, not str"):
        facula.add(t, "a")
    with pytest.raises(TypeError, match="missing 1 required"):
        facula.neg()
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        facula.neg(t, foo=1)
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        facula.neg(t, t)
    with pytest.raises(TypeError, match="multiple values"):
        facula.neg(t, input=t)
    with pytest.raises(TypeError, match="must be tuple of ints, not str"):
        facula.zeros("a")
    with pytest.raises(TypeError, match="dtype"):
        facula.zeros(2, dtype=3)


def test_keyword_aliases():
    t = facula.tensor([[3.0, 4.0]])
    assert facula.add(input=t, other=t).tolist() == [[6.0, 8.0]]
    assert facula.unsqueeze(t, axis=0).shape == (1, 1, 2)


def test_int_forms_of_sizes():
    assert facula.zeros([2, 3]).shape == facula.zeros((2, 3)).shape == facula.zeros(2, 3).shape
    assert facula.zeros(facula.Size([2])).shape == (2,)
    assert facula.zeros(()).shape == ()
    assert facula.zeros(facula.tensor(2), 3).shape == (2, 3)
    assert facula.zeros(2, 3).view(-1).shape == (6,)


def test_identity_follows_what_users_can_see():
    a = facula.ones(2)
    y = a.view(2, 1)
    y.mark = "kept"
    ref = weakref.ref(y)
    saved = y * 2
    assert saved.tolist() == [[2.0], [2.0]]
    del y
    gc.collect()
    assert ref() is None  # nobody holds it: no gradient was recorded

    x = facula.ones(2, requires_grad=True)
    h = x * 2
    h.mark = "kept"
    key = id(h)
    out = h * h  # the graph keeps h
    del h
    inner = out.grad_fn._saved_tensors()[0]
    assert id(inner) == key and inner.mark == "kept"


def test_weak_references_revive():
    x = facula.ones(2, requires_grad=True)
    h = x * 2
    ref = weakref.ref(h)
    out = h * h
    del h
    again = ref()
    assert again is not None
    del out
    assert (again + 1).tolist() == [3.0, 3.0]
    del again
    assert ref() is None


def test_dict_is_kept_through_grad():
    x = facula.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    x.grad.note = 7
    assert x.grad.note == 7
    assert x.grad is x.grad


class Marked(facula.Tensor):
    __slots__ = ("tag",)

    def double(self):
        return self * 2


def test_subclasses():
    t = facula.ones(3).as_subclass(Marked)
    assert type(t) is Marked and isinstance(t, facula.Tensor)
    t.tag = [1]
    t.other = 2
    r = t.double()
    assert type(r) is Marked and r.tolist() == [2.0] * 3
    assert type(facula.add(t, 1)) is Marked
    assert type(t[0]) is Marked
    assert type(t.detach()) is Marked
    assert type(Marked([1.0, 2.0])) is Marked
    ref = weakref.ref(t)
    del t
    gc.collect()
    assert ref() is None


def test_make_subclass_and_uninitialised():
    class Empty(facula.Tensor):
        @staticmethod
        def __new__(cls):
            return facula.Tensor._make_subclass(cls, facula.ones(2), True)

    t = Empty()
    assert t.requires_grad and t.is_leaf and t.tolist() == [1.0, 1.0]


def test_copy_and_deepcopy():
    t = facula.tensor([1.0, 2.0], requires_grad=True)
    t.extra = [1]
    twin = copy.deepcopy(t)
    assert twin is not t and twin.tolist() == [1.0, 2.0] and twin.requires_grad
    assert twin.extra == [1] and twin.extra is not t.extra
    assert twin.data_ptr() != t.data_ptr()
    pair = copy.deepcopy([t, t])
    assert pair[0] is pair[1]
    base = facula.zeros(4)
    views = copy.deepcopy([base, base[1:]])
    views[0][1] = 5.0
    assert views[1][0].item() == 5.0
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(t * 2)


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "bfloat16", "complex64"])
def test_pickle(dtype):
    t = facula.ones(2, 3).to(getattr(facula, dtype)).t()
    back = pickle.loads(pickle.dumps(t))
    assert back.dtype == t.dtype and back.tolist() == t.tolist() and back.stride() == t.stride()


def test_pickle_of_values():
    for value in (facula.float32, facula.device("cpu"), facula.Size([1, 2]), facula.strided,
                  facula.channels_last, facula.add):
        assert pickle.loads(pickle.dumps(value)) == value
    marked = facula.ones(2).as_subclass(Marked)
    marked.note = 3
    back = pickle.loads(pickle.dumps(marked))
    assert type(back) is Marked and back.note == 3


@pytest.mark.parametrize("kind", ["cuda", "mps", "xpu", "hpu", "mtia", "xla", "privateuseone"])
def test_devices_that_are_not_there(kind):
    device = facula.device(kind, 1)
    assert (device.type, device.index, str(device)) == (kind, 1, f"{kind}:1")
    assert device == facula.device(f"{kind}:1") != facula.device("cpu")
    assert pickle.loads(pickle.dumps(device)) == device and f"'{kind}'" in repr(device)
    for call in (
        lambda: facula.zeros(2, device=kind),
        lambda: facula.zeros(0, device=kind),
        lambda: facula.tensor([1.0], device=kind),
        lambda: facula.ones(2).to(device),
        lambda: facula.empty(2, device="meta").to(kind),
        lambda: facula.nn.Linear(2, 2).to(kind),
        lambda: facula.ones(2).new_ones(3, device=kind),
        lambda: facula.ones_like(facula.ones(2), device=kind),
        lambda: facula.randn(2, device=kind),
    ):
        with pytest.raises((RuntimeError, NotImplementedError)):
            call()
    with pytest.raises(RuntimeError, match="at start of device string: gpu"):
        facula.device("gpu")


def test_data_and_versions():
    t = facula.zeros(2, requires_grad=True)
    d = t.data
    assert not d.requires_grad and d.data_ptr() == t.data_ptr()
    before = t._version
    d.add_(1)
    assert t._version == before and t.tolist() == [1.0, 1.0]
    t.data = facula.ones(3)
    assert t.shape == (3,) and t.requires_grad
    with pytest.raises(TypeError, match="has to be a tensor"):
        t.data = 3


def test_to_and_casts():
    t = facula.tensor([1.7, -2.2])
    assert t.to(facula.int64).tolist() == [1, -2]
    assert t.to("cpu") is t and t.to(facula.float32) is t and t.float() is t
    assert t.to(facula.float32, copy=True) is not t
    assert t.to("cpu", facula.float64).dtype == facula.float64
    assert t.to(facula.zeros(1, dtype=facula.int32)).dtype == facula.int32
    assert t.long().dtype == facula.int64 and t.double().dtype == facula.float64
    assert t.to(dtype=facula.float16).dtype == facula.float16
    assert t.to("meta").is_meta
    with pytest.raises(TypeError, match="invalid combination"):
        t.to(object())


def test_transposes():
    t = facula.zeros(2, 3, 4)
    assert t.mT.shape == (2, 4, 3)
    assert facula.zeros(2, 3).T.shape == (3, 2)
    with pytest.raises(RuntimeError, match="only supported on matrices"):
        _ = facula.zeros(2).mT


def test_set_and_storage():
    base = facula.tensor([0.0, 1.0, 2.0, 3.0])
    s = base.untyped_storage()
    assert s.nbytes() == 16 and len(s) == 16 and s.data_ptr() == base.data_ptr()
    t = facula.empty(0).set_(s, 1, (2,), (2,))
    assert t.tolist() == [1.0, 3.0]
    with pytest.raises(RuntimeError):
        facula.empty(0).set_(s, 3, (2,), (1,))
    assert facula.empty(0).set_(base).is_set_to(base)
    typed = base.storage()
    assert len(typed) == 4 and typed[2] == 2.0


def test_resize():
    t = facula.ones(2)
    assert t.resize_(2, 2).shape == (2, 2)
    assert t.resize_as_(facula.zeros(3)).shape == (3,)
    turned = facula.ones(3, 4).t()
    assert turned.resize_(4, 3).stride() == (1, 4)
    assert turned.resize_(4, 3, memory_format=facula.contiguous_format).stride() == (3, 1)
    with pytest.raises(RuntimeError, match="requires? grad"):
        facula.ones(2, requires_grad=True).resize_(3)


def test_meta_tensors():
    t = facula.zeros(2, 3, device="meta")
    assert t.is_meta and t.shape == (2, 3)
    assert facula.triu_indices(3, 3, 1, device="meta").is_meta
    with pytest.raises(RuntimeError):
        t[0, 0].item()


def test_device_context():
    with facula.device("meta"):
        assert facula.zeros(2).is_meta
        assert facula.tensor([1.0]).is_meta
    assert not facula.zeros(2).is_meta


def test_out_arguments():
    a, out = facula.ones(2), facula.zeros(2)
    assert facula.add(a, a, out=out) is out and out.tolist() == [2.0, 2.0]
    empty = facula.empty(0)
    assert facula.add(a, a, out=empty).shape == (2,)
    with pytest.warns(UserWarning, match="resized"):
        facula.add(a, a, out=facula.zeros(5))
    with pytest.raises(RuntimeError, match="can't be cast"):
        facula.add(a, a, out=facula.zeros(2, dtype=facula.int64))
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        facula.add(a, a.clone().requires_grad_(), out=out)


def test_format():
    assert f"{facula.tensor(1.5):.2f}" == "1.50"
    with pytest.raises(TypeError):
        f"{facula.zeros(2):.2f}"


def test_legacy_constructors():
    assert facula.Tensor(2, 3).shape == (2, 3)
    assert facula.Tensor([1, 2]).dtype == facula.float32
    assert facula.LongTensor([1, 2]).tolist() == [1, 2]
    assert facula.FloatTensor(2).shape == (2,)
    assert isinstance(facula.zeros(1), facula.FloatTensor)
    assert not isinstance(facula.zeros(1), facula.LongTensor)
    assert facula.zeros(1).type() == "facula.FloatTensor"
    assert facula.zeros(1).type("facula.LongTensor").dtype == facula.int64
    assert facula.zeros(1).new(2, 2).shape == (2, 2)
    assert facula.zeros(1, dtype=facula.int32).new_tensor([1.0]).dtype == facula.int32


@pytest.mark.parametrize("dtype", ["int64", "bool", "float64", "complex64", "bfloat16"])
def test_constructor_takes_tensors_of_any_dtype(dtype):
    class Mine(facula.Tensor):
        pass

    x = facula.ones(3, dtype=getattr(facula, dtype))
    for made in (facula.Tensor(x), Mine(x), facula.Tensor.__new__(Mine, x), facula.Tensor(data=x)):
        assert made.dtype == x.dtype and made.data_ptr() == x.data_ptr() and made is not x
    assert type(Mine(x)) is Mine
    for named in (facula.FloatTensor, facula.ones(2).new):
        with pytest.raises(TypeError, match="expected"):
            named(x)


def test_constructor_keeps_the_history_of_a_tensor():
    x = facula.ones(3, requires_grad=True)
    for made in (facula.Tensor(x), facula.FloatTensor(x), x.new(x)):
        assert made.requires_grad and not made.is_leaf
        made.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0, 3.0]


def test_shared_memory_reaches_forked_children():
    t = facula.zeros(3)
    assert not t.is_shared() and t.share_memory_() is t and t.is_shared()
    child = os.fork()
    if child == 0:
        t.add_(1)
        os._exit(0)
    os.waitpid(child, 0)
    assert t.tolist() == [1.0, 1.0, 1.0]


def test_methods_can_be_attached():
    facula.Tensor.shout = lambda self: "loud"
    try:
        assert facula.zeros(1).shout() == "loud"
    finally:
        del facula.Tensor.shout


def test_real_and_imaginary_parts_are_attributes() -> None:
    z = facula.tensor([1 + 2j, 3 - 4j])
    assert z.real.tolist() == [1.0, 3.0]
    assert z.imag.tolist() == [2.0, -4.0]
    z.real = facula.zeros(2)
    assert z.tolist() == [2j, -4j]


@pytest.mark.parametrize("k", [-(2**63), -(2**63) + 1, -5, 5, 2**63 - 2, 2**63 - 1])
def test_triangles_of_far_diagonals(k):
    """Row plus diagonal does not fit into 64 bits."""
    x = facula.ones(3, 4)
    low, up = (x, x * 0) if k > 0 else (x * 0, x)
    assert facula.equal(x.tril(k), low) and facula.equal(x.triu(k), up)
