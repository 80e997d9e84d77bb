"""The picture of a kernel's counts: a bad number has the colour of bad numbers, and only a bad one."""

from __future__ import annotations

from dataclasses import asdict
from xml.etree import ElementTree

import numpy as np

from lockstep.exercises.gpu import annotated_source
from lockstep.simt import launch
from lockstep.simt.kernels import naive_transpose, transpose, vector_add


def drawn(kernel, grid, block, *arguments, marked=()):
    lines = [asdict(line) for line in launch(kernel, grid, block, *arguments).lines]
    return annotated_source.draw(lines, marked)


def bad_numbers(picture: str) -> list[str]:
    return [
        e.text or "" for e in ElementTree.fromstring(picture).iter() if e.get("fill") == annotated_source.BAD and e.text
    ]


def square() -> np.ndarray:
    return np.zeros((32, 32), np.float32)


def test_a_healthy_kernel_has_nothing_in_red() -> None:
    assert bad_numbers(drawn(transpose, 1, (32, 32), square(), square())) == []
    ones = np.ones(128, np.float32)
    assert bad_numbers(drawn(vector_add, 1, 128, ones, ones, np.zeros(128, np.float32))) == []


def test_uncoalesced_sectors_are_red() -> None:
    assert bad_numbers(drawn(naive_transpose, 1, (32, 32), square(), square())) == ["18"]


def test_lanes_that_are_mostly_off_are_red_and_one_sector_for_one_lane_is_not() -> None:
    one = np.ones(1, np.float32)
    assert set(bad_numbers(drawn(vector_add, 1, 32, one, one, one.copy()))) == {"3%"}


def test_a_marked_line_is_highlighted() -> None:
    one = np.ones(1, np.float32)
    lines = launch(vector_add, 1, 32, one, one, one.copy()).lines
    assert "#FFE8B8" in drawn(vector_add, 1, 32, one, one, one.copy(), marked=[lines[-1].number])
