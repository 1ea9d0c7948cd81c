"""Quantisation (`fake_quantize`): not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "default_fake_quant",
    "FakeQuantize FakeQuantizeBase",
    "models are not quantised",
)
