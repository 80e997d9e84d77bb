"""The companies of spares that a fork server keeps: at most one for an entry, formed while all is quiet."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable

from lockstep.launch.company import Company, Seat, Wish, attend

MOST = 8  # spares of a company: each holds some 12 MB of its own, and uses 0.2 % of a core
QUIET = 0.05  # seconds without a rank or a request, after which spares are forked
REST = 600.0  # seconds after which spares that nobody needed are given back


class Reserve:
    """``separate`` makes a fork of the server a process of its own. It closes ``files()`` there."""

    def __init__(self, separate: Callable[[], None]) -> None:
        self._separate = separate
        self._companies: dict[str, Company] = {}  # by entry
        self._wishes: dict[str, Wish] = {}  # for which there is no company yet

    def take(self, wish: Wish) -> Company | None:
        """A run begins that is like this, and so will be the next. The company for it; one that does not fit goes."""
        company = self._companies.pop(wish.entry, None)
        if company and not company.fits(wish):
            company.dissolve()
            company = None
        self._wishes.pop(wish.entry, None)
        if wish.size <= MOST and prepares(wish.entry):
            self._wishes[wish.entry] = wish
        return company

    def lose(self, pid: int) -> None:
        """A process has ended. If it was a spare, its company is no use any more."""
        for entry in [entry for entry, company in self._companies.items() if pid in company]:
            self._companies.pop(entry).dissolve()

    def files(self) -> list[int]:
        return [fd for company in self._companies.values() for fd in company.files()]

    def patience(self) -> float | None:
        """Seconds of quiet after which there is something to do here."""
        return QUIET if self._wishes else REST if self._companies else None

    def tend(self) -> None:
        """All has been quiet: form what is wished for; or else give back what nobody needed."""
        if not self._wishes:
            self.dissolve()
        for wish in self._wishes.values():
            if wish.entry not in self._companies:
                self._form(wish)
        self._wishes.clear()

    def dissolve(self) -> list[int]:
        """Give all spares back. Returns their pids."""
        companies = list(self._companies.values())
        self._companies.clear()
        return [pid for company in companies for pid in company.dissolve()]

    def _form(self, wish: Wish) -> None:
        company, store = Company(wish), os.memfd_create("store")
        try:
            for rank in range(wish.size):
                self._fork(company, Seat(rank, wish.size, f"/proc/self/fd/{store}"))
            self._companies[wish.entry] = company
        except OSError:  # there are no more processes or files: runs do without
            company.dissolve()
        os.close(store)

    def _fork(self, company: Company, seat: Seat) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                pid = os.fork()
            except OSError:
                ours.close()
                raise
            if pid == 0:
                self._separate()
                company.close()
                ours.close()
                attend(theirs, company.wish, seat)
            company.add(pid, ours)


def prepares(entry: str) -> bool:
    """Whether the entry's module says what a spare can do ahead."""
    return hasattr(sys.modules.get(entry.split(":")[0]), "prepare")
