"""What makes the entries of event files: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "hparams scalar tensor_proto histogram_raw histogram image image_boxes video audio text "
    "pr_curve pr_curve_raw custom_scalars mesh make_image make_video make_histogram",
    why="event files are not written",
)
