"""./dev setup: system packages and the tools in .venv."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from shell import PYTHON, ROOT, VENV, run, say

REQUIREMENTS = ROOT / "tools" / "requirements.txt"


def cmake_version() -> tuple[int, int]:
    """Returns the installed CMake's version, (0, 0) without one."""
    if not (cmake := shutil.which("cmake")):
        return 0, 0
    text = subprocess.check_output([cmake, "--version"], text=True)
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def missing_system_packages() -> list[str]:
    """Returns the Debian packages without which nothing can be built or tested."""
    missing = []
    compiler = os.environ.get("CXX", "g++")
    if not shutil.which(compiler):
        missing.append("g++")
    if cmake_version() < (3, 25):
        missing.append("cmake")
    if not any(Path(p, "gtest/gtest.h").exists() for p in ("/usr/include", "/usr/local/include")):
        missing.append("libgtest-dev")
    return missing


def install_system_packages() -> None:
    """Installs missing system packages where this is allowed, or says which they are."""
    missing = missing_system_packages()
    if not missing:
        return
    command = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        sys.exit(f"./dev: missing on this system: {' '.join(missing)}\n"
                 f"       on Debian or Ubuntu: sudo {' '.join(command)}")
    say(f"installing {' '.join(missing)} with apt-get")
    quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    subprocess.run(["apt-get", "update", "-qq"], env=quiet)
    if subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit(f"./dev: apt-get could not install {' '.join(missing)}")


def setup() -> None:
    """Makes .venv with the pinned tools unless it is there and up to date."""
    install_system_packages()
    stamp = VENV / "facula-stamp.txt"
    state = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == state:
        return
    if not PYTHON.exists():
        say(f"making {VENV.name} with Python {sys.version.split()[0]}")
        if subprocess.run([sys.executable, "-m", "venv", str(VENV)]).returncode != 0:
            sys.exit("./dev: python3 -m venv failed; on Debian: apt-get install python3-venv")
    say(f"installing {REQUIREMENTS.relative_to(ROOT)} into {VENV.name}")
    pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    run(*pip, "install", "-r", REQUIREMENTS)
    stamp.write_text(state)
