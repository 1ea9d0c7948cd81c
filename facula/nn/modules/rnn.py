"""Recurrent layers: RNN, LSTM, GRU, whole sequences in one operator call, and their cells."""

from __future__ import annotations

import math
import numbers
import warnings
from typing import Any

import facula
from facula._C import _nn
from facula.nn import init
from facula.nn.modules.module import Module
from facula.nn.parameter import Parameter

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

Tensor = facula.Tensor

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """Deprecated: `tensor.index_select(dim, permutation)`."""
    return tensor.index_select(dim, permutation)


def _casts(input: Tensor) -> bool:
    return facula.is_autocast_enabled(input.device.type)


def _autocast_dtype(input: Tensor) -> Any:
    return facula.get_autocast_dtype(input.device.type)


def _cast(values: Any, dtype: Any) -> Any:
    """Bring tensors inside lists and tuples to one dtype, as autocast does where they differ."""
    if isinstance(values, (tuple, list)):
        return type(values)(_cast(v, dtype) for v in values)
    return values.to(dtype) if isinstance(values, Tensor) else values


class RNNBase(Module):
    """What RNN, LSTM and GRU share: options, weights, checks. `mode` is LSTM, GRU, RNN_TANH or
    RNN_RELU.

    Weights of layer k: `weight_ih_l{k}`, `weight_hh_l{k}`, `bias_ih_l{k}`, `bias_hh_l{k}`, with
    projections `weight_hr_l{k}`; those of the backward direction end in `_reverse`.
    """

    mode: str

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout) if isinstance(dropout, numbers.Number) else dropout
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_options(dropout)
        self._flat_weights_names: list[str] = []
        self._all_weights: list[list[str]] = []
        gate_size = _GATES[mode] * hidden_size
        for layer in range(num_layers):
            for suffix in ("", "_reverse") if bidirectional else ("",):
                out_size = proj_size if proj_size > 0 else hidden_size
                in_size = input_size if layer == 0 else out_size * (2 if bidirectional else 1)
                shapes = {"weight_ih": (gate_size, in_size), "weight_hh": (gate_size, out_size)}
                if bias:
                    shapes.update(bias_ih=(gate_size,), bias_hh=(gate_size,))
                if proj_size > 0:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                names = [f"{kind}_l{layer}{suffix}" for kind in shapes]
                for name, shape in zip(names, shapes.values(), strict=False):
                    setattr(self, name, Parameter(facula.empty(shape, device=device, dtype=dtype)))
                self._flat_weights_names.extend(names)
                self._all_weights.append(names)
        self.reset_parameters()

    def _check_options(self, dropout: Any) -> None:
        if (
            not isinstance(dropout, numbers.Number)
            or not 0 <= dropout <= 1
            or isinstance(dropout, bool)
        ):
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an "
                "element being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero "
                "dropout expects num_layers greater "
                f"than 1, but got dropout={dropout} and num_layers={self.num_layers}",
                stacklevel=4,
            )
        for name in ("bias", "batch_first"):
            flag = getattr(self, name)
            if not isinstance(flag, bool):
                raise TypeError(f"{name} should be of type bool, got: {type(flag).__name__}")
        for name in ("input_size", "hidden_size"):
            size = getattr(self, name)
            if not isinstance(size, int):
                raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
            if size <= 0:
                raise ValueError(f"{name} must be greater than zero, got {size}")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + self.mode)

    @property
    def _flat_weights(self) -> list[Tensor]:
        return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights, one list a layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Does nothing: the weights need no special layout."""

    def reset_parameters(self) -> None:
        """Draw all weights from U(-1/sqrt(hidden_size), 1/sqrt(hidden_size))."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Check rank, size and dtype of the input."""
        weight = self.weight_ih_l0
        if input.dtype != weight.dtype and not _casts(input):
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                "Convert input: "
                f"input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{input.size(-1)}"
            )

    def get_expected_hidden_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """Give the shape that a hidden state must have for this input."""
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.size(0) if self.batch_first else input.size(1)
        directions = 2 if self.bidirectional else 1
        size = self.proj_size if self.proj_size > 0 else self.hidden_size
        return self.num_layers * directions, batch, size

    def check_hidden_size(
        self,
        hx: Tensor,
        expected: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Check the shape of a hidden state."""
        if tuple(hx.size()) != expected:
            raise RuntimeError(msg.format(expected, list(hx.size())))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Check input and hidden state together."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Reorder a hidden state over the batch."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def extra_repr(self) -> str:
        s = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            s += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            s += f", num_layers={self.num_layers}"
        if self.bias is not True:
            s += f", bias={self.bias}"
        if self.batch_first is not False:
            s += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            s += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            s += f", bidirectional={self.bidirectional}"
        return s

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("proj_size", 0)
        self.__dict__.pop("_flat_weights", None)

    # ---- the call: packed or padded, batched or not

    def _zero_hidden(self, input: Tensor, batch: int, size: int) -> Tensor:
        layers = self.num_layers * (2 if self.bidirectional else 1)
        return facula.zeros(layers, batch, size, dtype=input.dtype, device=input.device)

    def _initial(self, input: Tensor, batch: int) -> Any:
        return self._zero_hidden(input, batch, self.hidden_size)

    def _check_rank(self, hx: Any, batched: bool) -> None:
        if hx is not None and hx.dim() != (3 if batched else 2):
            kind, rank = ("batched 3-D", 3) if batched else ("unbatched 2-D", 2)
            raise RuntimeError(
                f"For {kind} input, hx should also be {rank}-D but got {hx.dim()}-D tensor"
            )

    def _unsqueeze(self, hx: Any) -> Any:
        return None if hx is None else hx.unsqueeze(1)

    def _squeeze(self, hx: Any) -> Any:
        return hx.squeeze(1)

    def _operator(self, input: Tensor, hx: Any, batch_sizes: Tensor | None) -> tuple[Tensor, Any]:
        name = self.mode.lower()
        weights = self._flat_weights
        if input.dtype != weights[0].dtype:
            input, hx, weights = _cast((input, hx, weights), _autocast_dtype(input))
        options = (
            weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
        )
        if batch_sizes is None:
            return getattr(_nn, name)(input, hx, *options, self.batch_first)
        return getattr(_nn, name + "_packed")(input, batch_sizes, hx, *options)

    def _run(self, input: Tensor, hx: Any, batch_sizes: Tensor | None) -> tuple[Tensor, Any]:
        result = self._operator(input, hx, batch_sizes)
        return result[0], result[1]

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """Run over a whole sequence: (L, N, input_size), batch first with `batch_first`, (L,
        input_size), or packed.
        """
        from facula.nn.utils.rnn import PackedSequence

        if isinstance(input, PackedSequence):
            data, batch_sizes, sorted_indices, unsorted_indices = input
            batch = int(batch_sizes[0])
            hx = (
                self._initial(data, batch)
                if hx is None
                else self.permute_hidden(hx, sorted_indices)
            )
            self.check_forward_args(data, hx, batch_sizes)
            output, hidden = self._run(data, hx, batch_sizes)
            packed = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
            return packed, self.permute_hidden(hidden, unsorted_indices)
        if input.dim() not in (2, 3):
            raise ValueError(
                f"{self._class_name()}: Expected input to be 2D or 3D, got {input.dim()}D instead"
            )
        batched = input.dim() == 3
        self._check_rank(hx, batched)
        batch_dim = 0 if self.batch_first else 1
        if not batched:
            input, hx = input.unsqueeze(batch_dim), self._unsqueeze(hx)
        if hx is None:
            hx = self._initial(input, input.size(batch_dim))
        self.check_forward_args(input, hx, None)
        output, hidden = self._run(input, hx, None)
        if not batched:
            output, hidden = output.squeeze(batch_dim), self._squeeze(hidden)
        return output, hidden

    def _class_name(self) -> str:
        return "RNN" if self.mode.startswith("RNN") else self.mode


class RNN(RNNBase):
    """The Elman network `h = tanh(w_ih x + b_ih + w_hh h + b_hh)`, or with relu; layers stacked."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            self.nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__("RNN_" + self.nonlinearity.upper(), *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units (Cho et al., 2014); layers stacked. Gates in the order r, z, n."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997); layers stacked. Gates in the order
    i, f, g, o.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """Give the shape that a cell state must have for this input."""
        layers, batch, _ = self.get_expected_hidden_size(input, batch_sizes)
        return layers, batch, self.hidden_size

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Check input, hidden and cell state together."""
        self.check_input(input, batch_sizes)
        expected = self.get_expected_hidden_size(input, batch_sizes)
        self.check_hidden_size(hidden[0], expected, "Expected hidden[0] size {}, got {}")
        expected = self.get_expected_cell_size(input, batch_sizes)
        self.check_hidden_size(hidden[1], expected, "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Reorder hidden and cell state over the batch."""
        return hx if permutation is None else tuple(h.index_select(1, permutation) for h in hx)

    def _initial(self, input: Tensor, batch: int) -> Any:
        size = self.proj_size if self.proj_size > 0 else self.hidden_size
        return self._zero_hidden(input, batch, size), self._zero_hidden(
            input, batch, self.hidden_size
        )

    def _check_rank(self, hx: Any, batched: bool) -> None:
        if hx is not None and any(h.dim() != (3 if batched else 2) for h in hx):
            kind, rank = ("batched 3-D", 3) if batched else ("unbatched 2-D", 2)
            raise RuntimeError(
                f"For {kind} input, hx and cx should also be {rank}-D but got ({hx[0].dim()}-D, "
                f"{hx[1].dim()}-D) tensors"
            )

    def _unsqueeze(self, hx: Any) -> Any:
        return None if hx is None else tuple(h.unsqueeze(1) for h in hx)

    def _squeeze(self, hx: Any) -> Any:
        return tuple(h.squeeze(1) for h in hx)

    def _run(self, input: Tensor, hx: Any, batch_sizes: Tensor | None) -> tuple[Tensor, Any]:
        output, h, c = self._operator(input, hx, batch_sizes)
        return output, (h, c)


class RNNCellBase(Module):
    """What the cells share: one step's weights."""

    bias: bool

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        factory = {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(facula.empty((rows, input_size), **factory))
        self.weight_hh = Parameter(facula.empty((rows, hidden_size), **factory))
        self.register_parameter(
            "bias_ih", Parameter(facula.empty(rows, **factory)) if bias else None
        )
        self.register_parameter(
            "bias_hh", Parameter(facula.empty(rows, **factory)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights from U(-1/sqrt(hidden_size), 1/sqrt(hidden_size))."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        s = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            s += f", bias={self.bias}"
        if self.__dict__.get("nonlinearity", "tanh") != "tanh":
            s += f", nonlinearity={self.nonlinearity}"
        return s

    def _check_rank(self, what: str, t: Tensor) -> None:
        if t.dim() not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected {what} to be 1D or 2D, got {t.dim()}D instead"
            )

    def _step(self, operator: Any, input: Tensor, hx: Tensor | None) -> Tensor:
        self._check_rank("input", input)
        if hx is not None:
            self._check_rank("hidden", hx)
        batched = input.dim() == 2
        if not batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = facula.zeros(
                input.size(0), self.hidden_size, dtype=input.dtype, device=input.device
            )
        elif not batched:
            hx = hx.unsqueeze(0)
        operands = (input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if input.dtype != self.weight_ih.dtype and _casts(input):
            operands = _cast(operands, _autocast_dtype(input))
        out = operator(*operands)
        return out if batched else out.squeeze(0)


class RNNCell(RNNCellBase):
    """One step of the Elman network."""

    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(
            _nn.rnn_tanh_cell if self.nonlinearity == "tanh" else _nn.rnn_relu_cell, input, hx
        )


class LSTMCell(RNNCellBase):
    """One step of the LSTM; gives the new hidden and cell state."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        rank = input.dim()
        if rank != 2 and rank != 1:
            self._check_rank("input", input)
        if hx is None:
            size = (input.size(0), self.hidden_size) if rank == 2 else (1, self.hidden_size)
            zeros = facula.zeros(size, dtype=input.dtype, device=input.device)
            hx = (zeros, zeros)
        else:
            for i in (0, 1):
                if hx[i].dim() not in (1, 2):
                    self._check_rank(f"hx[{i}]", hx[i])
            if rank == 1:
                hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        rows = input if rank == 2 else input.unsqueeze(0)
        operands = (rows, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if input.dtype != self.weight_ih.dtype and _casts(input):
            operands = _cast(operands, _autocast_dtype(input))
        h, c = _nn.lstm_cell(*operands)
        return (h, c) if rank == 2 else (h.squeeze(0), c.squeeze(0))


class GRUCell(RNNCellBase):
    """One step of the GRU."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(_nn.gru_cell, input, hx)
