"""A text about the machine and the installation, for reports of faults."""

from __future__ import annotations

import platform
import sys

__all__ = ["get_pretty_env_info", "main"]


def get_pretty_env_info() -> str:
    """Return the versions of Facula and Python, and what the machine is."""
    import facula
    from facula import __config__

    return (
        f"{__config__.show()}"
        f"Python version: {sys.version}\n"
        f"OS: {platform.platform()}\n"
        f"Threads: {facula.get_num_threads()}\n"
    )


def main() -> None:
    """Print the text."""
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
