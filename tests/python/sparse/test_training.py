"""Sparse tensors in training: optimisers on sparse gradients, graph convolutions, buffers."""

import pytest

import facula
from facula import nn, optim

# Weights after three steps, recorded from PyTorch 2.15.
STEPS = [
    (
        lambda p: optim.SparseAdam(list(p), lr=0.1),
        [0.0, 0.0, -0.074655, 0.010099, 0.336119, 0.436119, 0.6, 0.7, 0.50222, 0.601854, 1.0, 1.1],
    ),
    (
        lambda p: optim.SparseAdam(list(p), lr=0.1, betas=(0.5, 0.7), eps=1e-3, maximize=True),
        [
            0.0,
            0.199095,
            0.499862,
            0.600087,
            0.484371,
            0.58441,
            0.6,
            0.7,
            1.102235,
            1.202062,
            1.0,
            1.1,
        ],
    ),
    (
        lambda p: optim.SGD(p, lr=0.1),
        [0.0, 0.08, 0.0288, 0.0432, 0.32, 0.4, 0.6, 0.7, 0.4096, 0.4608, 1.0, 1.1],
    ),
    (
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
        [0.0, 0.0458, -0.144, -0.216, 0.32, 0.4, 0.6, 0.7, 0.0496, 0.0558, 1.0, 1.1],
    ),
    (
        lambda p: optim.Adagrad(p, lr=0.1),
        [0.0, 0.0, 0.024201, 0.100139, 0.3, 0.4, 0.6, 0.7, 0.582918, 0.681538, 1.0, 1.1],
    ),
]


def train(make):
    table = nn.Embedding(6, 2, sparse=True)
    with facula.no_grad():
        table.weight.copy_(facula.arange(12.0).reshape(6, 2) / 10)
    optimizer = make(table.parameters())
    for k in range(3):
        optimizer.zero_grad()
        (table(facula.tensor([1, 4, 1, k])) ** 2).sum().backward()
        assert table.weight.grad.is_sparse
        optimizer.step()
    return table.weight.detach().reshape(-1)


@pytest.mark.parametrize(("make", "wanted"), STEPS)
def test_optimisers(make, wanted):
    assert facula.allclose(train(make), facula.tensor(wanted), atol=2e-6)


def test_optimisers_that_refuse():
    with pytest.raises(RuntimeError, match="SparseAdam instead"):
        train(lambda p: optim.Adam(p, lr=0.1))
    with pytest.raises(RuntimeError, match="weight_decay"):
        train(lambda p: optim.Adagrad(p, lr=0.1, weight_decay=0.1))
    with pytest.raises(RuntimeError):
        train(lambda p: optim.SGD(p, lr=0.1, weight_decay=0.1))
    p = nn.Parameter(facula.ones(2))
    p.grad = facula.ones(2)
    with pytest.raises(RuntimeError, match="dense gradients"):
        optim.SparseAdam([p]).step()
    with pytest.raises(ValueError, match="learning rate"):
        optim.SparseAdam([p], lr=0.0)


def test_gradients_are_clipped():
    table = nn.Embedding(5, 2, sparse=True)
    with facula.no_grad():
        table.weight.copy_(facula.arange(10.0).reshape(5, 2))
    (table(facula.tensor([1, 2, 1])) ** 2).sum().backward()
    assert nn.utils.clip_grad_norm_(table.parameters(), 1.0).item() == pytest.approx(19.2873, 1e-5)
    assert table.weight.grad.is_sparse
    assert table.weight.grad.norm().item() == pytest.approx(1.0, 1e-4)


def test_values_of_a_gradient_can_be_written_to():
    table = nn.Embedding(5, 2, sparse=True)
    table(facula.tensor([1, 2])).sum().backward()
    table.weight.grad._values().mul_(3)
    assert table.weight.grad.to_dense().sum().item() == 12


def test_zero_grad_keeps_a_sparse_gradient_of_zeros():
    table = nn.Embedding(4, 2, sparse=True)
    table(facula.tensor([1])).sum().backward()
    optim.SGD(table.parameters(), lr=0.1).zero_grad(set_to_none=False)
    assert table.weight.grad.is_sparse and not table.weight.grad.to_dense().any()
    table(facula.tensor([1])).sum().backward()
    table.zero_grad(set_to_none=False)
    assert not table.weight.grad.to_dense().any()


class Convolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        g = facula.Generator().manual_seed(inputs)
        self.weight = nn.Parameter(facula.randn(inputs, outputs, generator=g))
        self.bias = nn.Parameter(facula.zeros(outputs))

    def forward(self, x, adjacency):
        return facula.spmm(adjacency, x @ self.weight) + self.bias


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Convolution(5, 8), Convolution(8, 3)

    def forward(self, x, adjacency):
        x = nn.functional.relu(self.first(x, adjacency))
        return nn.functional.log_softmax(self.second(x, adjacency), 1)


def graph():
    g = facula.Generator().manual_seed(1)
    links = (facula.rand(20, 20, generator=g) < 0.2).float() + facula.eye(20)
    return links / links.sum(1, keepdim=True), facula.randn(20, 5, generator=g)


def losses_of(adjacency, x):
    network, labels = Network(), facula.arange(20) % 3
    optimizer = optim.Adam(network.parameters(), lr=0.05)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = nn.functional.nll_loss(network(x, adjacency), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_graph_convolution():
    links, x = graph()
    wanted = losses_of(links, x)
    assert wanted[-1] < wanted[0]
    coo = links.to_sparse()
    unsorted = coo.indices().flip(1)
    legacy = facula.sparse.FloatTensor(unsorted, coo.values().flip(0), facula.Size(links.shape))
    for adjacency in (coo, legacy, links.to_sparse_csr(), links.to_sparse_csc()):
        assert losses_of(adjacency, x) == pytest.approx(wanted, rel=1e-5)


def test_propagation_with_trained_edges():
    links, x = graph()
    sparse = links.to_sparse()
    weights = sparse.values().clone().requires_grad_()
    made = facula.sparse_coo_tensor(sparse.indices(), weights, links.shape)
    layers = [x]
    for _ in range(3):
        layers.append(facula.sparse.mm(made, layers[-1]))
    facula.stack(layers).mean(0).pow(2).sum().backward()
    dense = links.clone().requires_grad_()
    layers = [x]
    for _ in range(3):
        layers.append(dense @ layers[-1])
    facula.stack(layers).mean(0).pow(2).sum().backward()
    assert facula.allclose(weights.grad, dense.grad[links != 0], atol=1e-6)


def test_buffers_of_modules():
    module = nn.Linear(3, 3)
    module.register_buffer("links", facula.eye(3).to_sparse())
    module.double()
    assert module.links.dtype == facula.float64 and module.links.is_sparse
    state = module.state_dict()
    assert state["links"].is_sparse
    module.load_state_dict(state)
    assert facula.equal(module.links.to_dense(), facula.eye(3).double())


def test_scipy_matrices():
    sp = pytest.importorskip("scipy.sparse")
    np = pytest.importorskip("numpy")
    m = sp.random(5, 4, 0.4, format="coo", dtype=np.float32, random_state=0)
    at = facula.from_numpy(np.vstack((m.row, m.col)).astype(np.int64))
    a = facula.sparse_coo_tensor(at, facula.from_numpy(m.data), facula.Size(m.shape))
    assert np.array_equal(a.to_dense().numpy(), m.toarray())
    c = m.tocsr()
    b = facula.sparse_csr_tensor(c.indptr, c.indices, c.data, c.shape)
    assert b.crow_indices().dtype == facula.int32
    assert np.array_equal(b.to_dense().numpy(), m.toarray())
    back = sp.csr_matrix((b.values().numpy(), b.col_indices().numpy(), b.crow_indices().numpy()))
    assert np.array_equal(back.toarray(), m.toarray())
