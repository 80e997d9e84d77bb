"""The ring's model is the algorithm: these are the properties that make it an all-reduce."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from lockstep.errors import UsageError
from lockstep.show import ring
from lockstep.show.ring import simulate

RANKS = range(1, 17)


@pytest.mark.parametrize("ranks", RANKS)
def test_after_k_minus_1_rounds_rank_r_owns_chunk_r_and_in_the_end_everyone_all(ranks: int) -> None:
    steps = simulate(ranks)
    assert len(steps) == 2 * (ranks - 1) + 1
    assert [steps[ranks - 1].complete(r) for r in range(ranks)] == [(r,) for r in range(ranks)]
    assert all(steps[-1].complete(r) == tuple(range(ranks)) for r in range(ranks))


@pytest.mark.parametrize("ranks", RANKS)
def test_in_each_round_every_rank_sends_one_chunk_to_the_right_and_no_sum_counts_twice(ranks: int) -> None:
    for step in simulate(ranks)[:-1]:
        assert [(m.source, m.target) for m in step.moves] == [(r, (r + 1) % ranks) for r in range(ranks)]
        for m in step.moves:
            assert m.contributions == step.held[m.source][m.chunk]
            if m.adds:
                assert not m.contributions & step.held[m.target][m.chunk]
            else:
                assert len(m.contributions) == ranks


def test_four_ranks_after_the_second_round() -> None:
    held = simulate(4)[2].held
    drawn = [" ".join("".join(map(str, sorted(cell))) for cell in row) for row in held]
    assert drawn == ["0 023 03 0", "1 1 013 01", "12 2 2 012", "123 23 3 3"]


@pytest.mark.parametrize("ranks", RANKS)
def test_the_ring_that_does_not_cut_is_right_too_and_sends_as_much_again(ranks: int) -> None:
    steps = simulate(ranks, chunks=1)
    assert len(steps) == ranks
    assert all(steps[-1].complete(r) == (0,) for r in range(ranks))
    for step in steps:
        assert all(not m.contributions & step.held[m.target][0] for m in step.moves)


@pytest.mark.parametrize(("ranks", "chunks"), [(0, None), (17, None), (4, 3), (-1, None)])
def test_what_cannot_be_drawn_is_refused(ranks: int, chunks: int | None) -> None:
    with pytest.raises(UsageError):
        ring(ranks, chunks)


def test_every_frame_shows_its_moves() -> None:
    figure = ring(4)
    for step, frame in zip(figure.steps, figure.frames, strict=True):
        told = " ".join(ElementTree.fromstring(frame).itertext())
        for m in step.moves:
            assert f"rank {m.source} sends chunk {m.chunk} to rank {m.target}" in told
    assert "every rank has the whole sum" in " ".join(ElementTree.fromstring(figure.frames[-1]).itertext())


@pytest.mark.parametrize("ranks", [4, 11])
def test_the_rings_of_other_ranks_are_drawn_ahead(ranks: int) -> None:
    figure = ring(ranks)
    (slider,) = figure.sliders()
    assert slider.stops == [str(k) for k in sorted({*range(1, 9), ranks})]
    sheets = figure.sheets()
    assert tuple(sheets[slider.at].frames) == figure.frames
    assert [len(sheet.frames) for sheet in sheets[:8]] == [2 * k + 1 for k in range(8)]


def test_svg_of_a_step() -> None:
    assert "step 2 of 6" in ring(4).svg(2)
    with pytest.raises(UsageError, match="0 to 6"):
        ring(4).svg(7)
