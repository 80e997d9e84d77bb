"""Long tests take turns: with ``--in-turn``, as .ci/run says it, each commit runs a part of them, and which part
follows from the commit. Without it all of them run.

    @pytest.mark.turns(3)              a third of all that are marked so, spread evenly over them
    @pytest.mark.turns(3, of="ring")   tests of one name have their turn together
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
import shares

OPTION = "--in-turn"


def add_option(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, action="store_true", help="of tests that take turns, only those whose turn this commit is")


def apply(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption(OPTION):
        return
    taken = set(in_turn([share for item in items if (share := share_of(item))], number(config)))
    left = [item for item in items if (share := share_of(item)) and share not in taken]
    if left:
        config.hook.pytest_deselected(items=left)
        waiting = set(left)
        items[:] = [item for item in items if item not in waiting]


def spread(rows: Iterable[Any], ids: Callable[[Any], str]) -> list[Any]:
    """Rows for ``parametrize``: every third one for `make test`; the others take turns, half of them in a .ci/run."""
    later = [pytest.mark.slow, pytest.mark.turns(2)]
    return [pytest.param(row, id=ids(row), marks=later if place % 3 else []) for place, row in enumerate(rows)]


def share_of(item: pytest.Item) -> tuple[int, str] | None:
    """One of how many this test is, and its name; None of one that always runs."""
    mark = item.get_closest_marker("turns")
    return (mark.args[0], mark.kwargs.get("of", item.nodeid)) if mark else None


def in_turn(shares_of: list[tuple[int, str]], number: int) -> list[tuple[int, str]]:
    """Of ``n`` numbers that follow each other each takes every test once."""
    found = []
    for n in {n for n, _ in shares_of}:
        names = dict.fromkeys(name for of, name in shares_of if of == n)
        found += [(n, name) for place, name in enumerate(names) if (place + number) % n == 0]
    return found


def number(config: pytest.Config) -> int:
    """The commit, as a number; 0 where there is none."""
    commit = shares.commit(config.rootpath)
    return int(commit, 16) if commit != "none" else 0
