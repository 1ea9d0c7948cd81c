"""Values that arrive later: Future, collect_all and wait_all."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")


class Future(Generic[T]):
    """A value that is set once, by another thread perhaps, and waited for.

    Example:
        >>> future = facula.futures.Future()
        >>> future.then(lambda f: f.wait() + 1).done()
        False
        >>> future.set_result(1)
    """

    def __init__(self, *, devices: Any = None) -> None:
        self._inner: concurrent.futures.Future = concurrent.futures.Future()

    def done(self) -> bool:
        """Say whether the value, or an error in its place, has been set."""
        return self._inner.done()

    def wait(self) -> T:
        """Wait for the value; raises the error that was set in its place."""
        return self._inner.result()

    def value(self) -> T:
        """Return the value without waiting; RuntimeError when it is not there."""
        if not self.done():
            raise RuntimeError("value: the future is not completed yet")
        return self._inner.result()

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """Return a future of what `callback` makes of this one when it is completed."""
        result: Future[Any] = Future()

        def run(_: Any) -> None:
            try:
                result.set_result(callback(self))
            except Exception as error:
                result.set_exception(error)

        self._inner.add_done_callback(run)
        return result

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call `callback` with this future when it is completed."""
        self._inner.add_done_callback(lambda _: callback(self))

    def set_result(self, result: T) -> None:
        """Set the value; RuntimeError when it has been set before."""
        try:
            self._inner.set_result(result)
        except concurrent.futures.InvalidStateError:
            raise RuntimeError("set_result: the future is completed already") from None

    def set_exception(self, result: BaseException) -> None:
        """Set an error in place of the value."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._inner.set_exception(result)


def collect_all(futures: Sequence[Future]) -> Future[list[Future]]:
    """Return a future of the list of these futures, completed when all of them are."""
    import threading

    result: Future[list[Future]] = Future()
    left = [len(futures)]
    lock = threading.Lock()

    def one(_: Future) -> None:
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            result.set_result(list(futures))

    if not futures:
        result.set_result([])
    for future in futures:
        future.add_done_callback(one)
    return result


def wait_all(futures: Sequence[Future]) -> list[Any]:
    """Return the values of all futures; raises the first error."""
    return [future.wait() for future in collect_all(futures).wait()]
