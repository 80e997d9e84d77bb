"""How often a rank asks ``is_completed()`` in vain, with nothing else in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable

PATIENCE = 100  # questions, one after the other, whose answer was no


class Questions:
    """``note(i, in_vain=...)`` is told of operation i when the rank does nothing but ask for it, and when it no longer
    does. As long as it goes on, the ``journal`` gets an empty entry now and then."""

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
        """The rank does something else."""
        self.number = 0
        for i in self._about:
            self._note(i, in_vain=False)
        self._about = []
