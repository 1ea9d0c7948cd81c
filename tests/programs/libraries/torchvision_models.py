"""Models of torchvision for classification and segmentation, and its transforms; tiny inputs."""

import torch
import torchvision
from common import array, digest, fill, trained
from torchvision.models import convnext, swin_transformer, vision_transformer
from torchvision.transforms import v2


def classifier(name, size=64, train=True, batch=3, **options):
    """A model by name: outputs of evaluation, and three steps where that is quick.

    The steps are in double precision: with norms over few values, single precision differs soon.
    """

    def run():
        model = fill(torchvision.models.get_model(name, weights=None, num_classes=5, **options))
        x = array(name, batch, 3, size, size)
        model.eval()
        with torch.no_grad():
            result = {"eval": digest(model(x))}
        for m in model.modules():
            if isinstance(m, torch.nn.Dropout):
                m.p = 0.0
        if train:
            model, x = model.double().train(), x.double()
            result["train"] = trained(model, lambda: model(x), lr=1e-3)
        return result

    return run


def vit():
    """A vision transformer of two layers."""
    model = fill(
        vision_transformer.VisionTransformer(
            image_size=32, patch_size=8, num_layers=2, num_heads=2, hidden_dim=24, mlp_dim=48,
            num_classes=5,
        )
    )  # fmt: skip
    x = array("vit", 3, 3, 32, 32)
    return trained(model, lambda: model(x), lr=0.01)


def swin(version):
    """A shifted-window transformer of two stages."""
    block = {
        1: swin_transformer.SwinTransformerBlock,
        2: swin_transformer.SwinTransformerBlockV2,
    }[version]
    merge = {1: swin_transformer.PatchMerging, 2: swin_transformer.PatchMergingV2}[version]
    model = fill(
        swin_transformer.SwinTransformer(
            patch_size=[4, 4], embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=[4, 4],
            stochastic_depth_prob=0.0, num_classes=5, block=block, downsample_layer=merge,
        )
    )  # fmt: skip
    x = array("swin", 2, 3, 40, 40)
    return trained(model, lambda: model(x), lr=0.01)


def convnext_small():
    """A ConvNeXt of two stages."""
    settings = [
        convnext.CNBlockConfig(12, 24, 1),
        convnext.CNBlockConfig(24, None, 1),
    ]
    model = fill(convnext.ConvNeXt(settings, stochastic_depth_prob=0.0, num_classes=5))
    x = array("convnext", 2, 3, 32, 32)
    return trained(model, lambda: model(x), lr=0.01)


def segmentation(name):
    """A segmentation model's outputs."""

    def run():
        model = torchvision.models.get_model(name, weights=None, weights_backbone=None,
                                             num_classes=4)  # fmt: skip
        model = fill(model).eval()
        with torch.no_grad():
            return digest(dict(model(array(name, 1, 3, 48, 48))))

    return run


def transforms():
    """A pipeline of transforms, with numbers that do not depend on chance."""
    image = (array("picture", 3, 20, 24).sigmoid() * 255).to(torch.uint8)
    pipeline = v2.Compose(
        [
            v2.ToDtype(torch.float32, scale=True),
            v2.Resize((18, 16), antialias=True),
            v2.CenterCrop(14),
            v2.RandomHorizontalFlip(1.0),
            v2.Normalize((0.5, 0.4, 0.3), (0.2, 0.3, 0.4)),
        ]
    )
    f = torchvision.transforms.functional
    return {
        "pipeline": digest(pipeline(image)),
        "gray": digest(f.rgb_to_grayscale(image)),
        "blur": digest(f.gaussian_blur(image.float(), [3, 3], [0.8, 0.8])),
        "jitter": digest(f.adjust_saturation(f.adjust_contrast(image, 1.5), 0.5)),
        "rotated": digest(f.rotate(image.float(), 30.0, expand=True)),
        "perspective": digest(f.affine(image.float(), 10.0, [1, 2], 1.2, [3.0, 1.0])),
        "hue": digest(f.adjust_hue(image, 0.2)),
        "grid": digest(torchvision.utils.make_grid(image.float()[None].repeat(3, 1, 1, 1), 2)),
    }


PROGRAMS = {
    "resnet18": classifier("resnet18"),
    "alexnet": classifier("alexnet", train=False, batch=1),
    "squeezenet1_1": classifier("squeezenet1_1"),
    "densenet121": classifier("densenet121", train=False),
    "googlenet": classifier("googlenet", train=False, init_weights=False, aux_logits=False),
    "inception_v3": classifier(
        "inception_v3", 96, train=False, init_weights=False, aux_logits=False
    ),
    "shufflenet_v2_x0_5": classifier("shufflenet_v2_x0_5"),
    "mobilenet_v2": classifier("mobilenet_v2", train=False),
    "mobilenet_v3_small": classifier("mobilenet_v3_small"),
    "mnasnet0_5": classifier("mnasnet0_5", train=False),
    "efficientnet_b0": classifier("efficientnet_b0", train=False),
    "regnet_y_400mf": classifier("regnet_y_400mf", train=False),
    "resnext50_32x4d": classifier("resnext50_32x4d", train=False),
    "vision_transformer": vit,
    "swin_transformer": lambda: swin(1),
    "swin_transformer_v2": lambda: swin(2),
    "convnext": convnext_small,
    "fcn_resnet50": segmentation("fcn_resnet50"),
    "deeplabv3_mobilenet_v3_large": segmentation("deeplabv3_mobilenet_v3_large"),
    "lraspp_mobilenet_v3_large": segmentation("lraspp_mobilenet_v3_large"),
    "transforms": transforms,
}
