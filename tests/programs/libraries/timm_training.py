"""What timm trains with: its optimisers, schedules of learning rates and losses."""

import torch
from common import array, fill, integers, step
from torch import nn


def optimisers():
    """Three steps with every optimiser of timm's list that needs no further package."""
    from timm.optim import create_optimizer_v2, list_optimizers

    found = {}
    for name in list_optimizers():
        if any(part in name for part in ("bnb", "apex", "fused", "hessian")):
            continue
        torch.manual_seed(0)
        net = fill(nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(8, 3)))
        optimizer = create_optimizer_v2(net, opt=name, lr=1e-2, weight_decay=0.05)
        x = array("z", 3, 1, 4, 4)
        found[name] = step(net, optimizer, lambda net=net, x=x: net(x).pow(2).mean())
    return found


def schedules():
    from timm.scheduler import create_scheduler_v2

    found = {}
    for name in ("cosine", "tanh", "step", "multistep", "plateau", "poly"):
        optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], 0.1)
        schedule, epochs = create_scheduler_v2(
            optimizer, sched=name, num_epochs=10, decay_epochs=3, decay_milestones=[2, 5],
            warmup_epochs=2, cooldown_epochs=1, warmup_lr=1e-4, min_lr=1e-5,
        )  # fmt: skip
        rates = []
        for i in range(10):
            schedule.step(i, 1.0 / (i + 1))
            rates.append(optimizer.param_groups[0]["lr"])
        found[name] = [*rates, epochs]
    return found


def losses():
    from timm import loss

    x = array("x", 6, 5).requires_grad_()
    y, soft = integers("y", 5, 6), array("s", 6, 5).softmax(-1)
    found = {}
    for criterion, target in (
        (loss.LabelSmoothingCrossEntropy(0.1), y),
        (loss.SoftTargetCrossEntropy(), soft),
        (loss.BinaryCrossEntropy(0.1), y),
        (loss.AsymmetricLossMultiLabel(), (soft > 0.2).float()),
        (loss.AsymmetricLossSingleLabel(), y),
    ):
        value = criterion(x, target)
        slope = torch.autograd.grad(value, x)[0]
        found[type(criterion).__name__] = [value.item(), float(slope.abs().sum())]
    return found


PROGRAMS = {"optimisers": optimisers, "schedules": schedules, "losses": losses}
