"""Methods of Tensor that are written in Python: further names, in-place shapes, diagonals."""

import pytest

import facula


def test_further_names():
    x = facula.tensor([-1.5, 0.5])
    assert x.absolute().tolist() == [1.5, 0.5] and x.negative().tolist() == [1.5, -0.5]
    assert x.clip(-1, 1).tolist() == [-1.0, 0.5] and x.subtract(1).tolist() == [-2.5, -0.5]
    assert x.less(0).tolist() == [True, False] and x.divide(2).tolist() == [-0.75, 0.25]
    assert facula.ones(2, 3).swapaxes(0, 1).shape == (3, 2)
    assert x.clone().clip_(min=0).tolist() == [0.0, 0.5]
    assert x.dequantize() is x and not x.is_distributed()
    with pytest.raises(RuntimeError, match="accelerator"):
        x.pin_memory()


def test_shapes_change_in_place():
    x = facula.arange(6.0).reshape(1, 2, 3)
    same = x.squeeze_(0)
    assert same is x and x.shape == (2, 3)
    assert x.unsqueeze_(-1).shape == (2, 3, 1) and x[1, 0, 0] == 3
    assert x.as_strided_((2, 2), (1, 3)).tolist() == [[0.0, 3.0], [1.0, 4.0]]
    y = facula.ones(1, 2, requires_grad=True) * 2
    assert y.squeeze_() is y and y.shape == (2,)


def test_fill_diagonal():
    assert facula.zeros(2, 3).fill_diagonal_(2).tolist() == [[2, 0, 0], [0, 2, 0]]
    wrapped = facula.zeros(7, 3).fill_diagonal_(1, wrap=True)
    assert wrapped.argmax(1).tolist() == [0, 1, 2, 0, 0, 1, 2] and wrapped[3].sum() == 0
    assert facula.zeros(2, 2, 2).fill_diagonal_(1).sum() == 2
    x = facula.ones(2, 2, requires_grad=True)
    (x * 3).fill_diagonal_(0).sum().backward()
    assert x.grad.tolist() == [[0.0, 3.0], [3.0, 0.0]]
    with pytest.raises(RuntimeError):
        facula.zeros(3).fill_diagonal_(1)


def test_functions_of_elements():
    x = facula.tensor([[1, 2], [3, 4]])
    assert x.apply_(lambda v: v * 10).tolist() == [[10, 20], [30, 40]]
    assert x.map_(facula.tensor([1, 2]), lambda a, b: a + b).tolist() == [[11, 22], [31, 42]]


def test_storage_from_file(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(bytes(range(8)))
    storage = facula.UntypedStorage.from_file(str(path), nbytes=8)
    t = facula.empty(0, dtype=facula.uint8).set_(storage)
    t[0] = 9
    assert t.tolist() == [9, 1, 2, 3, 4, 5, 6, 7] and path.read_bytes()[0] == 0
    shared = facula.UntypedStorage.from_file(str(path), True, 8)
    facula.empty(0, dtype=facula.uint8).set_(shared)[1] = 7
    assert path.read_bytes()[1] == 7
    with pytest.raises(RuntimeError, match="wanted"):
        facula.UntypedStorage.from_file(str(path), nbytes=9)


def test_where_with_a_condition_alone_gives_positions():
    condition = facula.tensor([[0, 2], [3, 0]])
    rows, columns = facula.where(condition)
    assert rows.tolist() == [0, 1] and columns.tolist() == [1, 0]
    assert facula.where(condition > 0, condition, -1).tolist() == [[-1, 2], [3, -1]]
    with pytest.raises(TypeError):
        facula.where(condition > 0, condition)


def test_arguments_of_to_are_parsed_for_libraries():
    assert facula.nn.Module.to  # the package attaches it
    parse = facula._C._nn._parse_to
    assert parse("cpu", facula.float64, True)[:3] == (facula.device("cpu"), facula.float64, True)
    assert parse(facula.ones(1).double())[1] == facula.float64


@pytest.mark.parametrize("dim", [(), []])
def test_truth_along_no_dimension_is_that_of_each_element(dim):
    x = facula.tensor([[0.0, 1.0], [2.0, float("nan")]])
    for function in (facula.any, facula.all):
        for keepdim in (False, True):
            assert function(x, dim=dim, keepdim=keepdim).tolist() == [[False, True], [True, True]]
        assert function(x.to(facula.complex64), dim).dtype == facula.bool
        bytes_ = function(facula.tensor([3, 0], dtype=facula.uint8), dim)
        assert bytes_.dtype == facula.uint8 and bytes_.tolist() == [1, 0]
        assert function(facula.zeros(0, 2), dim).shape == (0, 2)
        assert function(facula.tensor(3), dim).shape == ()
        assert facula.vmap(lambda row, f=function: f(row, dim))(x).tolist()[0] == [False, True]
        assert function(x, dim=None).shape == ()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda x: x.size(nonsense=1), "unexpected keyword argument 'nonsense'"),
        (lambda x: x.stride(0, out=x), "unexpected keyword argument 'out'"),
        (lambda x: x.is_contiguous(out=x), "unexpected keyword argument 'out'"),
        (lambda x: x.requires_grad_(out=x), "unexpected keyword argument 'out'"),
        (lambda x: x.numpy(out=x), "unexpected keyword argument 'out'"),
        (lambda x: x.sum().backward(retian_graph=True), "argument 'retian_graph'"),
        (lambda x: x.set_(out=x), "unexpected keyword argument 'out'"),
        (lambda x: x.untyped_storage().copy_(source=None, out=x), "argument 'out'"),
        (lambda x: x.new_tensor([1], pin_memory=True), "argument 'pin_memory'"),
        (lambda x: x.nonzero(out=x), "unexpected keyword argument 'out'"),
        (lambda x: facula.Tensor._make_subclass(facula.Tensor, x, out=x), "argument 'out'"),
        (lambda x: x.size(0, 1), "from 0 to 1 positional arguments but 2 were given"),
        (lambda x: x.stride(0, 1), "from 0 to 1 positional arguments but 2 were given"),
        (lambda x: x.requires_grad_(True, False), "but 2 were given"),
        (lambda x: x.sum().backward(None, False, False, None, 1), "but 5 were given"),
        (lambda x: x.size(0, dim=0), "multiple values for argument 'dim'"),
    ],
)
def test_what_methods_do_not_know_is_refused(call, says):
    x = facula.ones(2, 3, requires_grad=True)
    with pytest.raises(TypeError, match=says):
        call(x)
    assert x.shape == (2, 3) and x.requires_grad and x.grad is None


def test_arguments_that_were_without_effect():
    x = facula.ones(1, 2, 3, 3)
    assert x.cpu(memory_format=facula.channels_last).stride() == (18, 1, 6, 2)
    assert x.cpu() is x
    assert facula.tensor([1.26]).round_(decimals=1).item() == pytest.approx(1.3)
    assert facula.ones(2, 3).swapaxes(axis0=0, axis1=1).shape == (3, 2)
    with pytest.raises(RuntimeError, match="as_tuple"):
        facula.nonzero(x, as_tuple=True, out=facula.empty(0, dtype=facula.int64))
    assert x.to("meta").new(3).is_meta
    for make in (x.new, facula.Tensor):
        assert make(2, device="cpu").shape == (2,)
        with pytest.raises(RuntimeError, match="legacy constructor"):
            make(2, device="meta")


def test_broadcasting_gives_the_tensors_that_have_the_shape_already():
    a, b = facula.ones(2, 3, requires_grad=True), facula.ones(3)
    first, second = facula.broadcast_tensors(a, b)
    assert first is a and second is not b and second.shape == a.shape
    same = facula.broadcast_tensors(b, b)
    assert same[0] is b and same[1] is b
    rate = facula.tensor([0.3], requires_grad=True)
    assert facula.distributions.Exponential(rate).rate is rate
