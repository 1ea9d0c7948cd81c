"""Libraries around models: einops, captum, accelerate, PyTorch Geometric."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import array, digest, fill, integers, step, trained


def einops_layers():
    """Functions and layers of einops."""
    from einops import einsum, pack, rearrange, reduce, repeat, unpack
    from einops.layers.torch import EinMix, Rearrange, Reduce

    x = array("images", 2, 4, 6, 8)
    packed, shapes = pack([x, array("more", 2, 3, 6, 8)], "b * h w")
    net = fill(
        nn.Sequential(
            nn.Conv2d(4, 6, 3, padding=1),
            Rearrange("b c (h p) (w q) -> b h w (p q c)", p=2, q=2),
            EinMix("b h w c -> b h w d", weight_shape="c d", bias_shape="d", c=24, d=5),
            Reduce("b h w c -> b c", "mean"),
        )
    )
    return {
        "rearranged": digest(rearrange(x, "b c (h p) w -> b (c p) h w", p=2)),
        "reduced": digest(reduce(x, "b c h w -> b c", "max")),
        "repeated": digest(repeat(x, "b c h w -> b c (h 2) w")),
        "product": digest(einsum(x, x, "b c h w, b d h w -> b c d")),
        "packed": digest(unpack(packed, shapes, "b * h w")[1]),
        "net": trained(net, lambda: net(x)),
    }


class Small(nn.Module):
    """A convolution and a linear layer."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(36, 3)

    def forward(self, x):
        return self.fc(self.pool(self.relu(self.conv(x))).flatten(1))


def captum_attributions():
    """Attributions of a small network by several methods."""
    from captum import attr

    model = fill(Small()).eval()
    x = array("inputs", 3, 1, 8, 8).requires_grad_()
    target = torch.tensor([0, 2, 1])
    integrated, delta = attr.IntegratedGradients(model).attribute(
        x, target=target, n_steps=8, return_convergence_delta=True
    )
    return {
        "integrated": digest(integrated),
        "delta": digest(delta),
        "saliency": digest(attr.Saliency(model).attribute(x, target=target)),
        "product": digest(attr.InputXGradient(model).attribute(x, target=target)),
        "guided": digest(attr.GuidedBackprop(model).attribute(x, target=target)),
        "deconvolution": digest(attr.Deconvolution(model).attribute(x, target=target)),
        "layer": digest(attr.LayerActivation(model, model.conv).attribute(x)),
        "cam": digest(attr.LayerGradCam(model, model.conv).attribute(x, target=target)),
        "occlusion": digest(
            attr.Occlusion(model).attribute(
                x, target=target, sliding_window_shapes=(1, 4, 4), strides=(1, 4, 4)
            )
        ),
        "ablation": digest(
            attr.FeatureAblation(model).attribute(
                x, target=target, feature_mask=torch.arange(64).reshape(1, 1, 8, 8) // 16
            )
        ),
    }


def accelerate_loop():
    """A training loop with accelerate: prepared objects, accumulation, clipping, states."""
    import tempfile

    from accelerate import Accelerator
    from accelerate.utils import set_seed
    from torch.utils.data import DataLoader, TensorDataset

    set_seed(3)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    model = fill(nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: 0.9**i)
    data = DataLoader(TensorDataset(array("x", 24, 6), integers("y", 3, 24)), batch_size=6)
    model, optimizer, data, scheduler = accelerator.prepare(model, optimizer, data, scheduler)
    losses = []
    for x, y in data:
        with accelerator.accumulate(model):
            loss = F.cross_entropy(model(x), y)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        losses.append(accelerator.gather(loss.detach().reshape(1)).item())
    with tempfile.TemporaryDirectory() as folder:
        accelerator.save_state(folder)
        before = accelerator.unwrap_model(model)[0].weight.detach().clone()
        with torch.no_grad():
            accelerator.unwrap_model(model)[0].weight.zero_()
        accelerator.load_state(folder)
    weight = accelerator.unwrap_model(model)[0].weight
    return {"losses": losses, "weight": digest(weight), "restored": torch.equal(weight, before)}


def geometric(kind):
    """A graph network of PyTorch Geometric on a small graph."""

    def run():
        from torch_geometric import nn as gnn
        from torch_geometric.data import Batch, Data

        layers = {
            "gcn": lambda i, o: gnn.GCNConv(i, o),
            "gat": lambda i, o: gnn.GATConv(i, o, heads=2, concat=False),
            "sage": lambda i, o: gnn.SAGEConv(i, o),
            "gin": lambda i, o: gnn.GINConv(nn.Sequential(nn.Linear(i, o), nn.ReLU())),
        }

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv1, self.conv2 = layers[kind](8, 8), layers[kind](8, 3)

            def forward(self, data):
                x = F.elu(self.conv1(data.x, data.edge_index))
                return self.conv2(x, data.edge_index)

        graphs = [
            Data(x=array(f"nodes{n}", n, 8), edge_index=integers(f"edges{n}", n, 2, 3 * n),
                 y=integers(f"classes{n}", 3, n))
            for n in (10, 7)
        ]  # fmt: skip
        data, model = Batch.from_data_list(graphs), fill(Net())
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
        losses = step(model, optimizer, lambda: F.cross_entropy(model(data), data.y))
        pooled = gnn.global_mean_pool(model(data), data.batch)
        return {"losses": losses, "out": digest(model(data)), "pooled": digest(pooled)}

    return run


PROGRAMS = {
    "einops": einops_layers,
    "captum": captum_attributions,
    "accelerate": accelerate_loop,
    "geometric_gcn": geometric("gcn"),
    "geometric_gat": geometric("gat"),
    "geometric_sage": geometric("sage"),
    "geometric_gin": geometric("gin"),
}
