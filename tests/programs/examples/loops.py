"""Programs with training loops of their own: a penalty on gradients, the argument orders of older
programs, steps inside a loss, a distribution made of coupling layers.
"""

import torch
import torch.nn.functional as F
from common import array, digest, fill, step
from torch import nn
from torch.autograd import Variable


def wasserstein():
    """A critic whose gradient is kept near one, and a generator against it."""
    generator = fill(nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)))
    critic = fill(nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)))
    for_critic = torch.optim.Adam(critic.parameters(), lr=1e-2, betas=(0.5, 0.9))
    for_generator = torch.optim.RMSprop(generator.parameters(), lr=1e-2)
    losses = []
    for i in range(4):
        real, noise = array(f"real{i}", 8, 2), array(f"noise{i}", 8, 4)
        made = generator(noise).detach()
        mix = array(f"mix{i}", 8, 1).sigmoid()
        between = (mix * real + (1 - mix) * made).requires_grad_(True)
        scores = critic(between)
        gradients = torch.autograd.grad(
            outputs=scores, inputs=between, grad_outputs=torch.ones(scores.size()),
            create_graph=True, retain_graph=True, only_inputs=True,
        )[0]  # fmt: skip
        penalty = ((gradients.view(8, -1).norm(2, dim=1) - 1) ** 2).mean() * 10
        for_critic.zero_grad()
        loss = critic(made).mean() - critic(real).mean() + penalty
        loss.backward()
        for_critic.step()
        for_generator.zero_grad()
        against = -critic(generator(noise)).mean()
        against.backward()
        for_generator.step()
        losses.append([loss.item(), penalty.item(), against.item()])
    return {"losses": losses, "critic": digest(critic[0].weight)}


def older_loop():
    """Momentum by hand with the argument orders, names and types of PyTorch's first versions."""
    model = fill(nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3)))
    speeds = [p.data.new(p.size()).zero_() for p in model.parameters()]
    squares = [torch.zeros_like(p.data) for p in model.parameters()]
    losses = []
    for _ in range(4):
        x = Variable(array("x", 6, 5).type(torch.FloatTensor), requires_grad=False)
        y = Variable(torch.LongTensor([0, 1, 2, 0, 1, 2]))
        model.zero_grad()
        loss = F.nll_loss(F.log_softmax(model(x), dim=1), y, size_average=True)
        loss.backward()
        for p, speed, square in zip(model.parameters(), speeds, squares):
            speed.mul_(0.9).add_(0.1, p.grad.data)
            square.mul_(0.99).addcmul_(0.01, p.grad.data, p.grad.data)
            p.data.addcdiv_(-0.1, speed, square.sqrt().add_(1e-3))
        losses.append(loss.data.item())
    bias = torch.addmm(0.5, torch.ones(2, 2), 2, torch.eye(2), torch.ones(2, 2))
    return {"losses": losses, "weights": digest(model[0].weight.data), "bias": digest(bias)}


def adaptation():
    """Meta-learning: a step inside the loss, differentiated through."""
    model = fill(nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for i in range(3):
        total = 0.0
        optimizer.zero_grad()
        for task in range(2):
            amplitude = 1.0 + task
            x = array(f"task{task}{i}", 6, 1)
            y = amplitude * torch.sin(x)
            fast = dict(model.named_parameters())
            for _ in range(2):
                inner = F.mse_loss(torch.func.functional_call(model, fast, (x[:3],)), y[:3])
                found = torch.autograd.grad(inner, tuple(fast.values()), create_graph=True)
                fast = {n: p - 0.1 * g for (n, p), g in zip(fast.items(), found)}
            outer = F.mse_loss(torch.func.functional_call(model, fast, (x[3:],)), y[3:])
            outer.backward()
            total += outer.item()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(total)
    return {"losses": losses, "weights": digest(model[0].weight)}


def flow():
    """Coupling layers that make a distribution, by the exact likelihood."""
    nets = nn.ModuleList(
        nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 2)) for _ in range(3)
    )
    fill(nets)
    base = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    x = array("x", 16, 2) * torch.tensor([1.0, 0.3]) + 1

    def loss_of():
        z, volume = x, 0.0
        for net in nets:
            a, b = z.chunk(2, dim=1)
            scale, shift = net(a).chunk(2, dim=1)
            z = torch.cat([b * scale.tanh().exp() + shift, a], dim=1)
            volume = volume + scale.tanh().squeeze(1)
        return -(base.log_prob(z) + volume).mean()

    optimizer = torch.optim.NAdam(nets.parameters(), lr=1e-2)
    return {"losses": step(None, optimizer, loss_of, 5), "weights": digest(nets[0][0].weight)}


PROGRAMS = {f.__name__: f for f in (wasserstein, older_loop, adaptation, flow)}
