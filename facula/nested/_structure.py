"""Where the rows of a jagged nested tensor lie, and the symbolic length of its ragged dimension."""

from __future__ import annotations

import itertools

import facula

Tensor = facula.Tensor

_numbers = itertools.count(1)


class NestedInt(int):
    """The length of a ragged dimension, which has no single value; it equals only itself."""

    def __new__(cls, number: int) -> NestedInt:
        # No tensor is as long, so that a use as a plain length is refused.
        self = super().__new__(cls, (1 << 62) + number)
        self._number = number
        return self

    def __repr__(self) -> str:
        return f"j{self._number}"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __reduce__(self) -> tuple:
        return (_fresh_symbol, ())


def _fresh_symbol() -> NestedInt:
    """Return a symbol of this process: numbers of another one mean other rows here."""
    return NestedInt(next(_numbers))


def _nested_int(offsets: Tensor, lengths: Tensor | None) -> NestedInt:
    """Return the symbol of these offsets: the same tensor has the same symbol."""
    key = offsets if lengths is None else lengths
    symbol = key.__dict__.get("_nested_int")
    if symbol is None:
        symbol = key._nested_int = _fresh_symbol()
    return symbol


class Structure:
    """The rows of each batch item: [offsets[i], offsets[i] + lengths[i]) along dimension `ragged`.

    `ragged` counts the batch dimension as 0, so it is at least 1; the values have no batch
    dimension.
    """

    __slots__ = ("_cache", "lengths", "offsets", "ragged", "symbol")

    def __init__(
        self, offsets: Tensor, lengths: Tensor | None, ragged: int, cache: dict | None = None
    ):
        self.offsets, self.lengths, self.ragged = offsets, lengths, ragged
        self.symbol = _nested_int(offsets, lengths)
        self._cache = {} if cache is None else cache

    def moved(self, ragged: int) -> Structure:
        """Return the same rows along another dimension."""
        return (
            self
            if ragged == self.ragged
            else Structure(self.offsets, self.lengths, ragged, self._cache)
        )

    def same_rows(self, other: Structure) -> bool:
        return self.symbol == other.symbol

    @property
    def batch(self) -> int:
        return self.offsets.size(0) - 1

    def spans(self) -> Tensor:
        """Return first rows and lengths as an int64 tensor (batch, 2)."""
        if "spans" not in self._cache:
            first = self.offsets[:-1]
            count = self.offsets.diff() if self.lengths is None else self.lengths
            self._cache["spans"] = facula.stack([first, count], 1).to(facula.int64).contiguous()
        return self._cache["spans"]

    def rows(self) -> list[tuple[int, int]]:
        """Return first row and length of each item."""
        if "rows" not in self._cache:
            self._cache["rows"] = [tuple(r) for r in self.spans().tolist()]
        return self._cache["rows"]

    def counts(self) -> list[int]:
        return [n for _, n in self.rows()]

    def longest(self) -> int:
        return self._cache.get("max") or max(self.counts(), default=0)

    def shortest(self) -> int:
        return self._cache["min"] if "min" in self._cache else min(self.counts(), default=0)

    def places(self, total: int) -> tuple[Tensor, Tensor]:
        """Return of each of `total` rows the item and the position in it; 0 for rows of none."""
        if self._cache.get("total") != total:
            item = facula.zeros(total, dtype=facula.int64)
            place = facula.zeros(total, dtype=facula.int64)
            for i, (first, n) in enumerate(self.rows()):
                item[first : first + n] = i
                place[first : first + n] = facula.arange(n)
            self._cache["total"], self._cache["places"] = total, (item, place)
        return self._cache["places"]

    def covered(self) -> Tensor:
        """Return the positions of the rows that items have, in their order."""
        if "covered" not in self._cache:
            parts = [facula.arange(first, first + n) for first, n in self.rows()]
            empty = facula.zeros(0, dtype=facula.int64)
            self._cache["covered"] = facula.cat(parts) if parts else empty
        return self._cache["covered"]
