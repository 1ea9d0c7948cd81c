"""cuDNN: settings that programs make; this build has no CUDA."""

enabled = False
benchmark = False
deterministic = True
allow_tf32 = False


def is_available() -> bool:
    """Say whether the build has cuDNN."""
    return False


def version() -> None:
    """Give None: there is no cuDNN."""
