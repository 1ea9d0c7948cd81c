"""Sequences of different lengths: padding them to one tensor, and packing them without padding."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import facula

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
    "pad_packed_sequence", "pad_sequence",
    "unpack_sequence", "unpad_sequence",
]  # fmt: skip

Tensor = facula.Tensor

_Fields = namedtuple(
    "PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"]
)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Give the permutation that undoes `permutation`."""
    if permutation is None:
        return None
    out = facula.empty_like(permutation)
    n = permutation.numel()
    return out.scatter_(0, permutation, facula.arange(0, n, device=permutation.device))


class PackedSequence(_Fields):
    """Sequences packed without padding: all first steps, then all second steps, ...

    `data` is (total, *); `batch_sizes` (int64, on the CPU) says how many sequences are still
    running at each step; the two permutations lead to sorted order and back, None if the sequences
    were sorted.
    """

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
                "created manually. They should "
                "be instantiated by functions like pack_sequence and pack_padded_sequences in "
                "nn.utils.rnn."
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Move or cast the data, as `Tensor.to` does."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        moved = [
            None if t is None else t.to(data.device)
            for t in (self.sorted_indices, self.unsorted_indices)
        ]
        return type(self)(data, self.batch_sizes, *moved)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Move to a GPU."""
        return self.to("cuda" if not args else args[0], **kwargs)

    def cpu(self) -> PackedSequence:
        """Move to the CPU."""
        return self.to("cpu")

    def double(self) -> PackedSequence:
        """Cast the data to float64."""
        return self.to(dtype=facula.float64)

    def float(self) -> PackedSequence:
        """Cast the data to float32."""
        return self.to(dtype=facula.float32)

    def half(self) -> PackedSequence:
        """Cast the data to float16."""
        return self.to(dtype=facula.float16)

    def long(self) -> PackedSequence:
        """Cast the data to int64."""
        return self.to(dtype=facula.int64)

    def int(self) -> PackedSequence:
        """Cast the data to int32."""
        return self.to(dtype=facula.int32)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a GPU."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Whether the data is in pinned memory."""
        return self.data.is_pinned()

    def pin_memory(self) -> PackedSequence:
        """Copy the data into pinned memory."""
        pinned = [
            None if t is None else t.pin_memory()
            for t in (self.sorted_indices, self.unsorted_indices)
        ]
        return type(self)(self.data.pin_memory(), self.batch_sizes, *pinned)


def _runs(batch_sizes: list[int]) -> list[tuple[int, int]]:
    """Group equal neighbours: (number of steps, batch size) each."""
    runs: list[list[int]] = []
    for size in batch_sizes:
        if runs and runs[-1][1] == size:
            runs[-1][0] += 1
        else:
            runs.append([1, size])
    return [(steps, size) for steps, size in runs]


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack the first `lengths[i]` steps of each sequence of (T, B, *), or (B, T, *) with
    `batch_first`.

    The lengths must fall unless `enforce_sorted` is False; then the sequences are sorted first.
    """
    lengths = facula.as_tensor(lengths, dtype=facula.int64, device="cpu")
    if enforce_sorted:
        sorted_indices = None
    else:
        lengths, sorted_indices = facula.sort(lengths, descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    sizes = lengths.tolist()
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if batch_first:
        input = input.transpose(0, 1)
    if lengths.dim() != 1 or len(sizes) != input.size(1):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} "
            f"(batch_size={input.size(1)})"
        )
    if sizes[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if any(a < b for a, b in zip(sizes, sizes[1:], strict=False)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You "
            "can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
            "requirement if you do not need "
            "ONNX exportability."
        )
    if sizes[0] > input.size(0):
        raise RuntimeError(
            f"Expected all lengths to be at most {input.size(0)}, the size of the input, but got "
            f"{sizes[0]}"
        )
    rest = list(input.shape[2:])
    parts, batch_sizes, start = [], [], 0
    for alive in range(len(sizes), 0, -1):
        end = sizes[alive - 1]
        if end > start:
            parts.append(input[start:end, :alive].reshape([(end - start) * alive, *rest]))
            batch_sizes += [alive] * (end - start)
            start = end
    data = facula.cat(parts) if len(parts) > 1 else parts[0]
    return PackedSequence(
        data, facula.tensor(batch_sizes, dtype=facula.int64), sorted_indices, None
    )


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Undo the packing: gives the padded tensor (T, B, *), or (B, T, *), and the lengths."""
    batch_sizes = sequence.batch_sizes.tolist()
    longest, batch = len(batch_sizes), batch_sizes[0]
    if total_length is not None and total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but "
            "got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    data = sequence.data
    rest = list(data.shape[1:])
    parts, at = [], 0
    for steps, size in _runs(batch_sizes):
        part = data[at : at + steps * size].reshape([steps, size, *rest])
        if size < batch:
            filler = facula.full(
                [steps, batch - size, *rest], padding_value, dtype=data.dtype, device=data.device
            )
            part = facula.cat([part, filler], 1)
        parts.append(part)
        at += steps * size
    if total_length is not None and total_length > longest:
        shape = [total_length - longest, batch, *rest]
        parts.append(facula.full(shape, padding_value, dtype=data.dtype, device=data.device))
    padded = facula.cat(parts) if len(parts) > 1 else parts[0]
    if batch_first:
        padded = padded.transpose(0, 1)
    lengths = facula.tensor(
        [sum(1 for s in batch_sizes if s > i) for i in range(batch)], dtype=facula.int64
    )
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return padded, lengths


def pad_sequence(
    sequences: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stack sequences (L_i, *) into (T, B, *), or (B, T, *), filled up with `padding_value`."""
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not hasattr(sequences, "__iter__"):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    longest = max(s.size(0) for s in sequences)
    padded = []
    for s in sequences:
        missing = longest - s.size(0)
        if missing:
            filler = facula.full(
                [missing, *s.shape[1:]], padding_value, dtype=s.dtype, device=s.device
            )
            s = facula.cat([filler, s] if padding_side == "left" else [s, filler])
        padded.append(s)
    return facula.stack(padded, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """Undo `pad_sequence`."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [seq[: int(n)] for seq, n in zip(padded_sequences, lengths, strict=False)]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of sequences (L_i, *)."""
    lengths = facula.tensor([s.size(0) for s in sequences], dtype=facula.int64)
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Undo `pack_sequence`."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
