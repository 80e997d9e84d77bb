"""Detection of busy-waiting: consecutive calls of ``is_completed()`` that return False."""

from __future__ import annotations

from collections.abc import Callable, Iterable

PATIENCE = 100  # consecutive unsuccessful polls


class Questions:
    """Calls ``note(i, in_vain=...)`` when a rank does nothing but poll operation i, and when that ends. Meanwhile an
    empty entry is written to the ``journal`` now and then."""

    def __init__(self, note: Callable[..., None], journal: Callable[[bytes], object] | None) -> None:
        self._note, self._journal = note, journal
        self.number = 0
        self._about: list[int] = []

    def asked(self, operations: Iterable[int], done: bool) -> None:
        self.number += 1
        if done:
            self.over()
        elif self.number == PATIENCE:
            self._about = list(operations)
            for i in self._about:
                self._note(i, in_vain=True)
        elif self.number % PATIENCE == 0 and self._journal:
            self._journal(b"")

    def over(self) -> None:
        """The rank does something else, or its poll has succeeded."""
        self.number = 0
        for i in self._about:
            self._note(i, in_vain=False)
        self._about = []
