"""Optimisers, learning-rate schedulers and weight averaging, named as PyTorch names them."""

from facula._naming import at_home
from facula.optim import lr_scheduler, swa_utils
from facula.optim.adadelta import Adadelta
from facula.optim.adafactor import Adafactor
from facula.optim.adagrad import Adagrad
from facula.optim.adam import Adam
from facula.optim.adamax import Adamax
from facula.optim.adamw import AdamW
from facula.optim.asgd import ASGD
from facula.optim.lbfgs import LBFGS
from facula.optim.muon import Muon
from facula.optim.nadam import NAdam
from facula.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from facula.optim.radam import RAdam
from facula.optim.rmsprop import RMSprop
from facula.optim.rprop import Rprop
from facula.optim.sgd import SGD
from facula.optim.sparse_adam import SparseAdam

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "swa_utils",
]

at_home(__name__, Adafactor, Muon)  # the others are classes of their own files in PyTorch too
