"""Pictures: filters, colours, warps, losses and features of kornia, similarity by pytorch-msssim,
and attention in linear time with layers that are undone on the way back (linformer).
"""

import kornia as K
import pytorch_msssim
import torch
from common import array, digest, fill, integers, trained
from linformer import LinformerLM

ONE, TWO = (torch.sigmoid(array(name, 2, 3, 16, 20)) for name in ("one", "two"))
ANGLE = torch.tensor([20.0, -35.0])


def both_ways(functions):
    """Results of functions of a picture and its gradients."""

    def run():
        found = {}
        for name, function in functions.items():
            x = ONE.clone().requires_grad_()
            out = function(x)
            found[name] = {"output": digest(out)}
            if out.requires_grad:
                (out * array(name, *out.shape)).mean().backward()
                found[name]["gradient"] = digest(x.grad)
        return found

    return run


def warped(x):
    centre = torch.tensor([[8.0, 8.0], [9.0, 7.0]])
    matrix = K.geometry.get_rotation_matrix2d(centre, ANGLE, torch.ones(2, 2))
    return K.geometry.warp_affine(x, matrix, (12, 14), padding_mode="reflection")


def spline(x):
    source, kernel = array("source", 2, 5, 2) * 0.3, array("kernel", 2, 5, 2) * 0.3
    return K.geometry.warp_image_tps(x, source, *K.geometry.get_tps_transform(source, kernel))


def edges(x):
    return K.filters.canny(x)[0]


def harris(x):
    return K.feature.harris_response(x)


def quality(x):
    return K.enhance.jpeg_codec_differentiable(x, torch.tensor([50.0, 80.0]))


FILTERS = {
    "bilateral": lambda x: K.filters.bilateral_blur(x, 3, 0.1, (1.0, 1.0)),
    "median": lambda x: K.filters.median_blur(x, 3),
    "motion": lambda x: K.filters.motion_blur(x, 5, 35.0, 0.5),
    "guided": lambda x: K.filters.guided_blur(x, x, 3, 0.1),
    "canny": edges,
    "otsu": lambda x: K.filters.otsu_threshold(x)[0],
    "closing": lambda x: K.morphology.closing(x, torch.ones(3, 3)),
}
COLOURS = {
    "lab": K.color.rgb_to_lab,
    "hls": K.color.rgb_to_hls,
    "raw": lambda x: K.color.raw_to_rgb(x[:, :1], K.color.CFA.BG),
    "clahe": lambda x: K.enhance.equalize_clahe(x, grid_size=(2, 2)),
    "equalize": K.enhance.equalize,
    "jpeg": quality,
}
WARPS = {
    "rotate": lambda x: K.geometry.rotate(x, ANGLE),
    "affine": warped,
    "spline": spline,
    "pyramid": lambda x: K.geometry.pyrup(K.geometry.pyrdown(x)),
    "harris": harris,
}


def losses():
    labels = integers("labels", 3, 2, 16, 20)
    functions = {
        "lovasz": lambda x: K.losses.lovasz_softmax_loss(x, labels),
        "hausdorff": lambda x: K.losses.HausdorffERLoss(k=2)(x, labels[:, None]),
        "tversky": lambda x: K.losses.tversky_loss(x, labels, 0.3, 0.7),
        "information": lambda x: K.losses.mutual_information_loss(x, TWO).mean(),
        "ssim": lambda x: pytorch_msssim.ssim(x, TWO, data_range=1.0, win_size=7),
    }
    return both_ways(functions)()


def poses():
    a, b = array("a", 2, 9, 2), array("b", 2, 9, 2)
    v = array("v", 4, 3)
    fundamental = K.geometry.find_fundamental(a, b, torch.ones(2, 9))
    rotation = K.geometry.So3.exp(v)
    return {
        "fundamental": digest(fundamental / fundamental[:, 2:, 2:]),
        "homography": digest(K.geometry.find_homography_dlt(a, b)),
        "logarithm": digest(rotation.log()),
        "quaternion": digest(K.geometry.rotation_matrix_to_quaternion(rotation.matrix()).abs()),
        "augmented": digest(augmented()),
    }


def augmented():
    torch.manual_seed(1)
    steps = K.augmentation.AugmentationSequential(
        K.augmentation.RandomAffine(30.0, p=1.0), K.augmentation.ColorJiggle(0.1, 0.1, 0.1, p=1.0),
        data_keys=["input", "keypoints"],
    )  # fmt: skip
    return list(steps(ONE, array("points", 2, 5, 2) * 4 + 8))


def linear_attention():
    model = fill(
        LinformerLM(num_tokens=20, dim=32, seq_len=16, depth=2, k=4, heads=4, reversible=True)
    )
    return trained(model, lambda: model(integers("ids", 20, 2, 16)))


PROGRAMS = {
    "filters": both_ways(FILTERS),
    "colours": both_ways(COLOURS),
    "warps": both_ways(WARPS),
    "losses": losses,
    "poses": poses,
    "linformer": linear_attention,
}
