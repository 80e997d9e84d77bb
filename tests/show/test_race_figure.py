"""The figure of the race: every setting, every number, one scale."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from lockstep.errors import UsageError
from lockstep.experiments.without_waiting.race import LINKS, METHODS, STRAGGLERS
from lockstep.show import quantities, race
from lockstep.show.race_results import recorded

RACES = recorded()


def test_the_sliders_choose_among_all_recorded_settings() -> None:
    figure = race(straggler=16, link="fast")
    straggler, link = figure.sliders()
    assert [len(straggler.stops), len(link.stops)] == [len(STRAGGLERS), len(LINKS)]
    assert (straggler.stops[straggler.at], link.stops[link.at]) == ("16 × as slow", "fast")
    sheets = figure.sheets()
    assert len(sheets) == len(RACES)
    assert sheets[straggler.at * len(LINKS) + link.at].frames[0] == figure.svg()


def test_a_drawing_has_every_number() -> None:
    for one, sheet in zip(RACES, race().sheets(), strict=True):
        for a in one.arrivals:
            assert a.seconds is not None
            for name, told in (
                ("time", quantities.seconds(a.seconds)),
                ("sent by all ranks", quantities.nbytes(a.nbytes)),
                ("updates", f"{a.updates:,}"),
            ):
                assert f"<title>{a.method}, {name}: {told}</title>" in sheet.frames[0]


def test_a_number_stands_at_the_same_place_in_every_setting() -> None:
    """The synchronous updates are the same in all of them."""
    places = [
        re.search(r'<circle cx="([\d.]+)"[^>]*><title>synchronous, updates', s.frames[0]) for s in race().sheets()
    ]
    assert len({place[1] for place in places if place}) == 1
    assert all(places)


def test_nothing_leaves_its_panel() -> None:
    for sheet in race().sheets():
        assert all(150 <= float(x) <= 540 for x in re.findall(r'<circle cx="([\d.]+)"', sheet.frames[0]))


def test_who_is_equal_is_told_together() -> None:
    """Without a straggler nobody is ever three steps ahead."""
    words = race(straggler=1, link="fast").caption()
    assert "first: server, bound 3 and server, asynchronous, 29.4 ms" in words


def test_a_method_that_was_not_there_says_how_far_it_came() -> None:
    late = replace(RACES[0].arrivals[0], seconds=None, loss=0.31, updates=400)
    figure = race(replace(RACES[0], arrivals=[late, *RACES[0].arrivals[1:]]))
    assert "not reached: 0.31 after 400 updates" in figure.svg()
    assert f"Not reached by {METHODS[0].name}: 0.31 after 400 updates." in figure.caption()
    assert figure.sliders() == ()


def test_a_grid_with_a_hole_is_refused() -> None:
    with pytest.raises(UsageError, match="each straggler on each link"):
        race(RACES[:-1])
    with pytest.raises(UsageError, match="is recorded"):
        race(straggler=5)
