"""Seconds and bytes as a person reads them."""

from __future__ import annotations

import pytest

from lockstep.show import quantities


@pytest.mark.parametrize(
    ("t", "told"),
    [(0, "0 s"), (1.23456e-5, "12.3 µs"), (1e-3, "1 ms"), (2.5, "2.5 s"), (3.2e-10, "0.32 ns"), (1234.5, "1,234 s")],
)
def test_seconds(t: float, told: str) -> None:
    assert quantities.seconds(t) == told


@pytest.mark.parametrize(
    ("n", "told"),
    [(0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1500, "1.5 kB"), (8.26e6, "8.26 MB"), (1e12, "1 TB")],
)
def test_bytes(n: float, told: str) -> None:
    assert quantities.nbytes(n) == told


def test_counts() -> None:
    assert quantities.count(1, "rank") == "1 rank"
    assert quantities.count(8064, "message") == "8,064 messages"


def test_ticks_are_round_and_few() -> None:
    assert quantities.ticks(0, 10, 5) == [0, 2, 4, 6, 8, 10]
    assert quantities.ticks(0, 0) == [0]
    assert all(2 <= len(quantities.ticks(0, x / 7)) <= 13 for x in range(1, 200))


def test_decades() -> None:
    assert quantities.decades(1, 1000) == pytest.approx([1, 10, 100, 1000])
    assert len(quantities.decades(1e-9, 1e12)) <= 11
