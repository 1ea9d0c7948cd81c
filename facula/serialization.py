"""`save` and `load`: checkpoints in PyTorch's zip format, read and written as data only.

A file is a zip of stored (not compressed) records: `data.pkl` describes the object, `data/N` are
the little-endian bytes of storages. `_checkpoint.py` makes the pickle, `_restore.py` reads it.
`_checkpoint_stream.py` holds the format before PyTorch 1.6.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from typing import IO, Any

import facula
from facula import _checkpoint, _checkpoint_stream, _restore
from facula._alias import under_alias
from facula._bytes import CHUNK, bytes_of

__all__ = [
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "load",
    "safe_globals",
    "save",
]

_ALIGNMENT = 64  # of the storages' records, so that they can be mapped
_LOCAL_HEADER = 30
DEFAULT_PROTOCOL = 2
# What `map_location` and `f` may be, for annotations.
MAP_LOCATION = Callable[[Any, str], Any] | facula.device | str | dict[str, str] | None
FILE_LIKE = str | os.PathLike[str] | IO[bytes]


class SourceChangeWarning(Warning):
    """A warning of PyTorch's first file format, for filters; it is never given."""


# Names that files may use.


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let `load` use these classes and functions (or `(object, "module.name")` pairs)."""
    for entry in safe_globals:
        if isinstance(entry, tuple):
            obj, name = entry
        else:
            obj, name = entry, f"{entry.__module__}.{entry.__qualname__}"
        _restore.safe_globals[name] = obj


def get_safe_globals() -> list[Any]:
    """Return what `add_safe_globals` has been given."""
    return list(_restore.safe_globals.values())


def clear_safe_globals() -> None:
    """Forget all that `add_safe_globals` has been given."""
    _restore.safe_globals.clear()


class safe_globals:
    """A context in which `load` may use the given classes and functions."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self._added = safe_globals

    def __enter__(self) -> None:
        self._before = dict(_restore.safe_globals)
        add_safe_globals(self._added)

    def __exit__(self, *exc: Any) -> None:
        _restore.safe_globals.clear()
        _restore.safe_globals.update(self._before)


# Writing.


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write an object with its tensors to a path or a binary file.

    Tensors that overlap in memory still share it after loading; of larger storages only the part
    that is used is written. A path is replaced at once when all is written. Objects other than
    data are pickled too, but `load` refuses them until `add_safe_globals` names their class.
    With `_use_new_zipfile_serialization=False` the format is that of PyTorch before 1.6.
    """
    if pickle_module is not pickle:
        raise NotImplementedError("save: only Python's own pickle format is written")
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError(
            f"expected 'f' to be string, path, or a file-like object with a 'write' attribute, "
            f"got {type(f).__name__}"
        )
    stream = not _use_new_zipfile_serialization
    data, pieces, foreign = _checkpoint.pickle_of(obj, pickle_protocol, stream)
    if foreign and not under_alias():
        warnings.warn(
            f"save: {', '.join(foreign)} will be refused by load() until it is declared safe "
            + facula._C._package_words("with facula.serialization.add_safe_globals"),
            stacklevel=2,
        )
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        stem = os.path.basename(path)
        stem = (stem.decode() if isinstance(stem, bytes) else stem).rsplit(".", 1)[0]
        with _replacing(path) as file:
            if stream:
                _checkpoint_stream.write(file, data, pieces, pickle_protocol)
            else:
                _write(file, stem or "archive", data, pieces)
    elif stream:
        _checkpoint_stream.write(f, data, pieces, pickle_protocol)
    elif _at_start(f):
        _write(f, "archive", data, pieces)
    else:
        buffer = io.BytesIO()
        _write(buffer, "archive", data, pieces)
        f.write(buffer.getbuffer())
    if hasattr(f, "flush"):
        f.flush()


def _at_start(f: Any) -> bool:
    """Say whether a zip can be written straight into a file."""
    try:
        return f.seekable() and f.tell() == 0
    except (AttributeError, OSError):
        return False


@contextlib.contextmanager
def _replacing(path: Any) -> Iterator[IO[bytes]]:
    """Open a new file that takes the place of `path` when the block ends without an error."""
    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            yield file
        return
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {os.fsdecode(folder)} does not exist.")
    mode = os.stat(target).st_mode & 0o7777 if os.path.exists(target) else None
    descriptor, temporary = tempfile.mkstemp(
        dir=folder, prefix=type(target)(b".saving-" if isinstance(target, bytes) else ".saving-")
    )
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        if mode is None:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _write(file: Any, stem: str, data: bytes, pieces: list) -> None:
    digest = hashlib.sha1(data)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _record(archive, f"{stem}/data.pkl", data)
        _record(archive, f"{stem}/byteorder", sys.byteorder.encode())
        for piece in pieces:
            flat = piece.flat()
            content = bytes_of(flat.cpu())
            digest.update(len(content).to_bytes(8, "little"))
            _record(archive, f"{stem}/data/{piece.key}", content, aligned=True)
        _record(archive, f"{stem}/version", b"3\n")
        number = int.from_bytes(digest.digest()[:16], "little")
        _record(archive, f"{stem}/.data/serialization_id", f"{number:040d}".encode())


def _record(archive: zipfile.ZipFile, name: str, content: Any, aligned: bool = False) -> None:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.file_size = len(content)
    large = len(content) > 1 << 30
    if aligned:
        start = archive.fp.tell() + _LOCAL_HEADER + len(name.encode()) + (20 if large else 0) + 4
        info.extra = b"FB" + (-start % _ALIGNMENT).to_bytes(2, "little")
        info.extra += b"Z" * (-start % _ALIGNMENT)
    with archive.open(info, "w", force_zip64=large) as out:
        for start in range(0, len(content), CHUNK):
            out.write(content[start : start + CHUNK])


# Reading.


# Options of pickle, taken and of no effect: nothing is unpickled by it.
_PICKLE_OPTIONS = {"encoding", "errors", "fix_imports", "buffers"}
_NEWEST_VERSION = 10  # of the records of a checkpoint


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read an object written by `save`, here or by PyTorch, from a path or a binary file.

    `map_location` is a device, a dict of location names, or a function of storage and location.
    With `mmap` storages are mapped from the file, copied where they are written. Files are read
    as data only; there is no way to run code from them. Under the name of torch (see
    `facula.as_torch`) `weights_only=False` is accepted: a file may then hold objects of classes,
    whole modules for instance, but may not call functions.
    """
    objects = False
    for name in pickle_load_args.keys() - _PICKLE_OPTIONS:
        raise TypeError(f"load() got an unexpected keyword argument {name!r}")
    if under_alias():
        objects = weights_only is False
        weights_only = None
        pickle_module = None if pickle_module is pickle else pickle_module
    if pickle_module is not None or weights_only is False:
        raise RuntimeError(
            facula._C._package_words(
                "load: files are read as data only, so weights_only=False and pickle_module are "
                "not supported; use facula.serialization.add_safe_globals to allow classes that "
                "you trust"
            )
        )
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _load(file, map_location, bool(mmap), f, objects)
    for name in ("read", "seek", "tell"):
        if not hasattr(f, name):
            raise AttributeError(
                f"'{type(f).__name__}' object has no attribute '{name}'. You can only load from a "
                "file that is seekable. Please pre-load the data into a buffer like io.BytesIO "
                "and try to load from it instead."
            )
    return _load(f, map_location, bool(mmap), None, objects)


def _load(file: Any, map_location: Any, mapped: bool, path: Any, objects: bool) -> Any:
    start = file.tell()
    magic = file.read(2)
    if not isinstance(magic, (bytes, bytearray)):
        raise TypeError(f"load: expected a binary file, but read() gave {type(magic).__name__}")
    file.seek(start)
    if not magic:
        raise EOFError("Ran out of input")
    if magic != b"PK":
        if mapped:
            raise RuntimeError(
                "mmap can only be used with files saved with "
                "`save(_use_new_zipfile_serialization=True)`; save this file again in that way"
            )
        return _checkpoint_stream.load(file, _placer(map_location), objects)
    if mapped and path is None:
        raise ValueError(
            "f must be a file path in order to use the mmap argument, but got "
            f"{type(file).__name__}"
        )
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise RuntimeError(
            f"load: failed reading zip archive: failed finding central directory ({error})"
        ) from None
    with archive:
        return _Archive(archive, path if mapped else None).load(_placer(map_location), objects)


class _Archive:
    """The records of one file, by their name below the archive's folder."""

    def __init__(self, archive: zipfile.ZipFile, mapped: Any) -> None:
        self.archive = archive
        self.records = {}
        for info in archive.infolist():
            name = info.filename.partition("/")[2]
            if name:
                self.records[name] = info
        if "data.pkl" not in self.records:
            raise RuntimeError("load: the zip archive has no data.pkl: it is not a checkpoint")
        if "constants.pkl" in self.records:
            raise RuntimeError("load: this is a TorchScript archive, which load does not read")
        self._check_version()
        self.map = _map(mapped) if mapped is not None else None
        order = self.read("byteorder") if "byteorder" in self.records else b"little"
        if order not in (b"little", b"big"):
            raise ValueError(f"load: unknown byte order {order[:16]!r}")
        self.swap = order.decode() != sys.byteorder

    def _check_version(self) -> None:
        text = self.read("version")
        if not text.strip().isdigit():
            raise RuntimeError(f"load: expected a number as the version of the file, got {text!r}")
        if int(text) > _NEWEST_VERSION:
            raise RuntimeError(
                f"load: expected a file of version {_NEWEST_VERSION} at most, got version "
                f"{int(text)}"
            )

    def load(self, place: Callable, objects: bool) -> Any:
        return _restore.Reader(self.storage, place, objects).load(self.read("data.pkl"))

    def _open(self, name: str) -> tuple[zipfile.ZipInfo, Any]:
        info = self.records.get(name)
        if info is None:
            raise RuntimeError(f"load: the file has no record {name}")
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            raise RuntimeError(f"load: record {name} is compressed or encrypted")
        try:
            return info, self.archive.open(info)
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise RuntimeError(f"load: failed reading record {name}: {error}") from None

    def read(self, name: str) -> bytes:
        info, file = self._open(name)
        with file:
            try:
                return file.read()
            except (zipfile.BadZipFile, EOFError) as error:
                raise RuntimeError(f"load: failed reading record {name}: {error}") from None

    def storage(self, key: str, size: int, width: int) -> facula.Tensor:
        """Return the bytes of a storage as a 1-d tensor; its size must be what is claimed.

        They are turned where a machine of the other byte order wrote them, in numbers of `width`.
        """
        data = self._bytes(key, size)
        if not self.swap or width == 1 or size == 0:
            return data
        if width == 0:
            raise RuntimeError(
                f"load: storage {key} has no type, so its byte order cannot be turned"
            )
        return data.view(-1, width).flip(1).reshape(-1)

    def _bytes(self, key: str, size: int) -> facula.Tensor:
        name = f"data/{key}"
        info, file = self._open(name)
        with file:
            if info.file_size != size:
                raise RuntimeError(
                    f"load: record {name} holds {info.file_size} bytes, but {size} are expected"
                )
            if size == 0:
                return facula.empty(0, dtype=facula.uint8)
            if self.map is not None and not self.swap:
                return facula.frombuffer(
                    self.map, dtype=facula.uint8, count=size, offset=self._offset(info)
                )
            if self.archive.start_dir < size:
                raise RuntimeError(f"load: record {name} is longer than the file")
            data = facula.empty(size, dtype=facula.uint8)
            target, done = bytes_of(data), 0
            try:
                while piece := file.read(CHUNK):
                    target[done : done + len(piece)] = piece
                    done += len(piece)
            except (zipfile.BadZipFile, EOFError, ValueError) as error:
                raise RuntimeError(f"load: failed reading record {name}: {error}") from None
            if done != size:
                raise RuntimeError(f"load: record {name} is cut short")
            return data

    def _offset(self, info: zipfile.ZipInfo) -> int:
        start = info.header_offset
        header = self.map[start : start + _LOCAL_HEADER]
        names = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        return start + _LOCAL_HEADER + names


def _map(path: Any) -> Any:
    import mmap

    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)


def _placer(map_location: Any) -> Callable[[facula.Tensor, str], facula.Tensor]:
    """Return the function that moves a storage's elements to the device they belong on."""

    def move(data: facula.Tensor, location: str) -> facula.Tensor:
        device = facula.device(location)
        if device.type == "cuda" and not _has_cuda():
            raise RuntimeError(
                "Attempting to deserialize object on a CUDA device but cuda.is_available() is "
                "False. If you are running on a CPU-only machine, please use load with "
                "map_location='cpu' to map your storages to the CPU."
            )
        return data if device.type == "cpu" else data.to(device)

    if map_location is None:
        return move
    if isinstance(map_location, dict):
        return lambda data, location: move(data, map_location.get(location, location))
    if isinstance(map_location, (str, facula.device)):
        target = str(map_location)
        return lambda data, location: move(data, target)

    def ask(data: facula.Tensor, location: str) -> facula.Tensor:
        result = map_location(data.untyped_storage(), location)
        return move(data, location) if result is None else move(data, str(result.device))

    return ask


def _has_cuda() -> bool:
    cuda = getattr(facula, "cuda", None)
    return cuda is not None and cuda.is_available()
