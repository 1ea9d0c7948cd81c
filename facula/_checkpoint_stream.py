"""The checkpoints of PyTorch before 1.6: a stream of pickles, then the bytes of the storages.

In this order: a magic number, the version of the format, a description of the machine, the object
(whose storages are persistent ids), the list of the storages' keys, and for each key the number
of elements as 8 bytes and the elements. Numbers are little-endian on every machine.
`_checkpoint.py` makes the object's pickle, `_restore.py` reads it.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

import facula
from facula import _restore
from facula._bytes import CHUNK, bytes_of
from facula._checkpoint import Piece
from facula._storage_ids import StorageKind, is_module_id, storage_id
from facula._unpickle import Truncated, Unpickler

__all__ = ["load", "write"]

_MAGIC = 0x1950A86A20F9469CFC6C
_VERSION = 1001
_TAR_MARK = 257  # where "ustar" stands in a tar archive
_HEAD = 1 << 20  # bytes that are read at first: the pickles of most files are shorter


def write(file: Any, data: bytes, pieces: list[Piece], protocol: int) -> None:
    """Write the pickle of an object and its pieces to a file, from where the file stands."""
    machine = {
        "protocol_version": _VERSION,
        "little_endian": sys.byteorder == "little",
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }
    for part in (_MAGIC, _VERSION, machine):
        file.write(pickle.dumps(part, protocol))
    file.write(data)
    file.write(pickle.dumps([piece.key for piece in pieces], protocol))
    for piece in pieces:
        flat = piece.stored()
        file.write(flat.numel().to_bytes(8, "little"))
        content = bytes_of(flat.cpu())
        for start in range(0, len(content), CHUNK):
            file.write(content[start : start + CHUNK])


def load(file: Any, place: Callable, objects: bool) -> Any:
    """Read the object that begins where a file stands, and leave the file behind its bytes.

    `place` and `objects` are those of `_restore.Reader`. Raises UnpicklingError, RuntimeError or
    EOFError where the file is damaged, before any storage is allocated.
    """
    start = file.tell()
    head = _read(file, _TAR_MARK + 5)
    if head[_TAR_MARK:] == b"ustar":
        raise RuntimeError(
            "load: this is a checkpoint in the tar format of PyTorch before 0.1.10, which is not "
            "read; load and save it again with a newer version of PyTorch"
        )
    if head[:1] != b"\x80":
        raise UnpicklingError("load: this is not a checkpoint: neither a zip nor a pickle")
    data, scan = _scanned(file, start, objects)
    found = _Storages(file, start + scan.end, scan)
    reader = _restore.Reader(found.read, place, objects).unpickler(data)
    reader.position = scan.start
    result = reader.load()
    file.seek(found.end)
    return result


def _read(file: Any, size: int) -> bytes:
    """Return the next bytes of a file, fewer than `size` only where it ends."""
    pieces = []
    while size > 0 and (piece := file.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _scanned(file: Any, start: int, objects: bool) -> tuple[bytes, _Scan]:
    """Return the beginning of a file as far as its pickles go, at least, and what they say."""
    size = _HEAD
    while True:
        file.seek(start)
        data = _read(file, size)
        try:
            return data, _Scan(data, objects)
        except (EOFError, Truncated):
            if len(data) < size:
                raise
            size *= 4


class _Anything(dict):
    """Stands for each object of a pickle that is scanned but not built."""

    __hash__ = object.__hash__  # type: ignore[assignment]


def _no_name(module: str, name: str) -> Any:
    raise UnpicklingError(f"Weights only load failed: unexpected name {module}.{name}")


class _Scan:
    """What the pickles of a file say about the rest of it, found without building the object.

    How long storages are stands in the object's pickle, where they lie only behind it; so it is
    read twice, and nothing is allocated on its word alone.
    """

    def __init__(self, data: bytes, objects: bool) -> None:
        self.end = 0
        if _type_and_value(self._plain(data)) != (int, _MAGIC):
            raise RuntimeError("Invalid magic number; corrupt file?")
        version = self._plain(data)
        if _type_and_value(version) != (int, _VERSION):
            shown = version if type(version) is int and abs(version) < 2**64 else type(version)
            raise RuntimeError(f"Invalid protocol version: {shown}")
        machine = self._plain(data)
        if type(machine) is not dict:
            raise UnpicklingError("Weights only load failed: the machine is not described")
        self.swapped_counts = machine.get("little_endian") is False
        self.start = self.end
        self.storages: dict[str, tuple[int, int]] = {}  # elements and bytes of each
        self._object(data, _restore.Reader(self._refuse, self._refuse, objects))
        self.keys = self._plain(data)
        self._check_keys()

    def _load(self, unpickler: Unpickler) -> Any:
        unpickler.position = self.end
        result = unpickler.load()
        self.end = unpickler.position
        return result

    def _plain(self, data: bytes) -> Any:
        """Read a pickle of numbers and containers."""
        return self._load(Unpickler(data, _no_name, self._refuse, self._refuse, self._refuse))

    def _refuse(self, *args: Any) -> Any:
        raise UnpicklingError("Weights only load failed: a pickle of plain data holds an object")

    def _object(self, data: bytes, reader: _restore.Reader) -> None:
        def find(module: str, name: str) -> Any:
            found = reader.known(module, name)
            return found if isinstance(found, StorageKind) else _Anything()

        def persistent(key: Any) -> Any:
            if not is_module_id(key):
                dtype, name, _, count, _ = storage_id(key)
                self.storages.setdefault(name, (count, count * dtype.itemsize))
            return _Anything()

        unpickler = Unpickler(data, find, persistent, lambda *args: _Anything(), lambda *args: None)
        unpickler.fill = lambda *args: True
        self._load(unpickler)

    def _check_keys(self) -> None:
        keys = self.keys
        if type(keys) is not list or not all(type(key) is str for key in keys):
            raise UnpicklingError("Weights only load failed: the storages are not listed")
        if len(set(keys)) != len(keys):
            raise RuntimeError("load: the file lists a storage twice")
        for key in self.storages.keys() ^ set(keys):
            problem = "listed but not used" if key in keys else "used but not listed"
            raise RuntimeError(f"load: storage {key[:40]!r} is {problem}")


def _type_and_value(value: Any) -> tuple[type, Any]:
    return type(value), value


class _Storages:
    """Where the storages of a file lie; raises RuntimeError unless the file holds them whole."""

    def __init__(self, file: Any, start: int, scan: _Scan) -> None:
        self.file = file
        self.places: dict[str, int] = {}
        length = file.seek(0, 2)
        if type(length) is not int:
            length = file.tell()
        self.end = start
        for key in scan.keys:
            count, size = scan.storages[key]
            file.seek(self.end)
            self._check_count(_read(file, 8), count, scan.swapped_counts)
            self.places[key] = self.end + 8
            self.end += 8 + size
            if self.end > length:
                raise _cut_short(self.end - length)

    def _check_count(self, written: bytes, count: int, swapped: bool) -> None:
        if len(written) < 8:
            raise _cut_short(8 - len(written))
        value = int.from_bytes(written, "little", signed=True)
        # Big-endian machines wrote the count, but not the elements, in their own order at first.
        if value != count and not (swapped and int.from_bytes(written, "big") == count):
            raise RuntimeError(
                f"storage has wrong byte size: expected {count} elements, got {value}"
            )

    def read(self, key: str, size: int, width: int) -> facula.Tensor:
        """Return the bytes of a storage as a 1-d tensor."""
        data = facula.empty(size, dtype=facula.uint8)
        if size == 0:
            return data
        self.file.seek(self.places[key])
        target, done = bytes_of(data), 0
        while done < size and (piece := self.file.read(min(CHUNK, size - done))):
            target[done : done + len(piece)] = piece
            done += len(piece)
        if done < size:
            raise _cut_short(size - done)
        return data


def _cut_short(missing: int) -> RuntimeError:
    return RuntimeError(
        f"unexpected EOF, expected {missing} more bytes. The file might be corrupted."
    )
