"""A reader of pickles that holds data only: a closed list of opcodes and of names.

Nothing named in a file is imported or called: names are looked up in a table of constructors
that the caller gives, and everything else is refused. `serialization.py` owns the table.
"""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

__all__ = ["Truncated", "Unpickler"]

_MAX_DEPTH = 100_000  # entries of the mark stack
# Of tuples within tuples: hashing them takes stack by their depth, time by their number.
_MAX_TUPLE_DEPTH = 1000
_MAX_TUPLES = 10_000_000


class Truncated(UnpicklingError):
    """Raised where the data end within an entry of the pickle."""


class _Mark:
    __slots__ = ()


_MARK = _Mark()
# What damaged data make of the opcodes.
_ERRORS = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError,
)  # fmt: skip


class Unpickler:
    """Reads one object from `data`.

    `find(module, name)` returns what a global stands for or raises; `persistent(id)` resolves
    persistent ids; `call(function, args, new)` makes an object, where `new` means by `__new__`
    alone; `build(object, state)` gives it state.
    """

    def __init__(
        self,
        data: bytes,
        find: Callable[[str, str], Any],
        persistent: Callable[[Any], Any],
        call: Callable[[Any, tuple, bool], Any],
        build: Callable[[Any, Any], Any],
    ) -> None:
        self.data = data
        self.position = 0
        self.find = find
        self.persistent = persistent
        self.call = call
        self.build = build
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        # Of each tuple that holds tuples, by id: itself, its depth and how many it holds.
        self.nested: dict[int, tuple[tuple, int, int]] = {}
        # fill(target, items, pairs) adds to containers of other classes, or says that it cannot;
        # check_key(key) raises where a key or a member of a set may not be hashed.
        self.fill: Callable[[Any, list, bool], bool] | None = None
        self.check_key: Callable[[Any], None] | None = None

    def load(self) -> Any:
        """Return the object; `position` is then behind its pickle."""
        data, opcodes = self.data, _OPCODES
        while True:
            if self.position >= len(data):
                raise EOFError("Ran out of input")
            code = data[self.position]
            self.position += 1
            if code == _STOP:
                return self._pop()
            handler = opcodes.get(code)
            if handler is None:
                raise UnpicklingError(
                    f"Weights only load failed: unsupported operand {code} "
                    f"at byte {self.position - 1} of the pickle"
                )
            try:
                handler(self)
            except _ERRORS as error:
                raise UnpicklingError(
                    f"Weights only load failed: damaged pickle near byte {self.position}: {error}"
                ) from None

    # Pieces.

    def _take(self, count: int) -> bytes:
        end = self.position + count
        if count < 0 or end > len(self.data):
            raise Truncated("Weights only load failed: the pickle is cut short")
        piece = self.data[self.position : end]
        self.position = end
        return piece

    def _line(self) -> bytes:
        end = self.data.find(b"\n", self.position)
        if end < 0:
            raise Truncated("Weights only load failed: the pickle is cut short")
        piece = self.data[self.position : end]
        self.position = end + 1
        return piece

    def _unsigned(self, size: int) -> int:
        return int.from_bytes(self._take(size), "little")

    def _pop(self) -> Any:
        if not self.stack:
            raise UnpicklingError("Weights only load failed: the pickle takes more than it has")
        value = self.stack.pop()
        if value is _MARK:
            raise UnpicklingError("Weights only load failed: unexpected mark in the pickle")
        return value

    def _top(self) -> Any:
        if not self.stack or self.stack[-1] is _MARK:
            raise UnpicklingError("Weights only load failed: the pickle takes more than it has")
        return self.stack[-1]

    def _pop_to_mark(self) -> list:
        for i in range(len(self.stack) - 1, -1, -1):
            if self.stack[i] is _MARK:
                items = self.stack[i + 1 :]
                del self.stack[i:]
                return items
        raise UnpicklingError("Weights only load failed: missing mark in the pickle")

    # Opcodes, named as in pickletools.

    def proto(self) -> None:
        version = self._unsigned(1)
        if not 2 <= version <= 5:
            raise UnpicklingError(f"Weights only load failed: unsupported protocol {version}")

    def frame(self) -> None:
        self._take(8)

    def push_global(self) -> None:
        module = self._line().decode("ascii")
        self.stack.append(self.find(module, self._line().decode("ascii")))

    def stack_global(self) -> None:
        name, module = self._pop(), self._pop()
        if type(name) is not str or type(module) is not str:
            raise UnpicklingError("Weights only load failed: STACK_GLOBAL wants two names")
        self.stack.append(self.find(module, name))

    def mark(self) -> None:
        if len(self.stack) > _MAX_DEPTH and self.stack[-1] is _MARK:
            raise UnpicklingError("Weights only load failed: the pickle is nested too deeply")
        self.stack.append(_MARK)

    def append(self) -> None:
        self._extend([self._pop()])

    def appends(self) -> None:
        self._extend(self._pop_to_mark())

    def _extend(self, items: list) -> None:
        target = self._top()
        if type(target) is list:
            target.extend(items)
        elif self.fill is None or not self.fill(target, items, False):
            raise UnpicklingError(f"Can only append to lists, but got {type(target)}")

    def additems(self) -> None:
        items = self._pop_to_mark()
        target = self._top()
        if type(target) is not set:
            raise UnpicklingError(f"Can only add to sets, but got {type(target)}")
        self._check_keys(items)
        target.update(items)

    def setitem(self) -> None:
        value = self._pop()
        self._update([self._pop(), value])

    def setitems(self) -> None:
        self._update(self._pop_to_mark())

    def _update(self, items: list) -> None:
        target = self._top()
        self._check_keys(items[::2])
        if type(target) not in (dict, OrderedDict, defaultdict, Counter):
            if self.fill is None or not self.fill(target, items, True):
                raise UnpicklingError(f"Can only set items of dicts, but got {type(target)}")
            return
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[key] = value

    def tuple(self) -> None:
        self._push(tuple(self._pop_to_mark()))

    def _tuple_of(self, count: int) -> None:
        items = [self._pop() for _ in range(count)]
        self._push(tuple(reversed(items)))

    def _push(self, made: Any) -> None:
        """Push what was made; tuples nested so deeply that they cannot be hashed are refused."""
        if isinstance(made, tuple):
            parts = tuple.__iter__(made)  # of a class that may define its own
            inner = [self.nested.get(id(i), (i, 1, 1)) for i in parts if isinstance(i, tuple)]
            if inner:
                depth = 1 + max(entry[1] for entry in inner)
                count = 1 + sum(entry[2] for entry in inner)
                if depth > _MAX_TUPLE_DEPTH or count > _MAX_TUPLES:
                    raise UnpicklingError("Weights only load failed: tuples nested too deeply")
                self.nested[id(made)] = (made, depth, count)
        self.stack.append(made)

    def frozenset(self) -> None:
        items = self._pop_to_mark()
        self._check_keys(items)
        self.stack.append(frozenset(items))

    def _check_keys(self, keys: list) -> None:
        if self.check_key is not None:
            for key in keys:
                self.check_key(key)

    def reduce(self) -> None:
        args = self._pop()
        function = self._pop()
        if type(args) is not tuple:
            raise UnpicklingError("Weights only load failed: REDUCE wants a tuple of arguments")
        self._push(self.call(function, args, False))

    def newobj(self) -> None:
        args = self._pop()
        cls = self._pop()
        if type(args) is not tuple:
            raise UnpicklingError("Weights only load failed: NEWOBJ wants a tuple of arguments")
        self._push(self.call(cls, args, True))

    def do_build(self) -> None:
        state = self._pop()
        self.build(self._top(), state)

    def binpersid(self) -> None:
        self.stack.append(self.persistent(self._pop()))

    def _memoize(self, index: int) -> None:
        self.memo[index] = self._top()

    def _fetch(self, index: int) -> None:
        if index not in self.memo:
            raise UnpicklingError(f"Memo value not found at index {index}")
        self.stack.append(self.memo[index])

    def _text(self, size: int, encoding: str) -> None:
        self.stack.append(str(self._take(size), encoding, "surrogatepass"))

    def binstring(self) -> None:
        self._text(self._unsigned(4), "latin-1")

    def long_of(self, size: int) -> None:
        self.stack.append(int.from_bytes(self._take(size), "little", signed=True))


_STOP = ord(".")

_OPCODES: dict[int, Callable[[Unpickler], None]] = {
    0x80: Unpickler.proto,
    0x95: Unpickler.frame,
    ord("c"): Unpickler.push_global,
    0x93: Unpickler.stack_global,
    ord("("): Unpickler.mark,
    ord("0"): lambda u: (u._pop(), None)[1],
    ord("1"): lambda u: (u._pop_to_mark(), None)[1],
    ord("]"): lambda u: u.stack.append([]),
    ord(")"): lambda u: u.stack.append(()),
    ord("}"): lambda u: u.stack.append({}),
    0x8F: lambda u: u.stack.append(set()),
    ord("a"): Unpickler.append,
    ord("e"): Unpickler.appends,
    0x90: Unpickler.additems,
    ord("s"): Unpickler.setitem,
    ord("u"): Unpickler.setitems,
    ord("t"): Unpickler.tuple,
    0x85: lambda u: u._tuple_of(1),
    0x86: lambda u: u._tuple_of(2),
    0x87: lambda u: u._tuple_of(3),
    0x91: Unpickler.frozenset,
    ord("R"): Unpickler.reduce,
    0x81: Unpickler.newobj,
    ord("b"): Unpickler.do_build,
    ord("Q"): Unpickler.binpersid,
    ord("N"): lambda u: u.stack.append(None),
    0x88: lambda u: u.stack.append(True),
    0x89: lambda u: u.stack.append(False),
    ord("J"): lambda u: u.long_of(4),
    ord("K"): lambda u: u.stack.append(u._unsigned(1)),
    ord("M"): lambda u: u.stack.append(u._unsigned(2)),
    0x8A: lambda u: u.long_of(u._unsigned(1)),
    0x8B: lambda u: u.long_of(u._unsigned(4)),
    ord("G"): lambda u: u.stack.append(struct.unpack(">d", u._take(8))[0]),
    ord("X"): lambda u: u._text(u._unsigned(4), "utf-8"),
    0x8C: lambda u: u._text(u._unsigned(1), "utf-8"),
    0x8D: lambda u: u._text(u._unsigned(8), "utf-8"),
    ord("T"): Unpickler.binstring,
    ord("U"): lambda u: u._text(u._unsigned(1), "latin-1"),
    ord("B"): lambda u: u.stack.append(u._take(u._unsigned(4))),
    ord("C"): lambda u: u.stack.append(u._take(u._unsigned(1))),
    0x8E: lambda u: u.stack.append(u._take(u._unsigned(8))),
    0x96: lambda u: u.stack.append(bytearray(u._take(u._unsigned(8)))),
    ord("q"): lambda u: u._memoize(u._unsigned(1)),
    ord("r"): lambda u: u._memoize(u._unsigned(4)),
    0x94: lambda u: u._memoize(len(u.memo)),
    ord("h"): lambda u: u._fetch(u._unsigned(1)),
    ord("j"): lambda u: u._fetch(u._unsigned(4)),
}
