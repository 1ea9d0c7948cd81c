"""./dev build: configuring and compiling a preset."""

from __future__ import annotations

import os
import time
from pathlib import Path

from setup import setup
from shell import BUILD, PYTHON, ROOT, run, say

# The dev preset by itself compiles kernels for this machine only. All commands of ./dev build for
# every instruction set, so that none of them has to build anew what another one built.
OPTIONS = {"dev": ["-DFACULA_ISAS=avx2;avx512"]}


def configured_for_every_isa(cache: Path) -> bool:
    """Returns whether an existing build compiles the kernels for every instruction set."""
    return "FACULA_ISAS:STRING=avx2;avx512" in cache.read_text()


def configure(preset: str) -> Path:
    """Configures build/PRESET unless that is done; returns the folder."""
    folder = BUILD / preset
    cache = folder / "CMakeCache.txt"
    ready = (folder / "build.ninja").exists() and cache.exists()
    if not ready or (preset in OPTIONS and not configured_for_every_isa(cache)):
        python = f"-DPython_EXECUTABLE={PYTHON}"
        run("cmake", "--preset", preset, "--log-level=WARNING", python, *OPTIONS.get(preset, []))
    return folder


def compile_preset(preset: str) -> Path:
    """Builds a preset; returns its folder."""
    setup()
    folder = configure(preset)
    started = time.monotonic()
    say(f"building {folder.relative_to(ROOT)}")
    # As many jobs as processors: more would only make the ledger's times longer.
    run("cmake", "--build", folder, "--parallel", str(len(os.sched_getaffinity(0))))
    say(f"built in {time.monotonic() - started:.0f} s")
    return folder
