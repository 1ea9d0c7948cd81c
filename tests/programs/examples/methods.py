"""Programs that lean on derivatives: an adjoint method, training on many tasks at once, an equation
as a loss, speech with alignments, experts and a state space, a detector, thinned layers.
"""

import math
from itertools import groupby

import torch
import torch.nn.functional as F
from common import array, digest, fill, integers, step
from torch import nn
from torch.func import functional_call, grad, hessian, jacrev, stack_module_state, vmap
from torch.nn.utils import parametrizations, parametrize, prune
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn


class Field(nn.Module):
    """A vector field that can say its products with a vector, by state, time and weights."""

    def __init__(self):
        super().__init__()
        self.net = fill(nn.Sequential(nn.Linear(3, 10), nn.ELU(), nn.Linear(10, 2)))

    def forward(self, z, t):
        return self.net(torch.cat([z, t.expand(len(z), 1)], dim=-1))

    def products(self, z, t, vector):
        with torch.enable_grad():
            z, t = z.detach().requires_grad_(), t.detach().requires_grad_()
            out = self.forward(z, t)
            by_z, by_t, *by_p = torch.autograd.grad(
                (out,), [z, t, *self.parameters()], grad_outputs=(vector,), allow_unused=True
            )
        return by_z, by_t.reshape(1), torch.cat([p.flatten() for p in by_p])


class Adjoint(torch.autograd.Function):
    """Euler's method whose backward pass solves the adjoint equation."""

    @staticmethod
    def forward(ctx, z, times, flat, field):
        ctx.field, path = field, [z]
        with torch.no_grad():
            for t0, t1 in zip(times, times[1:]):
                path.append(path[-1] + (t1 - t0) * field(path[-1], t0))
        path = torch.stack(path)
        ctx.save_for_backward(times, path.clone(), flat)
        return path

    @staticmethod
    def backward(ctx, grads):
        times, path, flat = ctx.saved_tensors
        by_times, by_flat, a = torch.zeros_like(times), torch.zeros_like(flat), grads[-1].clone()
        for i in range(len(times) - 1, 0, -1):
            length = times[i] - times[i - 1]
            by_z, by_t, by_p = ctx.field.products(path[i - 1], times[i - 1], a)
            slope = (a * ctx.field(path[i - 1], times[i - 1])).sum()
            by_times[i] += slope
            by_times[i - 1] += length * by_t.squeeze() - slope
            by_flat += length * by_p
            a = a + length * by_z + grads[i - 1]
        return a, by_times, by_flat, None


def neural_ode():
    """Fits the end of a path; the adjoint's gradients equal those through the steps."""
    field = Field()
    times = torch.linspace(0, 1, 6).requires_grad_()
    start = array("start", 5, 2).requires_grad_()
    optimizer = torch.optim.Adamax(field.parameters(), lr=2e-2)

    def loss_of():
        flat = torch.cat([p.flatten() for p in field.parameters()])
        return (Adjoint.apply(start, times, flat, field)[-1] - 1).square().mean()

    losses = step(field, optimizer, loss_of, 4)
    wanted = [start, times, *field.parameters()]
    by_adjoint = torch.autograd.grad(loss_of(), wanted)
    z = start
    for t0, t1 in zip(times, times[1:]):
        z = z + (t1 - t0) * field(z, t0)
    by_steps = torch.autograd.grad((z[-1:] * 0).sum() + (z - 1).square().mean(), wanted)
    same = all(torch.allclose(a, b, atol=1e-5) for a, b in zip(by_adjoint, by_steps))
    return {"losses": losses, "same": same, "times": digest(by_adjoint[1])}


def many_tasks():
    """Adapts to several tasks at once under vmap, with kernels, curvature and an ensemble."""
    net = fill(nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1)))
    params = dict(net.named_parameters())
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)

    def loss(p, x, y):
        return F.mse_loss(functional_call(net, p, (x,)), y)

    def adapted(x1, y1, x2, y2):
        fast = params
        for _ in range(2):
            slopes = grad(loss)(fast, x1, y1)
            fast = {k: v - 0.1 * slopes[k] for k, v in fast.items()}
        return loss(fast, x2, y2)

    x1, x2, height = array("x1", 4, 6, 1), array("x2", 4, 6, 1), array("height", 4, 1, 1)
    tasks = (x1, height * x1.sin(), x2, height * x2.sin())
    losses = step(net, optimizer, lambda: vmap(adapted)(*tasks).mean(), 3)

    fixed = {k: v.detach() for k, v in params.items()}
    one = lambda p, x: functional_call(net, p, (x.unsqueeze(0),)).squeeze(0)
    each = vmap(grad(lambda p, x, y: loss(p, x[None], y[None])), (None, 0, 0))
    rows = [j.flatten(2) for j in vmap(jacrev(one), (None, 0))(fixed, x1[0]).values()]
    kernel = sum(torch.einsum("naf,mbf->nmab", j, j) for j in rows)
    curved = vmap(hessian(lambda x: one(fixed, x).sum()))(x1[0])
    models = [fill(nn.Linear(2, 3)) for _ in range(3)]
    stacked, buffers = stack_module_state(models)
    answers = vmap(lambda p, b: functional_call(models[0], (p, b), (array("in", 4, 2),)))
    return {
        "losses": losses,
        "each": digest(each(fixed, x1[0], tasks[1][0])["0.weight"]),
        "kernel": digest(kernel),
        "curved": digest(curved),
        "ensemble": digest(answers(stacked, buffers)),
    }


def equation():
    """A network that should satisfy an equation with third derivatives, one coefficient unknown."""
    net = fill(nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 12), nn.Softplus(beta=3),
                             nn.Linear(12, 1)))  # fmt: skip
    thickness = nn.Parameter(torch.tensor(0.1))
    groups = [{"params": net.parameters()}, {"params": [thickness], "lr": 0.05}]
    optimizer = torch.optim.NAdam(groups, lr=1e-2)

    def loss_of():
        x, t = (array(n, 10, 1).requires_grad_() for n in "xt")
        u = net(torch.cat([x, t], dim=1))
        slope = lambda y: torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]
        u_t = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
        u_x = slope(u)
        u_xx = slope(u_x)
        rest = u_t + u * u_x - thickness * u_xx + 0.02 * slope(u_xx)
        begins = net(torch.cat([x.detach(), torch.zeros(10, 1)], dim=1)) + torch.sin(x.detach())
        return rest.square().mean() + begins.square().mean()

    return {"losses": step(net, optimizer, loss_of, 4), "thickness": thickness.item()}


class Listener(nn.Module):
    """Convolutions over a spectrogram, a recurrent network over time, symbols."""

    def __init__(self, symbols=7):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(1, 8, 3, (2, 1), 1), nn.BatchNorm2d(8), nn.Hardtanh(0, 20, inplace=True),
            nn.Conv2d(8, 8, (3, 5), 1, (1, 2)), nn.GLU(1), nn.Hardswish(),
        )  # fmt: skip
        self.rnn = nn.GRU(4 * 8, 10, 2, bidirectional=True)
        self.norm, self.fc = nn.BatchNorm1d(20), nn.Linear(20, symbols)

    def forward(self, x, lengths):
        x = self.cnn(x)
        b, c, f, t = x.shape
        packed = pack_padded_sequence(x.view(b, c * f, t).permute(2, 0, 1), lengths,
                                      enforce_sorted=False)  # fmt: skip
        out, lengths = pad_packed_sequence(self.rnn(packed)[0], total_length=t)
        out = self.norm(out.flatten(0, 1)).view(t, b, -1)
        return self.fc(out).log_softmax(2), lengths


def speech():
    """Spectrograms to symbols with the loss over alignments, a schedule, greedy decoding."""
    window = torch.hann_window(30)
    waves, lengths = array("waves", 3, 320), torch.tensor([21, 15, 18])
    spectrum = torch.stft(waves, 30, 16, window=window, return_complex=True, normalized=True)
    loud = spectrum.abs().pow(2).clamp_min(1e-5).log()[:, None]
    again = torch.istft(spectrum, 30, 16, window=window, normalized=True, length=320)
    model = fill(Listener())
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.02, total_steps=5)
    targets, sizes = integers("targets", 6, 3, 6) + 1, torch.tensor([6, 3, 5])
    criterion = nn.CTCLoss(blank=0, zero_infinity=True)
    losses = []
    for _ in range(4):
        scores, steps = model(loud, lengths)
        loss = criterion(scores, targets, steps, sizes)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 50.0)
        optimizer.step()
        schedule.step()
        losses.append([loss.item(), norm.item(), *schedule.get_last_lr()])
    best = [s[:n].tolist() for s, n in zip(scores.argmax(2).T, steps.tolist())]
    texts = [[k for k, _ in groupby(s) if k] for s in best]
    same = torch.allclose(again, waves, atol=1e-4)
    return {"losses": losses, "texts": texts, "same": same, "loud": digest(loud)}


class Experts(nn.Module):
    """Each token goes through the two experts that its gate prefers."""

    def __init__(self, d, n):
        super().__init__()
        self.gate = nn.Linear(d, n, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(d, 2 * d), nn.SiLU(), nn.Linear(2 * d, d)) for _ in range(n)
        )

    def forward(self, x):
        flat = x.flatten(0, -2)
        weights, chosen = self.gate(flat).softmax(-1, dtype=torch.float).topk(2, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        out, mask = torch.zeros_like(flat), F.one_hot(chosen, len(self.experts)).permute(2, 1, 0)
        for i, expert in enumerate(self.experts):
            place, token = torch.where(mask[i])
            out.index_add_(0, token, expert(flat[token]) * weights[token, place, None])
        return out.view_as(x)


class StateSpace(nn.Module):
    """A linear recurrence whose step and matrices depend on the input."""

    def __init__(self, d, n=4):
        super().__init__()
        self.decay = nn.Parameter(torch.zeros(d, n))
        self.conv = nn.Conv1d(d, d, 3, groups=d, padding=2)
        self.mix, self.rate = nn.Linear(d, 2 * n + 1, bias=False), nn.Linear(1, d)

    def forward(self, x):
        x = F.silu(self.conv(x.transpose(1, 2))[..., : x.shape[1]]).transpose(1, 2)
        rate, b, c = self.mix(x).split([1, self.decay.shape[1], self.decay.shape[1]], dim=-1)
        rate = F.softplus(self.rate(rate))
        keep = torch.exp(torch.einsum("bld,dn->bldn", rate, -self.decay.exp()))
        fresh = torch.einsum("bld,bld,bln->bldn", rate, x, b)
        h, out = x.new_zeros(x.shape[0], *self.decay.shape), []
        for i in range(x.shape[1]):
            h = torch.addcmul(fresh[:, i], keep[:, i], h)
            out.append(torch.einsum("bdn,bn->bd", h, c[:, i]))
        return torch.stack(out, dim=1)


class Turning(nn.Module):
    """Attention with positions as turns of complex numbers."""

    def __init__(self, d, longest=16):
        super().__init__()
        self.qkv = nn.Linear(d, 3 * d)
        angles = torch.outer(torch.arange(longest), 100.0 ** -(torch.arange(d // 4) / (d // 4)))
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles), False)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, 2, d // 2).unbind(2)
        q, k = (
            torch.view_as_real(
                torch.view_as_complex(z.unflatten(-1, (-1, 2)).contiguous())
                * self.turns[:t].view(1, t, 1, -1)
            ).flatten(3)
            for z in (q, k)
        )
        q, k, v = (z.transpose(1, 2) for z in (q, k, v))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return out.transpose(1, 2).reshape(b, t, d)


def experts_and_states():
    """A language model of these parts, then tokens from the likeliest few."""
    d, words = 16, 20
    embed, head = fill(nn.Embedding(words, d, max_norm=2.0)), fill(nn.Linear(d, words))
    layers = fill(nn.ModuleList([StateSpace(d), Turning(d), Experts(d, 4)]))
    norms = nn.ModuleList(nn.RMSNorm(d) for _ in layers)
    parameters = [p for m in (embed, layers, norms, head) for p in m.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-2, foreach=True)
    text = integers("text", words, 3, 9)

    def scores(ids):
        x = embed(ids)
        for norm, layer in zip(norms, layers):
            x = x + layer(norm(x))
        return head(x)

    def loss_of():
        return F.cross_entropy(scores(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())

    losses, ids = step(None, optimizer, loss_of, 4), text[:1, :2]
    with torch.inference_mode():
        for _ in range(5):
            last = scores(ids)[:, -1] / 0.8
            last[last < last.topk(8).values[:, [-1]]] = -math.inf
            likely, order = last.softmax(-1).sort(-1, descending=True)
            likely[likely.cumsum(-1) - likely > 0.5] = 0
            ids = torch.cat([ids, order.gather(-1, likely.argmax(-1, keepdim=True))], dim=1)
    return {"losses": losses, "ids": ids.tolist(), "scores": digest(scores(text))}


def overlap(a, b):
    """Overlap of every box of `a` with every box of `b`."""
    size = torch.min(a[:, None, 2:], b[:, 2:]) - torch.max(a[:, None, :2], b[:, :2])
    both = size.clamp(min=0).prod(2)
    area = lambda boxes: (boxes[:, 2:] - boxes[:, :2]).prod(1)
    return both / (area(a)[:, None] + area(b) - both)


def detector():
    """Boxes on a grid, matched to the truth, with overlap and focal losses; then suppression."""
    net = fill(nn.Sequential(
        nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8, momentum=0.03), nn.LeakyReLU(0.1, True),
        nn.Conv2d(8, 8, 3, 2, 1, groups=8), nn.Hardswish(), nn.Conv2d(8, 2 * 5, 1),
    ))  # fmt: skip
    grid = torch.stack(torch.meshgrid(*[torch.arange(4.0)] * 2, indexing="xy"), dim=-1)
    anchors = torch.tensor([[4.0, 4.0], [8.0, 6.0]])
    truth = torch.tensor([[2.0, 3.0, 9.0, 10.0], [5.0, 1.0, 12.0, 6.0]])
    images = array("images", 2, 3, 16, 16)

    def boxes_of():
        p = net(images).view(2, 2, 5, 4, 4).permute(0, 3, 4, 1, 2)
        middle = (p[..., :2].sigmoid() + grid[:, :, None]) * 4
        half = p[..., 2:4].clamp(max=3).exp() * anchors / 2
        return torch.cat([middle - half, middle + half], -1).flatten(1, 3), p[..., 4].flatten(1)

    def loss_of():
        total = 0
        for boxes, scores in zip(*boxes_of()):
            with torch.no_grad():
                value, best = overlap(boxes, truth).max(dim=0)
                wanted = torch.zeros_like(scores).index_put_((best,), value)
            off = (scores.sigmoid() - wanted).abs().detach().square()
            total = total + (off * F.binary_cross_entropy_with_logits(
                scores, wanted, reduction="none", pos_weight=torch.tensor(2.0))).sum()  # fmt: skip
            total = total + (1 - overlap(boxes[best], truth).diagonal()).sum()
            total = total + F.smooth_l1_loss(boxes[best], truth, beta=0.5)
        return total

    losses = step(net, torch.optim.SGD(net.parameters(), 1e-2, momentum=0.9), loss_of, 4)
    boxes, scores = (v[0].detach() for v in boxes_of())
    kept, order = [], scores.argsort(descending=True)
    while len(order):
        kept.append(int(order[0]))
        order = order[1:][overlap(boxes[order[:1]], boxes[order[1:]])[0] < 0.3]
    return {"losses": losses, "kept": kept, "boxes": digest(boxes)}


class Mirrored(nn.Module):
    """Makes a matrix symmetric."""

    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


def thinned():
    """Pruned, symmetric, orthogonal and normalised layers, trained with two kinds of averages."""
    first, same, turn, last = (fill(nn.Linear(5, 5)) for _ in range(4))
    parametrize.register_parametrization(same, "weight", Mirrored())
    parametrizations.orthogonal(turn, orthogonal_map="cayley", use_trivialization=False)
    parametrizations.weight_norm(last)
    prune.random_unstructured(first, "bias", amount=0.0)
    prune.l1_unstructured(first, "weight", amount=0.4)
    prune.ln_structured(first, "weight", amount=1, n=2, dim=0)
    rest = nn.Sequential(nn.Tanh(), same, nn.ELU(), turn, last)
    model = nn.Sequential(first, rest)
    smooth = AveragedModel(rest, multi_avg_fn=get_ema_multi_avg_fn(0.8))
    mean = AveragedModel(rest)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    schedule = SWALR(optimizer, swa_lr=0.02, anneal_epochs=3)
    x, losses = array("x", 8, 5), []
    for _ in range(4):
        losses += step(model, optimizer, lambda: F.huber_loss(model(x), x.roll(1, 1)), 1)
        smooth.update_parameters(rest)
        mean.update_parameters(rest)
        schedule.step()
    gone = float((first.weight == 0).float().mean())
    out, names = [digest(m(x)) for m in (rest, smooth, mean)], sorted(model.state_dict())
    prune.remove(first, "weight")
    parametrize.remove_parametrizations(last, "weight")
    return {
        "losses": losses,
        "gone": gone,
        "names": [*names, *sorted(model.state_dict())],
        "symmetric": torch.equal(same.weight, same.weight.mT),
        "orthogonal": torch.allclose(turn.weight @ turn.weight.mT, torch.eye(5), atol=1e-5),
        "out": [*out, digest(model(x))],
        "lr": schedule.get_last_lr(),
    }


PROGRAMS = {
    f.__name__: f
    for f in (neural_ode, many_tasks, equation, speech, experts_and_states, detector, thinned)
}
