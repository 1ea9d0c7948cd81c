"""Arguments that several Python functions take."""

from __future__ import annotations

from itertools import islice

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any


def as_tuple(value: Any, what: str) -> tuple[Any, ...]:
    """Give the items of a sequence, or the one item that is given instead of a sequence.

    Only as many items are read as the sequence says it has: an object may answer every index. A
    thing that is neither an int nor a sequence raises TypeError, which `what` opens ("gradient:
    dim").

    >>> as_tuple(3, "roll: dims"), as_tuple([1, 2], "roll: dims")
    ((3,), (1, 2))
    """
    if isinstance(value, int):
        return (value,)
    try:
        return tuple(islice(value, len(value)))
    except TypeError:
        raise TypeError(
            f"{what} must be an int or a sequence of ints, not {type(value).__name__}"
        ) from None
