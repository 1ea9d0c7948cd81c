"""More libraries around models: probabilistic programs, differential equations, segmentation,
training loops, optimisers, sparse softmax.
"""

import torch
import torch.nn.functional as F
from common import array, digest, fill, integers, step, trained
from torch import nn


def pyro_inference():
    """Variational inference, a guide of its own making, and enumeration of a mixture."""
    import pyro
    import pyro.distributions as dist
    from pyro.infer import SVI, Trace_ELBO, TraceEnum_ELBO, autoguide, config_enumerate

    x = array("regressors", 30, 3)
    y = x @ torch.tensor([1.0, -2.0, 0.5])

    def regression(x, y):
        weight = pyro.sample("weight", dist.Normal(torch.zeros(3), 1.0).to_event(1))
        with pyro.plate("rows", len(x)):
            pyro.sample("y", dist.Normal(x @ weight, 0.5), obs=y)

    pyro.clear_param_store()
    guide = autoguide.AutoDelta(regression)
    svi = SVI(regression, guide, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO())
    losses = [float(svi.step(x, y)) for _ in range(10)]

    @config_enumerate
    def mixture(data):
        weights = pyro.param("w", torch.ones(2) / 2, constraint=dist.constraints.simplex)
        centres = pyro.param("centres", torch.tensor([-1.0, 1.0]))
        with pyro.plate("points", len(data)):
            kind = pyro.sample("kind", dist.Categorical(weights))
            pyro.sample("x", dist.Normal(centres[kind], 1.0), obs=data)

    enumerated = TraceEnum_ELBO(max_plate_nesting=1)
    svi = SVI(mixture, lambda data: None, pyro.optim.ClippedAdam({"lr": 0.05}), enumerated)
    mixed = [float(svi.step(x[:, 0])) for _ in range(5)]
    return {"losses": losses, "mixed": mixed, "centres": digest(pyro.param("centres"))}


def pyro_processes():
    """A Gaussian process, and the likelihood of hidden Markov models."""
    import pyro
    import pyro.contrib.gp as gp
    import pyro.distributions as dist

    pyro.clear_param_store()
    x = torch.linspace(0, 1, 12)
    model = gp.models.GPRegression(x, torch.sin(6 * x), gp.kernels.RBF(1), noise=torch.tensor(0.1))
    losses = gp.util.train(model, num_steps=4)
    hidden = dist.DiscreteHMM(
        torch.zeros(3), array("moves", 3, 3), dist.Normal(array("at", 3), 1.0)
    )
    unit = dist.Normal(torch.zeros(2), 1.0).to_event(1)
    gaussian = dist.GaussianHMM(unit, torch.eye(2), unit, torch.eye(2), unit)
    return {
        "losses": [float(v) for v in losses],
        "means": digest(model(torch.linspace(0, 1, 3))[0]),
        "hidden": hidden.log_prob(array("seen", 5)).item(),
        "gaussian": gaussian.log_prob(array("seen2", 5, 2)).item(),
    }


def differential_equations():
    """Solvers of torchdiffeq, through the steps and by the adjoint method."""
    from torchdiffeq import odeint, odeint_adjoint

    class Field(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = fill(nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2)))

        def forward(self, t, y):
            return self.net(y) * t.cos()

    field, start, times = Field(), array("start", 3, 2).requires_grad_(), torch.linspace(0, 1, 4)
    found = {}
    for method in ("dopri5", "bosh3", "rk4", "midpoint", "implicit_adams"):
        path = odeint(field, start, times, method=method)
        found[method] = [digest(path), digest(torch.autograd.grad(path.sum(), start)[0])]
    path = odeint_adjoint(field, start, times)
    path.pow(2).sum().backward()
    found["adjoint"] = [digest(start.grad), digest(field.net[0].weight.grad)]
    return found


def vision_transformers():
    """Four of the models of vit-pytorch."""
    from vit_pytorch import SimpleViT
    from vit_pytorch.cait import CaiT
    from vit_pytorch.max_vit import MaxViT
    from vit_pytorch.xcit import XCiT

    size = {"image_size": 32, "patch_size": 8, "num_classes": 5, "dim": 16}
    layers = {"heads": 2, "mlp_dim": 32}
    models = {
        "simple": SimpleViT(**size, **layers, depth=2),
        "cait": CaiT(**size, **layers, depth=1, cls_depth=1),
        "xcit": XCiT(**size, **layers, depth=1, cls_depth=1, local_patch_kernel_size=3),
        "max": MaxViT(num_classes=5, dim_conv_stem=8, dim=8, dim_head=4, depth=(1, 1),
                      window_size=4),
    }  # fmt: skip
    x = array("image", 2, 3, 32, 32)
    found = {}
    for name, model in models.items():
        model = fill(model).eval()
        found[name] = trained(model, lambda m=model: m(x), lr=1e-3)
    return found


def contrastive_pretraining():
    """A small CLIP of open_clip with its loss."""
    from open_clip import ClipLoss
    from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg

    vision = CLIPVisionCfg(layers=1, width=32, head_width=16, patch_size=8, image_size=32)
    text = CLIPTextCfg(context_length=12, vocab_size=50, width=32, heads=2, layers=1)
    model = fill(CLIP(16, vision, text))
    images, words = array("images", 3, 3, 32, 32), integers("words", 50, 3, 12)
    criterion = ClipLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    losses = step(model, optimizer, lambda: criterion(*model(images, words)))
    return {"losses": losses, "images": digest(model.encode_image(images))}


def segmentation(name, **options):
    """A model of segmentation_models_pytorch with its losses and metrics."""

    def program():
        import segmentation_models_pytorch as smp

        model = fill(getattr(smp, name)("resnet18", encoder_weights=None, classes=2, **options))
        model.eval()
        x, y = array("image", 1, 3, 64, 64), integers("mask", 2, 1, 64, 64)
        dice, focal = smp.losses.DiceLoss("multiclass"), smp.losses.FocalLoss("multiclass")
        out = model(x)
        loss = dice(out, y) + focal(out, y)
        loss.backward()
        counts = smp.metrics.get_stats(out.argmax(1), y, mode="multiclass", num_classes=2)
        return {
            "out": digest(out),
            "loss": loss.item(),
            "iou": smp.metrics.iou_score(*counts, "micro").item(),
            "grads": [float(p.grad.abs().mean()) for p in list(model.parameters())[-6:]],
        }

    return program


def ignite_engine():
    """Ignite's engines with metrics, a schedule and running averages."""
    from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
    from ignite.handlers import PiecewiseLinear, TerminateOnNan
    from ignite.metrics import Accuracy, ConfusionMatrix, Loss, Precision, RunningAverage

    model = fill(nn.Linear(4, 3))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    x, y = array("x", 32, 4), integers("y", 3, 32)
    batches = [(x[i : i + 8], y[i : i + 8]) for i in range(0, 32, 8)]
    criterion = nn.CrossEntropyLoss()
    trainer = create_supervised_trainer(model, optimizer, criterion)
    metrics = {
        "accuracy": Accuracy(),
        "loss": Loss(criterion),
        "precision": Precision(average=True),
        "confusion": ConfusionMatrix(3),
    }
    evaluator = create_supervised_evaluator(model, metrics)
    RunningAverage(output_transform=lambda value: value).attach(trainer, "average")
    trainer.add_event_handler(Events.ITERATION_COMPLETED, TerminateOnNan())
    schedule = PiecewiseLinear(optimizer, "lr", [(0, 0.1), (8, 0.01)])
    trainer.add_event_handler(Events.ITERATION_STARTED, schedule)
    averages = []

    @trainer.on(Events.EPOCH_COMPLETED)
    def note(engine):
        averages.append(engine.state.metrics["average"])

    trainer.run(batches, max_epochs=2)
    found = evaluator.run(batches).metrics
    return {
        "averages": averages,
        "accuracy": found["accuracy"],
        "loss": found["loss"],
        "precision": float(found["precision"]),
        "confusion": found["confusion"].tolist(),
    }


def optimisers():
    """Optimisers of torch_optimizer, some with the argument orders of older versions."""
    import torch_optimizer

    found = {}
    for name in ("AdaBound", "AdaBelief", "DiffGrad", "Lamb", "NovoGrad", "QHAdam", "Ranger",
                 "RangerVA", "Yogi", "AggMo", "Shampoo", "Adahessian"):  # fmt: skip
        net = fill(nn.Linear(4, 3))
        optimizer = getattr(torch_optimizer, name)(net.parameters(), lr=1e-2)
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = net(array("z", 3, 4)).pow(2).mean()
            loss.backward(create_graph=name == "Adahessian")
            if name != "Adahessian":
                optimizer.step()
            losses.append(loss.item())
        found[name] = losses
    return found


def fields_and_sparse_softmax():
    """A conditional random field, and softmax with exact zeros."""
    from entmax import entmax15, entmax_bisect, sparsemax
    from torchcrf import CRF

    field = fill(CRF(5, batch_first=True))
    scores = array("scores", 2, 6, 5).requires_grad_()
    mask = torch.tensor([[1] * 6, [1] * 4 + [0] * 2]).bool()
    loss = -field(scores, integers("tags", 5, 2, 6), mask=mask)
    loss.backward()
    found = {"loss": loss.item(), "grad": digest(scores.grad), "tags": field.decode(scores, mask)}
    for function in (sparsemax, entmax15, entmax_bisect):
        y = function(scores, dim=-1)
        found[function.__name__] = digest(y)
        slope = torch.autograd.grad((y * array("w", 2, 6, 5)).sum(), scores)[0]
        found[function.__name__ + " grad"] = digest(F.relu(slope))
    return found


PROGRAMS = {
    "pyro_inference": pyro_inference,
    "pyro_processes": pyro_processes,
    "torchdiffeq": differential_equations,
    "vit_pytorch": vision_transformers,
    "open_clip": contrastive_pretraining,
    "smp_unet": segmentation("Unet"),
    "smp_fpn": segmentation("FPN"),
    "ignite": ignite_engine,
    "torch_optimizer": optimisers,
    "crf_entmax": fields_and_sparse_softmax,
}
