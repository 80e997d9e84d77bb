"""The map of SGD: five levels from fine to coarse, and the grain that its lanes show."""

from __future__ import annotations

from xml.etree import ElementTree

from lockstep.show import sgd_map
from lockstep.show.sgd_map import LEVELS, SPAN

SVG = "{http://www.w3.org/2000/svg}"


def test_from_fine_to_coarse_the_workers_meet_less_often() -> None:
    meetings = [len(level.meetings) for level in LEVELS]
    assert [x.name for x in LEVELS][:2] == ["inside one gradient", "across the minibatch"]
    assert meetings[0] > meetings[1] > meetings[2] == meetings[3] == 0
    assert LEVELS[-1].meetings == (1.0,)


def test_every_lane_is_within_the_time_and_in_order() -> None:
    for level in LEVELS:
        assert len(level.blocks) == 4
        for ends in level.blocks:
            assert list(ends) == sorted(ends)
            assert 0 < ends[0] <= ends[-1] <= 1
        assert set(level.meetings) <= set(level.blocks[0])  # all stop where they meet


def test_it_is_drawn_and_told() -> None:
    picture = sgd_map()
    root = ElementTree.fromstring(picture.svg())
    told = ["".join(e.itertext()) for e in root.iter(f"{SVG}text")]
    for level in LEVELS:
        assert level.name in told
        assert f"suits {level.hardware}" in told
        assert level.name in picture.caption()
    blocks = [e for e in root.iter(f"{SVG}rect") if "data-value" in e.attrib]
    assert len(blocks) == sum(len(ends) for level in LEVELS for ends in level.blocks)
    assert all(float(e.get("width", 0)) <= SPAN for e in blocks)
