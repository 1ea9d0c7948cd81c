"""Event files for TensorBoard: not built."""

from facula.utils.tensorboard.writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]
