"""Memory of long training: nothing is kept from one step to the next."""

import subprocess
import sys

import pytest

TRAINING = """
import sys
from facula import nn, optim, randperm
from facula.datasets import digits
from facula.nn import functional as F

steps, mark = map(int, sys.argv[1:])
model = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
    nn.MaxPool2d(2), nn.Flatten(), nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10),
)
optimizer = optim.Adam(model.parameters(), lr=1e-3)
images, labels = digits("train").tensors

def resident():
    status = open("/proc/self/status").read()
    return int(status.split("VmRSS:")[1].split()[0])

done = 0
while done < steps:
    for batch in randperm(len(images)).split(32):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        loss.item()
        done += 1
        if done == mark:
            start = resident()
        if done == steps:
            break
print(resident() - start)
"""


def growth(steps: int, mark: int) -> int:
    """KiB of resident memory that training gains between step `mark` and step `steps`."""
    command = [sys.executable, "-c", TRAINING, str(steps), str(mark)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.costs
def test_short_training():
    assert growth(600, 200) <= 1024


@pytest.mark.costs
@pytest.mark.full
def test_long_training():
    assert growth(10_000, 1_000) <= 1024
