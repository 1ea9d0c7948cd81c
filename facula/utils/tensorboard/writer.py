"""What writes event files: not built."""

from facula._absent import absent_class

_WHY = "event files are not written"
SummaryWriter = absent_class("facula.utils.tensorboard.writer.SummaryWriter", _WHY)
FileWriter = absent_class("facula.utils.tensorboard.writer.FileWriter", _WHY)
