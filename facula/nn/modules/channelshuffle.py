"""ChannelShuffle: deals the channels of groups out one by one."""

from __future__ import annotations

import facula
from facula.nn import functional as F
from facula.nn.modules.module import Module

__all__ = ["ChannelShuffle"]

Tensor = facula.Tensor


class ChannelShuffle(Module):
    """Deal the channels of `groups` groups out one by one."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
