"""Libraries that train and judge: torchmetrics, peft, Lightning, GPyTorch."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import array, digest, fill, integers, step
from torch.utils.data import DataLoader, TensorDataset


def torchmetrics_values():
    """Metrics over two batches."""
    import torchmetrics as tm

    classes = {"task": "multiclass", "num_classes": 4}
    metrics = tm.MetricCollection(
        {
            "accuracy": tm.Accuracy(**classes),
            "f1": tm.F1Score(**classes, average="macro"),
            "matrix": tm.ConfusionMatrix(**classes),
            "auroc": tm.AUROC(**classes),
        }
    )
    numbers = tm.MetricCollection([tm.MeanSquaredError(), tm.R2Score(), tm.PearsonCorrCoef()])
    for i in range(2):
        metrics.update(array(f"scores{i}", 30, 4).softmax(-1), integers(f"truth{i}", 4, 30))
        numbers.update(array(f"found{i}", 30), array(f"wanted{i}", 30))
    mean = tm.MeanMetric()
    mean.update(array("values", 5))
    return {
        "classes": digest(metrics.compute()),
        "numbers": digest(numbers.compute()),
        "mean": float(mean.compute()),
        "ssim": float(
            tm.functional.image.structural_similarity_index_measure(
                array("a", 1, 1, 24, 24).sigmoid(),
                array("b", 1, 1, 24, 24).sigmoid(),
                data_range=1.0,
            )
        ),
    }


def peft_lora():
    """A small GPT-2 with low-rank adapters: training, merging."""
    import transformers as tf
    from peft import LoraConfig, get_peft_model

    config = tf.GPT2Config(
        vocab_size=40, n_positions=32, n_embd=16, n_layer=1, n_head=2, embd_pdrop=0.0,
        attn_pdrop=0.0, resid_pdrop=0.0,
    )  # fmt: skip
    lora = LoraConfig(r=2, lora_alpha=4, target_modules=["c_attn"], fan_in_fan_out=True)
    model = get_peft_model(tf.GPT2LMHeadModel(config), lora)
    fill(model)
    ids = integers("ids", 40, 2, 8)
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=1e-2)
    losses = step(model, optimizer, lambda: model(input_ids=ids, labels=ids).loss)
    before = model(input_ids=ids).logits
    merged = model.merge_and_unload()
    return {
        "trainable": sum(p.numel() for p in parameters),
        "losses": losses,
        "logits": digest(before),
        "merged": digest(merged(input_ids=ids).logits),
    }


def lightning_trainer():
    """Lightning's Trainer: fitting, validation, a checkpoint, prediction."""
    import logging
    import tempfile

    import lightning as pl

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
            self.losses = []

        def training_step(self, batch, index):
            x, y = batch
            loss = F.cross_entropy(self.net(x), y)
            self.losses.append(loss.item())
            self.log("train_loss", loss)
            return loss

        def validation_step(self, batch, index):
            x, y = batch
            self.log("val_loss", F.cross_entropy(self.net(x), y))

        def predict_step(self, batch, index):
            return self.net(batch[0])

        def configure_optimizers(self):
            optimizer = torch.optim.Adam(self.parameters(), lr=0.02)
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)]

    module = fill(Module())
    data = DataLoader(TensorDataset(array("x", 24, 6), integers("y", 3, 24)), batch_size=8)
    with tempfile.TemporaryDirectory() as folder:
        trainer = pl.Trainer(
            max_epochs=2, accelerator="cpu", logger=False, enable_progress_bar=False,
            enable_model_summary=False, enable_checkpointing=False, default_root_dir=folder,
            gradient_clip_val=0.5,
        )  # fmt: skip
        trainer.fit(module, data, data)
        metrics = {k: float(v) for k, v in trainer.callback_metrics.items()}
        predictions = torch.cat(trainer.predict(module, data))
        trainer.save_checkpoint(f"{folder}/model.ckpt")
        kept = torch.load(f"{folder}/model.ckpt", weights_only=True)
    return {
        "losses": module.losses,
        "metrics": metrics,
        "predictions": digest(predictions),
        "kept": sorted(kept["state_dict"]),
        "steps": trainer.global_step,
    }


def gpytorch_regression():
    """Regression with a Gaussian process: three steps on the likelihood, then prediction."""
    import gpytorch

    class Model(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    x = torch.linspace(0, 1, 20)
    y = torch.sin(x * 6.0) + array("noise", 20) * 0.1
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Model(x, y, likelihood)
    model.train()
    likelihood.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    mll = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    losses = step(model, optimizer, lambda: -mll(model(x), y))
    model.eval()
    likelihood.eval()
    with torch.no_grad(), gpytorch.settings.fast_pred_var():
        found = likelihood(model(torch.linspace(0, 1, 7)))
        low, high = found.confidence_region()
    return {
        "losses": losses,
        "mean": digest(found.mean),
        "low": digest(low),
        "high": digest(high),
        "lengthscale": float(model.covar_module.base_kernel.lengthscale),
    }


PROGRAMS = {
    "torchmetrics": torchmetrics_values,
    "peft": peft_lora,
    "lightning": lightning_trainer,
    "gpytorch": gpytorch_regression,
}
