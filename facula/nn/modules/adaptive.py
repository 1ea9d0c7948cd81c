"""AdaptiveLogSoftmaxWithLoss: a softmax over many classes, the frequent ones in the head, the rare
ones in tails.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import facula
from facula.nn import functional as F
from facula.nn.modules.container import ModuleList, Sequential
from facula.nn.modules.linear import Linear
from facula.nn.modules.module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

Tensor = facula.Tensor

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """The adaptive softmax of Grave et al. (2017) over `n_classes` classes, sorted by falling
    frequency.

    `cutoffs` are the first classes of the tails; tail i works with `in_features / div_value ** (i +
    1)` features.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        factory = {"device": device, "dtype": dtype}
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(cutoffs)
            or min(cutoffs) <= 0
            or max(cutoffs) > n_classes - 1
            or len(set(cutoffs)) != len(cutoffs)
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
                "order, where each value is "
                "between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **factory)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // (div_value ** (i + 1)))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, **factory),
                    Linear(hidden, size, bias=False, **factory),
                )
            )

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        if target_.dim() == 1:
            if input_.size(0) != target_.size(0):
                raise RuntimeError(
                    "Input and target should have the same size in the batch dimension."
                )
            if input_.dim() != 2:
                raise RuntimeError(
                    "1D target tensor expects 2D input tensors, but found inputs with size "
                    f"{input_.size()}"
                )
        elif target_.dim() == 0:
            if input_.dim() != 1:
                raise RuntimeError(
                    "0D target tensor expects 1D input tensors, but found inputs with size "
                    f"{input_.size()}"
                )
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        batched = target_.dim() > 0
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        used_rows = 0
        places = facula.arange(target.size(0), device=target.device)
        output = facula.zeros(target.size(0), dtype=input.dtype, device=input.device)
        head_index = facula.zeros_like(target)
        for i, (low, high) in enumerate(zip([0, *self.cutoffs], self.cutoffs, strict=False)):
            rows = places[(target >= low) & (target < high)]
            if rows.numel() == 0:
                continue
            used_rows += rows.numel()
            if i == 0:
                head_index = head_index.index_copy(0, rows, target[rows])
                continue
            log_prob = F.log_softmax(self.tail[i - 1](input.index_select(0, rows)), dim=1)
            head_index = head_index.index_fill(0, rows, self.shortlist_size + i - 1)
            local = log_prob.gather(1, (target[rows] - low).unsqueeze(1))
            output = output.index_copy(0, rows, local.squeeze(1))
        if used_rows != target.size(0):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, "
                f"{target.max().item()}] were found. "
            )
        head_log_prob = F.log_softmax(self.head(input), dim=1)
        output = output + head_log_prob.gather(1, head_index.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, module in enumerate(self.tail):
            at = self.shortlist_size + i
            parts.append(F.log_softmax(module(input), dim=1) + head[:, at : at + 1])
        return facula.cat(parts, dim=1)

    def log_prob(self, input: Tensor) -> Tensor:
        """Give the log probabilities of all classes, (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """Give the most probable class of each row."""
        head_output = self.head(input)
        output = head_output.argmax(dim=1)
        rare = output >= self.shortlist_size
        if not rare.any():
            return output
        if rare.all():
            return self._get_full_log_prob(input, head_output).argmax(dim=1)
        log_prob = self._get_full_log_prob(input[rare], head_output[rare])
        output[rare] = log_prob.argmax(dim=1)
        return output
