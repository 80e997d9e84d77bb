"""The X-ray says who is in each cell, in form and in words, and nothing where nothing is certain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import dye_programs as programs
import pytest

from lockstep.collectives import halving_doubling_all_reduce, ring_all_reduce, tree_broadcast
from lockstep.dye import Dyed, Part, Wanted, dye, tensor_of, told, total
from lockstep.errors import UsageError
from lockstep.show import palette, xray
from lockstep.show.xray import PARTIAL, RIGHT, STRANGE, lanes
from lockstep.show.xray_model import frames


def made_of(*rows: list[list[tuple[int, int, int]]], alone: float = 0.0) -> Dyed:
    """``rows[rank][element]``: (rank, element, times)."""
    drawn = tuple(tuple(tuple(Part(*p) for p in cell) for cell in row) for row in rows)
    nobody = tuple((alone,) * len(row) for row in rows)
    return Dyed(tuple(range(len(rows))), len(rows[0]), "float64", rows=drawn, alone=nobody)


def slots(dyed: Dyed, wanted: Wanted | None = None) -> list[list[list[tuple[str, str]]]]:
    """(state, label) of each slot, by band, then by rank."""
    bands = frames(dyed, wanted)[-1].bands
    return [[[(s.state, s.label) for s in cell.slots] for cell in band.cells if cell] for band in bands]


def words(svg: str) -> str:
    return " ".join(ElementTree.fromstring(svg).itertext())


def test_each_slot_says_what_is_there_and_what_is_not() -> None:
    held: Any = [[(0, 0, 1), (1, 0, 1)]], [[(1, 0, 2)]]
    dyed = made_of(*held)
    assert slots(dyed, total(dyed)) == [[[("in", "0"), ("in", "1")], [("missing", "0"), ("strange", "1×2")]]]
    assert slots(dyed) == [[[("in", "0"), ("in", "1")], [("absent", "0"), ("in", "1×2")]]]
    assert slots(dyed, tensor_of(dyed, 0))[0][0] == [("in", "0"), ("strange", "1")]


def test_another_element_is_named() -> None:
    dyed = made_of([[(0, 1, 1)], [(0, 0, -1)]])
    assert slots(dyed, total(dyed)) == [[[("strange", "0[1]")]], [[("strange", "0[0]×\N{MINUS SIGN}1")]]]


def test_neighbours_that_hold_the_same_are_one_band() -> None:
    dyed = dye(ring_all_reduce, ranks=3, elements=8)
    assert [band.label for band in frames(dyed, total(dyed))[0].bands] == ["0–7"]
    scattered = dye(programs.Ring(mistake="scatters"), ranks=3, elements=8)
    assert [band.label for band in frames(scattered, None)[0].bands] == ["0–2", "3–5", "6–7"]
    shorter = dye(programs.scatters, ranks=3, elements=7)
    assert [[cell is not None for cell in band.cells] for band in frames(shorter, None)[0].bands] == [
        [True, True, True], [True, False, False],
    ]  # fmt: skip


def test_the_figure_tells_each_cell_and_each_message() -> None:
    dyed = dye(programs.Ring(mistake="forgets"), ranks=4, steps=True)
    figure = xray(dyed, total(dyed), told(dyed, total(dyed)))
    assert len(figure.frames) == 6
    assert "rank 0, elements 4–5: of ranks 0, 2, 3; rank 1 missing" in words(figure.svg())
    assert "rank 1 is missing" in figure.caption()
    assert "after 5 rounds" in words(figure.svg())
    first = words(figure.svg(0))
    assert "before round 1 of 5" in first
    assert "rank 3 sends elements 6, 7 to rank 0" in first
    assert "rank 1 is missing" not in first


def test_every_frame_is_a_figure_of_one_size() -> None:
    """So that nothing jumps when the slider is moved."""
    dyed = dye(programs.Ring(mistake="adds"), ranks=8, steps=True)
    figure = xray(dyed, total(dyed), told(dyed, total(dyed)))
    assert len({ElementTree.fromstring(frame).get("viewBox") for frame in figure.frames}) == 1


def test_what_came_from_nobody_is_written_into_the_cell() -> None:
    dyed = dye(programs.plus_two_and_a_half, ranks=3)
    assert "+2.5 from nobody" in words(xray(dyed, total(dyed)).svg())


def test_in_a_subgroup_both_numbers_of_a_rank_are_told() -> None:
    dyed = dye(programs.sums_in_place, ranks=4, group=(1, 3))
    assert "rank 1 (world 3)" in words(xray(dyed).svg())


def test_messages_that_would_lie_on_each_other_have_lanes() -> None:
    dyed = dye(halving_doubling_all_reduce, ranks=4, steps=True)
    frame = frames(dyed, None)[0]
    assert [[move[:2] for move in lane] for lane in lanes(frame, frame.bands[0])] == [[(2, 0)], [(3, 1)]]


def test_colours_differ_for_everyone_and_labels_can_be_read_on_them() -> None:
    """Which are kept apart is tested with the palette; here, that these are of it, and their labels have contrast."""
    assert {PARTIAL, RIGHT, STRANGE} <= set(palette.COLOURS.values())
    for colour in (PARTIAL, RIGHT, STRANGE):
        bright, dark = sorted((palette.luminance(colour), palette.luminance(palette.text_on(colour))), reverse=True)
        assert (bright + 0.05) / (dark + 0.05) >= 3


def test_what_is_not_known_of_a_step_is_left_empty() -> None:
    dyed = dye(halving_doubling_all_reduce, ranks=2, steps=True)
    first, *others = dyed.steps
    dyed = replace(dyed, steps=(first._replace(rows=(None, first.rows[1])), *others))
    figure = xray(dyed, total(dyed))
    assert "rank 0, elements" not in words(figure.svg(0))
    assert "rank 1, elements 0–3: of rank 1; rank 0 missing" in words(figure.svg(0))


def test_without_certainty_there_is_no_picture() -> None:
    for fn in (programs.maximum, programs.gives_up):
        with pytest.raises(UsageError, match="not certain"):
            xray(dye(fn, ranks=2))


def test_too_many_ranks_for_a_page_are_refused() -> None:
    with pytest.raises(UsageError, match="at most 9"):
        xray(made_of(*[[[]]] * 10))


def test_a_step_that_there_is_not_is_refused() -> None:
    dyed = dye(tree_broadcast, ranks=4, extra=(0,), steps=True)
    figure = xray(dyed, tensor_of(dyed, 0))
    assert figure.svg() == figure.svg(2)
    with pytest.raises(UsageError, match="0 to 2"):
        figure.svg(3)


def test_one_rank_alone_is_drawn_too() -> None:
    dyed = dye(ring_all_reduce, ranks=1, steps=True)
    assert "rank 0, elements 0–7: of rank 0" in words(xray(dyed, total(dyed)).svg())
