"""The digits that ship with the package."""

import pytest

import facula
from facula.datasets import digits


def test_parts():
    train, test, everything = digits("train"), digits("test"), digits()
    assert (len(train), len(test), len(everything)) == (1438, 359, 1797)
    images, labels = everything.tensors
    assert images.shape == (1797, 1, 8, 8) and images.dtype == facula.float32
    assert (images.min().item(), images.max().item()) == (0.0, 1.0)
    counts = [int((labels == d).sum()) for d in range(10)]
    assert counts == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert test[0][0].tolist() == images[4].tolist() and train[4][1].item() == labels[5].item()


def test_first_image():
    image, label = digits()[0]
    assert label.item() == 0
    assert (image[0, 0] * 16).tolist() == [0, 0, 5, 13, 9, 1, 0, 0]


def test_unknown_part():
    with pytest.raises(ValueError, match="expected split"):
        digits("validation")
