"""Quantisation (`observer`): not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "default_dynamic_qconfig default_qconfig default_observer",
    "MinMaxObserver MovingAverageMinMaxObserver HistogramObserver PerChannelMinMaxObserver "
    "ObserverBase PlaceholderObserver",
    "models are not quantised",
)
