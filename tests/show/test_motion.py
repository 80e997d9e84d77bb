"""What is stepped and played: a clock's stops, what lasts from when to when, and that nothing moves by itself."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from xml.etree import ElementTree

import pytest

from lockstep import show
from lockstep.errors import UsageError
from lockstep.events import Event, Outcome, Trace
from lockstep.experiments.mixture_of_experts import travelling
from lockstep.pipeline.simulate import Times
from lockstep.show import motion
from lockstep.show.cache_walk import walk
from lockstep.show.tokens_to_experts import Sheet as Tokens
from lockstep.show.tokens_to_experts import Token, caption

SVG = "{http://www.w3.org/2000/svg}"


def test_a_clock_stops_where_something_ends() -> None:
    assert motion.moments([3, 1, 1, 7], total=8) == (0, 1, 3, 7, 8)
    spread = motion.moments(range(1000), total=1000)
    assert len(spread) == motion.MOST + 1
    assert (spread[0], spread[-1]) == (0, 1000)


@pytest.mark.parametrize("name", ["gpipe", "one_f_one_b", "pipedream", "interleaved"])
def test_a_pipeline_fills_and_drains_as_its_passes_last(name: str) -> None:
    figure = show.pipeline(name, stages=3, micro_batches=3, times=Times.equal())
    parts = [e for e in ElementTree.fromstring(figure.svg()).iter(f"{SVG}g") if e.get("data-from")]
    drawn = sorted((float(e.get("data-from", "")), float(e.get("data-to", ""))) for e in parts)
    assert drawn == pytest.approx(sorted((bar.start, bar.end) for bar in figure.model.bars))
    for sheet in figure.sheets():
        assert len(sheet.captions) == len(sheet.moments) > 1
        assert len(sheet.frames) == 1


def test_each_slot_says_who_works_and_who_waits() -> None:
    figure = show.pipeline("gpipe", stages=3, micro_batches=3, times=Times.equal())
    assert figure.captions[2] == "Until 2: stage 0 Forward(1); stage 1 Forward(0); 1 of 3 wait."
    assert figure.captions[-1] == figure.model.words()


def test_tokens_arrive_as_often_as_the_gate_has_chosen() -> None:
    found = travelling.routed(ranks=4, tokens=6, factor=1.0)
    assert len(found) == 24
    per_expert = Counter(token.expert for token in found if token.kept)
    assert per_expert == {expert: load for expert, load in enumerate(Tokens(found).loads) if load}
    assert max(Counter((t.rank, t.expert) for t in found if t.kept).values()) <= 2  # ceil(6/4) places for each rank


def test_what_a_step_of_the_tokens_says() -> None:
    sheet = Tokens([Token(0, 0, 1), Token(0, 1, 0), Token(1, 0, 1), Token(1, 1, 1, kept=False)])
    assert caption(sheet, 1) == (
        "Dispatch: an all-to-all. The experts get 1, 2 rows. 2 of 3 stay on their rank. "
        "1 token has no place at a full expert."
    )
    with pytest.raises(UsageError, match="no tokens"):
        show.tokens_to_experts([])
    with pytest.raises(UsageError, match="room for 8 ranks"):
        show.tokens_to_experts([Token(0, 0, 8)])


def test_a_walk_down_columns_finds_no_line_and_one_along_rows_seven_of_eight() -> None:
    by_rows, by_columns = walk("by rows"), walk("by columns")
    assert (by_rows[-1].misses, by_columns[-1].misses) == (8, 64)
    assert [step.hit for step in by_rows[:9]] == [False, *[True] * 7, False]
    figure = show.cache_walk()
    assert figure.caption().endswith("8 misses in 64 accesses.")


def test_a_line_moves_as_often_as_its_accesses_say() -> None:
    """Two workers write side by side, in turns: the line is the other core's before every write but the first."""
    accesses = [(64 + 8 * worker, True, worker, 1) for worker in (0, 1) for _ in range(3)]
    figure = show.lines([(64, 0), (72, 1)], 5, 2, accesses)
    assert len(figure.frames) == 7
    assert figure.captions[0] == "Worker 0 writes bytes 0 to 7: its core has what it needs. 0 moves so far."
    assert (
        figure.captions[5] == "Worker 1 writes bytes 8 to 15: its core gets the line from another one. 5 moves so far."
    )
    assert "moved from core to core 5 times" in figure.caption()


def test_buckets_travel_while_earlier_layers_compute() -> None:
    events = [Event(0, "compute", 0, 2), Event(0, "all_reduce", 2, 5), Event(0, "compute", 2, 4)]
    events += [Event(0, "all_reduce", 5, 8, posting=4)]
    figure = show.buckets(Outcome([None], Trace.of(events, 1), 8.0, [0]))
    assert figure.moments == (0, 2, 4, 5, 8)
    assert figure.captions[2] == "4 s: the rank computes what fills bucket 2; bucket 1 travels; 0 of 2 are summed."
    assert "the step waits for the last 4 s" in figure.caption()
    with pytest.raises(UsageError, match="no all-reduce"):
        show.buckets(Outcome([None], Trace.of(events[:1], 1), 8.0, [0]))


def test_what_came_is_hidden_while_a_drawing_stands_still() -> None:
    frames = show.ring(3).frames
    moved = [[e for e in ElementTree.fromstring(f).iter(f"{SVG}g") if e.get("class") == "ls-come"] for f in frames]
    assert [len(parts) for parts in moved] == [0, 3, 3, 3, 3]
    assert {e.get("opacity") for parts in moved for e in parts} == {"0"}


def test_no_figure_moves_by_itself() -> None:
    """Marching arrows ran for ever in the ring, before anybody had pressed a button."""
    folder = files("lockstep.show")
    assert "infinite" not in folder.joinpath("figures.css").read_text(encoding="utf-8")
    scripts = {f.name: f.read_text(encoding="utf-8") for f in folder.iterdir() if f.name.endswith(".js")}
    assert [name for name, text in scripts.items() if "setInterval" in text] == ["controls.js"]
