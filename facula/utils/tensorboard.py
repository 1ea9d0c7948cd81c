"""Event files for TensorBoard: not built."""

from facula._absent import absent_class

SummaryWriter = absent_class(
    "facula.utils.tensorboard.SummaryWriter", "event files are not written"
)
