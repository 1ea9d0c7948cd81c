"""Apple's Metal: whether this build uses it."""

enabled = False


def is_available() -> bool:
    """Say whether the build has it."""
    return False


def is_built() -> bool:
    """Say whether the build has it."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Say that this is no macOS."""
    return False
