"""./dev build: configuring and compiling a preset."""

from __future__ import annotations

import time
from pathlib import Path

from setup import setup
from shell import BUILD, PYTHON, ROOT, run, say


def configure(preset: str, *options: str) -> Path:
    """Configures build/PRESET if it is new or options are given; returns the folder."""
    folder = BUILD / preset
    if options or not (folder / "build.ninja").exists():
        run("cmake", "--preset", preset, "--log-level=WARNING", f"-DPython_EXECUTABLE={PYTHON}",
            *options)
    return folder


def compile_preset(preset: str, *options: str) -> Path:
    """Builds a preset; returns its folder."""
    setup()
    folder = configure(preset, *options)
    started = time.monotonic()
    say(f"building {folder.relative_to(ROOT)}")
    run("cmake", "--build", folder)
    say(f"built in {time.monotonic() - started:.0f} s")
    return folder
