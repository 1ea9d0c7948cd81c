"""Models of timm in tiny configurations: outputs, features and three training steps."""

import timm
import torch
from common import array, digest, fill, trained


def model(name, size=32, lr=0.01, train=True, **options):
    """A model by name, with options that make it small."""

    def run():
        net = fill(timm.create_model(name, pretrained=False, num_classes=6, **options))
        x = array(name, 2, 3, size, size)
        net.eval()
        with torch.no_grad():
            result = {
                "eval": digest(net(x)),
                "features": digest(net.forward_features(x)),
                "parameters": sum(p.numel() for p in net.parameters()),
            }
        if train:
            result["train"] = trained(net.train(), lambda: net(x), lr=lr)
        return result

    return run


VIT = {"img_size": 32, "patch_size": 8, "embed_dim": 32, "depth": 2, "num_heads": 2}
PROGRAMS = {
    "resnet18": model("resnet18", 48, lr=1e-3),
    "resnet26d": model("resnet26d", 48, train=False),
    "vit": model("vit_tiny_patch16_224", **VIT),
    "deit3": model("deit3_small_patch16_224", **VIT),
    "beit": model("beit_base_patch16_224", **VIT),
    "eva02": model("eva02_tiny_patch14_224", **VIT),
    "convnext": model("convnext_atto", depths=(1, 1, 2, 1), dims=(8, 16, 24, 32)),
    "convnextv2": model("convnextv2_atto", depths=(1, 1, 1, 1), dims=(8, 16, 24, 32)),
    "swin": model(
        "swin_tiny_patch4_window7_224", img_size=32, window_size=4, embed_dim=16,
        depths=(2, 2), num_heads=(2, 4), drop_path_rate=0.0,
    ),
    "swinv2": model(
        "swinv2_tiny_window8_256", img_size=32, window_size=4, embed_dim=16,
        depths=(2, 2), num_heads=(2, 4), drop_path_rate=0.0,
    ),
    "efficientnet": model("efficientnet_b0", 48, train=False),
    "efficientnetv2": model("tf_efficientnetv2_b0", 48, train=False),
    "mobilenetv3": model("mobilenetv3_small_050", 48, lr=1e-3),
    "regnet": model("regnetx_002", 48, train=False),
    "ghostnet": model("ghostnet_050", 48, train=False),
    "edgenext": model("edgenext_xx_small", 64, train=False),
}  # fmt: skip
