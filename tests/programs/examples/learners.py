"""Programs that train in less usual ways: a queue of keys, steps inside steps, gradients of an
integrator, residuals of an equation, batches of like lengths, a cache of keys and values.
"""

import io
import math

import torch
import torch.nn.functional as F
from common import array, digest, fill, integers
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler


class Contrast(nn.Module):
    """A network, its slow copy, and a queue of what the copy gave."""

    def __init__(self):
        super().__init__()
        self.fast, self.slow = (
            nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))
            for _ in range(2)
        )
        fill(self.fast)
        for p, q in zip(self.fast.parameters(), self.slow.parameters(), strict=True):
            q.data.copy_(p.data)
            q.requires_grad = False
        self.register_buffer("queue", F.normalize(array("queue", 4, 16), dim=0))
        self.register_buffer("place", torch.zeros(1, dtype=torch.long))

    def forward(self, a, b, order):
        query = F.normalize(self.fast(a), dim=1)
        with torch.no_grad():
            for p, q in zip(self.fast.parameters(), self.slow.parameters(), strict=True):
                q.data = q.data * 0.9 + p.data * 0.1
            key = F.normalize(self.slow(b[order]), dim=1)[torch.argsort(order)]
        same = torch.einsum("nc,nc->n", [query, key]).unsqueeze(-1)
        other = torch.einsum("nc,ck->nk", [query, self.queue.clone().detach()])
        start = int(self.place)
        self.queue[:, start : start + len(key)] = key.T
        self.place[0] = (start + len(key)) % self.queue.shape[1]
        return torch.cat([same, other], dim=1) / 0.2


def momentum_contrast():
    """Four steps, after which the queue has been written once round."""
    net = Contrast()
    trained = filter(lambda p: p.requires_grad, net.parameters())
    optimizer = torch.optim.SGD(trained, 0.1, momentum=0.9, weight_decay=1e-4)
    losses = []
    for i in range(5):
        x = array(f"x{i}", 4, 6)
        scores = net(x + 0.1 * array(f"d{i}", 4, 6), x, torch.tensor([2, 0, 3, 1]))
        loss = F.cross_entropy(scores, torch.zeros(4, dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "queue": digest(net.queue), "place": int(net.place)}


def steps_inside_steps():
    """Weights from which two steps lead far, learnt through these steps."""
    shapes = [(8, 1), (8,), (1, 8), (1,)]
    weights = [array(f"w{i}", *s, scale=0.5).requires_grad_() for i, s in enumerate(shapes)]

    def net(x, w):
        return F.linear(F.relu(F.linear(x, w[0], w[1])), w[2], w[3])

    optimizer = torch.optim.Adam(weights, 1e-2)
    losses = []
    for i in range(3):
        optimizer.zero_grad()
        total = 0.0
        for task in range(3):
            phase, x = array(f"phase{i}{task}", 1), array(f"in{i}{task}", 5, 1)
            fast = list(weights)
            for _ in range(2):
                inner = F.mse_loss(net(x, fast), torch.sin(x + phase))
                gradients = torch.autograd.grad(inner, fast, create_graph=True)
                fast = [w - 0.05 * g for w, g in zip(fast, gradients, strict=True)]
            loss = F.mse_loss(net(x + 0.5, fast), torch.sin(x + 0.5 + phase)) / 3
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return {"losses": losses, "gradients": [digest(w.grad) for w in weights]}


class Euler(torch.autograd.Function):
    """Euler's steps without a graph; the gradient solves the adjoint equation backwards."""

    @staticmethod
    def forward(ctx, start, times, flat, field):
        with torch.no_grad():
            path = [start]
            for t, after in zip(times[:-1], times[1:], strict=True):
                path.append(path[-1] + (after - t) * field(path[-1]))
        ctx.field = field
        ctx.save_for_backward(times, *path)
        return torch.stack(path)

    @staticmethod
    def backward(ctx, grad):
        times, *path = ctx.saved_tensors
        adjoint, flat = torch.zeros_like(path[0]), 0
        for i in range(len(times) - 1, 0, -1):
            adjoint = adjoint + grad[i]
            with torch.enable_grad():
                y = path[i - 1].detach().requires_grad_(True)
                found = torch.autograd.grad(
                    ctx.field(y), (y, *ctx.field.parameters()), adjoint, allow_unused=True
                )
            h = times[i] - times[i - 1]
            adjoint = adjoint + h * found[0]
            flat = flat + h * torch.cat([g.reshape(-1) for g in found[1:]])
        return adjoint + grad[0], None, flat, None


def adjoint_method():
    """A field is fitted to where its path should go."""
    field = fill(nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 2)))
    times = torch.linspace(0.0, 1.0, 6)
    start = torch.tensor([[2.0, 0.0]], requires_grad=True)
    optimizer = torch.optim.RMSprop(field.parameters(), 1e-2)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        flat = torch.cat([p.reshape(-1) for p in field.parameters()])
        loss = (Euler.apply(start, times, flat, field) - torch.tensor([1.0, 0.5])).abs().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "start": digest(start.grad)}


def burgers_equation():
    """Second derivatives of a network in a loss that L-BFGS makes small."""
    net = fill(nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))).double()
    x, t = (array(n, 12, 1).double().sigmoid().requires_grad_() for n in "xt")
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3, line_search_fn="strong_wolfe")

    def slope(y, v):
        return torch.autograd.grad(y, v, torch.ones_like(y), create_graph=True)[0]

    def closure():
        optimizer.zero_grad()
        u = net(torch.cat([x, t], 1))
        along = slope(u, x)
        residual = slope(u, t) + u * along - 0.01 / math.pi * slope(along, x)
        at_start = net(torch.cat([x.detach(), torch.zeros_like(t)], 1))
        wanted = -torch.sin(math.pi * x.detach())
        loss = residual.square().mean() + (at_start - wanted).square().mean()
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(3)]

    def curvature(point):
        return torch.func.hessian(lambda q: net(q).squeeze())(point).diagonal().sum()

    points = torch.cat([x, t], 1).detach()
    return {"losses": losses, "laplacian": digest(torch.func.vmap(curvature)(points))}


class Texts(Dataset):
    """Eleven texts of one to five words."""

    def __len__(self):
        return 11

    def __getitem__(self, i):
        return integers(f"text{i}", 9, i % 5 + 1) + 1, i % 3


class LikeLengths(Sampler):
    """Batches of texts that are nearly as long as each other."""

    def __init__(self, texts, size):
        self.texts, self.size = texts, size

    def __iter__(self):
        order = sorted(range(len(self.texts)), key=lambda i: len(self.texts[i][0]))
        for i in range(0, len(order), self.size):
            yield order[i : i + self.size]

    def __len__(self):
        return math.ceil(len(self.texts) / self.size)


def padded_batches():
    """A classifier over padded texts; its checkpoint comes from inside a wrapper."""

    def collate(batch):
        words, labels = zip(*batch, strict=True)
        return pad_sequence(words, batch_first=True), torch.as_tensor(labels)

    net = fill(nn.ModuleDict({"words": nn.Embedding(10, 6, padding_idx=0), "out": nn.Linear(6, 3)}))
    optimizer = torch.optim.NAdam(
        [{"params": net["words"].parameters()}, {"params": net["out"].parameters(), "lr": 0.1}],
        lr=0.01,
    )
    texts = Texts()
    losses, shapes = [], []
    for words, labels in DataLoader(texts, batch_sampler=LikeLengths(texts, 4), collate_fn=collate):
        known = (words != 0).unsqueeze(-1)
        mean = net["words"](words).masked_fill(~known, 0.0).sum(1) / known.sum(1)
        loss = F.cross_entropy(net["out"](mean), labels, label_smoothing=0.1)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        shapes.append(list(words.shape))
    wrapper = nn.Module()
    wrapper.module = net
    buffer = io.BytesIO()
    torch.save(wrapper.state_dict(), buffer)
    buffer.seek(0)
    state = torch.load(buffer, map_location="cpu")
    nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    again = nn.ModuleDict({"words": nn.Embedding(10, 6), "out": nn.Linear(6, 3)})
    matched = str(again.load_state_dict(state))
    return {
        "losses": losses,
        "shapes": shapes,
        "matched": matched,
        "weight": digest(again["words"].weight),
    }


class Rotary(nn.Module):
    """Attention with rotated keys, two queries a key, and a cache outside of training."""

    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(16, eps=1e-6)
        self.q, self.kv, self.out = (nn.Linear(16, 16, bias=False) for _ in range(3))
        self.register_buffer("rates", 10000.0 ** (-torch.arange(0, 4, 2) / 4), persistent=False)
        self.cache = None

    def turn(self, x, places):
        angles = torch.outer(places.float(), self.rates)
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        turned = pairs * torch.polar(torch.ones_like(angles), angles)
        return torch.view_as_real(turned).flatten(3)

    def forward(self, x, places):
        h, length = self.norm(x), x.shape[1]
        q = self.turn(self.q(h).unflatten(-1, (4, 4)).transpose(1, 2), places)
        k, v = self.kv(h).unflatten(-1, (2, 2, 4)).permute(2, 0, 3, 1, 4).unbind(0)
        k = self.turn(k, places)
        if self.cache is not None:
            k, v = (torch.cat(pair, 2) for pair in zip(self.cache, (k, v), strict=True))
        if not self.training:
            self.cache = (k, v)
        k, v = k.repeat_interleave(2, dim=1), v.repeat_interleave(2, dim=1)
        mask = torch.ones(length, k.size(2), dtype=torch.bool).tril(k.size(2) - length)
        seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return x + self.out(seen.transpose(1, 2).flatten(2))


def cached_attention():
    """All positions at once, and three followed by one after the other."""
    net, x = fill(Rotary()), array("x", 2, 6, 16)
    whole = net(x, torch.arange(6))
    whole.pow(2).mean().backward()
    net.eval()
    with torch.inference_mode():
        parts = [net(x[:, :3], torch.arange(3))]
        parts += [net(x[:, i : i + 1], torch.tensor([i])) for i in range(3, 6)]
    same = torch.allclose(whole, torch.cat(parts, 1), atol=1e-5)
    return {"out": digest(whole), "same": same, "gradient": digest(net.q.weight.grad)}


PROGRAMS = {
    "momentum_contrast": momentum_contrast,
    "steps_inside_steps": steps_inside_steps,
    "adjoint_method": adjoint_method,
    "burgers_equation": burgers_equation,
    "padded_batches": padded_batches,
    "cached_attention": cached_attention,
}
