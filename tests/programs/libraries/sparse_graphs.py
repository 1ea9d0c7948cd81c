"""Programs with sparse adjacency matrices and sparse gradients."""

import torch
import torch.nn.functional as F
from common import array, digest, fill, integers, step
from torch import nn


def edges(n):
    """Edges of a graph, without repetitions."""
    return torch.unique(integers(f"edges{n}", n, 2, 3 * n), dim=1)


def geometric(kind, layout):
    """A graph network of PyTorch Geometric that is given its edges as a sparse matrix."""

    def run():
        from torch_geometric import nn as gnn
        from torch_geometric.utils import to_torch_coo_tensor, to_torch_csr_tensor

        layers = {
            "gcn": lambda i, o: gnn.GCNConv(i, o),
            "sage": lambda i, o: gnn.SAGEConv(i, o),
            "gin": lambda i, o: gnn.GINConv(nn.Sequential(nn.Linear(i, o), nn.ReLU())),
        }
        convert = to_torch_coo_tensor if layout == "coo" else to_torch_csr_tensor
        n = 12
        adjacency, x, y = convert(edges(n), size=(n, n)), array("nodes", n, 8), integers("y", 3, n)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv1, self.conv2 = layers[kind](8, 8), layers[kind](8, 3)

            def forward(self, x):
                x = F.elu(self.conv1(x, adjacency))
                return self.conv2(x, adjacency)

        model = fill(Net())
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        losses = step(model, optimizer, lambda: F.cross_entropy(model(x), y))
        return {"losses": losses, "out": digest(model(x))}

    return run


def light_propagation():
    """Ranking of pairs after propagation over a normalised sparse graph, as LightGCN does it."""
    users, items, links = 9, 14, integers("links", 126, 40).unique()
    rows, cols = links // 14, links % 14 + users
    at = torch.stack([torch.cat([rows, cols]), torch.cat([cols, rows])])
    n = users + items
    graph = torch.sparse_coo_tensor(at, torch.ones(at.size(1)), (n, n)).coalesce()
    degree = torch.sparse.sum(graph, 1).to_dense().clamp(min=1).pow(-0.5)
    row, col = graph.indices()
    graph = torch.sparse_coo_tensor(graph.indices(), degree[row] * degree[col], graph.shape)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.users, self.items = nn.Embedding(users, 8), nn.Embedding(items, 8)

        def forward(self, user, good, bad):
            layers = [torch.cat([self.users.weight, self.items.weight])]
            for _ in range(3):
                layers.append(torch.sparse.mm(graph, layers[-1]))
            u, i = torch.split(torch.stack(layers, 1).mean(1), [users, items])
            difference = (u[user] * (i[good] - i[bad])).sum(1)
            return F.softplus(-difference).mean()

    model = fill(Model())
    batch = integers("u", users, 20), integers("g", items, 20), integers("b", items, 20)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = step(model, optimizer, lambda: model(*batch))
    return {"losses": losses, "weight": digest(model.items.weight)}


def sparse_embeddings():
    """Word vectors whose tables get sparse gradients, with SparseAdam."""
    center, around = nn.Embedding(30, 6, sparse=True), nn.Embedding(30, 6, sparse=True)
    model = fill(nn.ModuleList([center, around]))
    words, near, far = integers("w", 30, 16), integers("n", 30, 16), integers("f", 30, 16, 4)

    def loss():
        v = center(words)
        good = F.logsigmoid((v * around(near)).sum(1))
        bad = F.logsigmoid(-torch.bmm(around(far), v.unsqueeze(2)).squeeze(2)).sum(1)
        return -(good + bad).mean()

    optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.05)
    losses = step(model, optimizer, loss)
    gradient = center.weight.grad
    return {
        "losses": losses,
        "weight": digest(center.weight),
        "layout": str(gradient.layout),
        "rows": gradient.coalesce().indices()[0].tolist(),
    }


def attention_over_edges():
    """Softmax over the edges of each node, by sparse operators."""
    n = 10
    scores = torch.sparse_coo_tensor(edges(n), array("s", edges(n).size(1)), (n, n))
    scores.requires_grad_()
    weights = torch.sparse.softmax(scores, 1)
    x = array("nodes", n, 4).requires_grad_()
    out = torch.sparse.mm(weights, x)
    out.pow(2).sum().backward()
    rows = torch.sparse.sum(weights, 1).to_dense()
    both = torch.sparse.mm(weights.detach(), weights.detach().t())
    return {
        "out": digest(out),
        "x": digest(x.grad),
        "scores": digest(scores.grad.coalesce().values()),
        "rows": digest(rows),
        "product": digest(both.to_dense()),
    }


PROGRAMS = {
    **{f"{k}_{m}": geometric(k, m) for k in ("gcn", "sage", "gin") for m in ("coo", "csr")},
    "light_propagation": light_propagation,
    "sparse_embeddings": sparse_embeddings,
    "attention_over_edges": attention_over_edges,
}
