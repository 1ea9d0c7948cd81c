"""The UCI set of handwritten digits, 1,797 images of 8 x 8 pixels; see LICENSE.digits.txt."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import facula
from facula.utils.data import TensorDataset

__all__ = ["digits"]

_PIXELS = 64
_RECORD = _PIXELS + 1  # the pixels in row order, 0 to 16, then the label
_EVERY = 5  # of so many samples in file order, the last one is for testing


def digits(split: Literal["train", "test", "all"] = "all") -> TensorDataset:
    """Return images and labels of the handwritten digits as a dataset.

    Images are float32 of shape `(n, 1, 8, 8)` from 0 to 1, labels int64 of shape `(n,)`, under
    `.tensors`. The test part is every fifth sample of the file (359), the training part the
    rest (1,438).
    """
    if split not in ("train", "test", "all"):
        raise ValueError(f"digits: expected split 'train', 'test' or 'all', got {split!r}")
    data = Path(__file__).with_name("digits.bin").read_bytes()
    records = facula.frombuffer(bytearray(data), dtype=facula.uint8).reshape(-1, _RECORD)
    if split != "all":
        last = facula.arange(len(records)) % _EVERY == _EVERY - 1
        records = records[last if split == "test" else ~last]
    images = records[:, :_PIXELS].reshape(-1, 1, 8, 8).to(facula.float32) / 16
    return TensorDataset(images, records[:, _PIXELS].to(facula.int64))
