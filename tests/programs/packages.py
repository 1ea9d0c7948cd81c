"""The packages that programs need, installed into build/programs without their dependencies.

PyTorch is never among them: Facula answers in its place.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
REQUIREMENTS = os.path.join(HERE, "requirements.txt")


@functools.cache
def site_packages() -> tuple[str | None, str]:
    """Return the folder with the packages, or None and the reason why it could not be made.

    `FACULA_PROGRAMS_SITE` names a folder that has them already.
    """
    given = os.environ.get("FACULA_PROGRAMS_SITE")
    if given:
        return given, ""
    folder = os.path.join(ROOT, "build", "programs", f"site-{sys.version_info.minor}")
    stamp = os.path.join(folder, "facula-stamp.txt")
    with open(REQUIREMENTS, "rb") as file:
        state = hashlib.sha256(file.read()).hexdigest()
    if os.path.exists(stamp):
        with open(stamp) as file:
            if file.read() == state:
                return folder, ""
        shutil.rmtree(folder)
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    command += ["--no-deps", "--no-compile", "--only-binary", ":all:"]
    command += ["--target", folder, "-r", REQUIREMENTS]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        shutil.rmtree(folder, ignore_errors=True)
        lines = done.stderr.strip().splitlines() or ["pip failed"]
        return None, f"the packages could not be installed: {lines[-1]}"
    with open(stamp, "w") as file:
        file.write(state)
    return folder, ""
