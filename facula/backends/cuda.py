"""CUDA: settings that programs make; this build has no CUDA."""


def is_built() -> bool:
    """Say whether the build has CUDA."""
    return False


class _Matmul:
    """Settings of matrix products."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = False
    allow_bf16_reduced_precision_reduction = False


matmul = _Matmul()
