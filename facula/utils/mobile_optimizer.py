"""Programs for phones: not built."""

from facula._absent import absent_function

optimize_for_mobile = absent_function(
    "facula.utils.mobile_optimizer.optimize_for_mobile", "TorchScript programs are not made"
)
