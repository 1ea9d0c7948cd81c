"""Models by name from a folder of sources, and files from the network into a cache.

`load` reads `hubconf.py` of a local folder. Sources of repositories on GitHub are not fetched.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import urllib.request
import zipfile
from typing import Any
from urllib.parse import urlparse

from facula import _absent

try:
    from tqdm import tqdm
except ImportError:

    class tqdm:  # type: ignore[no-redef]
        """Counts in silence; the package tqdm draws a bar."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self.n = 0

        def update(self, n: int = 1) -> None:
            """Count `n` more."""
            self.n += n

        def close(self) -> None:
            """Stop counting."""

        def __enter__(self) -> tqdm:
            return self

        def __exit__(self, *exc: Any) -> None:
            pass


__all__ = [
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
]

#: The part of a file's name that is the start of its SHA-256.
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
MODULE_HUBCONF = "hubconf.py"
ENV_TORCH_HOME, ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR = "TORCH_HOME", "XDG_CACHE_HOME", "~/.cache"
READ_DATA_CHUNK = 128 * 1024
_hub_dir: str | None = None


def _get_torch_home() -> str:
    """Return the folder for everything that is downloaded."""
    cache = os.getenv(ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR)
    return os.path.expanduser(os.getenv(ENV_TORCH_HOME, os.path.join(cache, "torch")))


def get_dir() -> str:
    """Return the folder for sources and weights: "hub" below `TORCH_HOME`, unless it was set."""
    return _hub_dir if _hub_dir is not None else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike) -> None:
    """Set the folder for sources and weights."""
    global _hub_dir
    _hub_dir = os.path.expanduser(os.fspath(d))


def _config_of(folder: str) -> Any:
    path = os.path.join(folder, MODULE_HUBCONF)
    if not os.path.isfile(path):
        raise FileNotFoundError(f"hub: {path} is not there")
    spec = importlib.util.spec_from_file_location(MODULE_HUBCONF, path)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)  # type: ignore[union-attr]
    finally:
        sys.path.remove(folder)
    wanted = getattr(module, "dependencies", None) or []
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _folder_of(repo_or_dir: str, source: str) -> str:
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(
            f'Unknown source: "{source}". Allowed values: "github" | "local".'
        )
    if source == "github":
        raise _absent.missing(
            "facula.hub with source='github'",
            "fetch the repository yourself and give its folder with source='local'",
        )
    return os.path.expanduser(repo_or_dir)


def list(github: str, force_reload: bool = False, *, source: str = "github", **_: Any) -> Any:
    """Return the names of the entry points of a folder's hubconf.py (`source="local"`)."""
    module = _config_of(_folder_of(github, source))
    return [k for k, v in vars(module).items() if callable(v) and not k.startswith("_")]


def help(
    github: str, model: str, force_reload: bool = False, *, source: str = "github", **_: Any
) -> Any:
    """Return the docstring of an entry point."""
    return _entry(_config_of(_folder_of(github, source)), model).__doc__


def _entry(module: Any, model: str) -> Any:
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    function = getattr(module, model, None)
    if not callable(function):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return function


def load(
    repo_or_dir: str,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = None,
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """Call an entry point of a folder's hubconf.py with the arguments and return the result."""
    return _entry(_config_of(_folder_of(repo_or_dir, source)), model)(*args, **kwargs)


def download_url_to_file(
    url: str, dst: str, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Write what a URL gives to a file, which appears only when it is complete.

    `hash_prefix` must be the start of its SHA-256; RuntimeError otherwise.
    """
    target = os.path.expanduser(dst)
    request = urllib.request.Request(url, headers={"User-Agent": "facula.hub"})
    digest = hashlib.sha256()
    with urllib.request.urlopen(request) as answer:
        length = answer.headers.get("Content-Length")
        descriptor, partial = tempfile.mkstemp(dir=os.path.dirname(target) or ".")
        try:
            with os.fdopen(descriptor, "wb") as file:
                total = int(length) if length else None
                bar = tqdm(total=total, disable=not progress, unit="B", unit_scale=True)
                with bar:
                    while chunk := answer.read(READ_DATA_CHUNK):
                        file.write(chunk)
                        digest.update(chunk)
                        bar.update(len(chunk))
            found = digest.hexdigest()
            if hash_prefix is not None and not found.startswith(hash_prefix):
                raise RuntimeError(
                    f'invalid hash value (expected "{hash_prefix}", got "{found}")'
                )
            shutil.move(partial, target)
        finally:
            if os.path.exists(partial):
                os.remove(partial)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """Load a checkpoint from a URL, or from the cache when it has been fetched before.

    With `check_hash` the file's name holds the start of its SHA-256, as in "net-0123abcd.pt".
    """
    import facula

    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(folder, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        sys.stderr.write(f'Downloading: "{url}" to {path}\n')
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, found.group(1) if found else None, progress)
    if zipfile.is_zipfile(path) and not _is_checkpoint(path):
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
            if len(members) != 1:
                raise RuntimeError("Only one file(not dir) is allowed in the zipfile")
            archive.extractall(folder)
            path = os.path.join(folder, members[0])
    return facula.load(path, map_location=map_location)


def _is_checkpoint(path: str) -> bool:
    with zipfile.ZipFile(path) as archive:
        return any(name.partition("/")[2] == "data.pkl" for name in archive.namelist())
