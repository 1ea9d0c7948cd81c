"""oneDNN: whether this build uses it."""

enabled = True


def is_available() -> bool:
    """Say whether the build has it."""
    return True
