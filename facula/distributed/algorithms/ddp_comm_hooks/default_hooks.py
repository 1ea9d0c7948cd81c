"""What data parallelism sends: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "allreduce_hook bf16_compress_hook bf16_compress_wrapper fp16_compress_hook "
    "fp16_compress_wrapper",
    "",
    "process groups are not built",
)
