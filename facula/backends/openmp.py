"""OpenMP: whether this build uses it."""

enabled = False


def is_available() -> bool:
    """Say whether the build has it."""
    return False
