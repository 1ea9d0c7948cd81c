"""Models in stages on several devices: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "pipe_split pipeline",
    "Pipe PipelineStage Schedule1F1B ScheduleGPipe SplitPoint",
    "process groups are not built",
)
