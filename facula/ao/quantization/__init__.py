"""Quantisation: not built. The stubs that mark where a model would change type are the identity."""

from facula import _absent
from facula._submodules import lazy_submodules
from facula.ao.quantization.stubs import DeQuantStub, QuantStub, QuantWrapper

_absent.add_absent(
    globals(),
    "convert convert_fx convert_pt2e default_dynamic_qconfig default_eval_fn fuse_fx "
    "fuse_modules fuse_modules_qat get_default_qat_qconfig get_default_qat_qconfig_mapping "
    "get_default_qconfig get_default_qconfig_mapping prepare prepare_fx prepare_pt2e "
    "prepare_qat prepare_qat_fx prepare_qat_pt2e propagate_qconfig_ quantize quantize_dynamic "
    "quantize_qat swap_module",
    "FakeQuantize FakeQuantizeBase FixedQParamsFakeQuantize FusedMovingAvgObsFakeQuantize "
    "HistogramObserver MinMaxObserver MovingAverageMinMaxObserver "
    "MovingAveragePerChannelMinMaxObserver NoopObserver ObserverBase PerChannelMinMaxObserver "
    "PlaceholderObserver QConfig QConfigMapping RecordingObserver",
    "models are not quantised",
)

__getattr__ = lazy_submodules(__name__, "fake_quantize observer qconfig quantize_fx")
