"""The timeline's model, its static figure, and what it gives to the browser."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from drawn_traces import ring_trace

from lockstep.errors import Deadlock, RankState, UsageError
from lockstep.events import Event, Outcome, Trace, Unequal
from lockstep.show import timeline
from lockstep.show.lanes import Lanes, collective_calls
from lockstep.show.timeline import columns
from lockstep.show.waiting import Waiting

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def words(svg: str) -> str:
    return " ".join(parsed(svg).itertext())


# The model


def test_the_caption_says_ranks_time_messages_and_bytes() -> None:
    assert Lanes.of(ring_trace(4)).caption() == "4 ranks · 86.1 µs of virtual time · 24 messages, 24.6 kB"


def test_measured_time_is_called_so() -> None:
    trace = Trace.of([Event(0, "compute", 0, 2.0)], 1, "processes")
    assert Lanes.of(trace).caption() == "1 rank · 2 s of measured time · 0 messages, 0 bytes"


def test_the_total_time_may_be_longer_than_the_trace() -> None:
    trace = Trace.of([Event(0, "compute", 0, 1.0)], 1, "virtual")
    assert timeline(Outcome([None], trace, 3.0, [0])).lanes.total == 3.0


@pytest.mark.parametrize("joined", [True, False])
def test_a_collective_counts_once_whatever_its_ranks(joined: bool) -> None:
    events = [
        Event(r, "all_reduce", i, i + 1, 100, group=(0, 1, 2), message=i if joined else None)
        for i in range(4)
        for r in range(3)
    ]
    assert collective_calls(events) == (4, 400)


def test_what_goes_on_at_the_same_time_stands_in_rows_of_its_own() -> None:
    trace = Trace.of(
        [
            Event(0, "compute", 0.0, 4.0),
            Event(0, "all_reduce", 1.0, 3.0),
            Event(0, "send", 2.0, 3.5),
            Event(0, "recv", 4.0, 5.0),
        ],
        1,
    )
    assert Lanes.of(trace).rows == (0, 1, 2, 0)


def test_blocking_operations_stand_in_one_row() -> None:
    trace = Trace.of([Event(0, ("compute", "send")[i % 2], i, i + 1) for i in range(6)], 1)
    assert Lanes.of(trace).depth == 1


def test_bars_of_one_row_never_overlap() -> None:
    lanes = Lanes.of(ring_trace(5))
    last: dict[tuple[int, int], float] = {}
    for e, row in zip(lanes.trace.events, lanes.rows, strict=True):
        assert e.start >= last.get((e.rank, row), 0.0)
        last[e.rank, row] = e.end


def test_every_message_has_its_arrow() -> None:
    trace = ring_trace(4)
    arrows = Lanes.of(trace).arrows
    assert len(arrows) == trace.sent().number
    for a in arrows:
        assert trace.events[a.send].message == trace.events[a.recv].message
        assert a.target == (a.source + 1) % 4
        assert trace.events[a.send].start <= a.start <= a.end == trace.events[a.recv].end


def test_an_arrow_leaves_when_both_are_there() -> None:
    waiting_send = [Event(0, "send", 0, 5, 8, 1, message=1), Event(1, "recv", 4, 5, 8, 0, message=1)]
    eager_send = [Event(0, "send", 0, 1, 8, 1, message=1), Event(1, "recv", 4, 5, 8, 0, message=1)]
    assert [Lanes.of(Trace.of(e, 2)).arrows[0].start for e in (waiting_send, eager_send)] == [4, 1]


def test_a_message_without_its_other_end_has_no_arrow() -> None:
    trace = Trace.of([Event(0, "send", 0, 1, 8, 1, message=1), Event(1, "recv", 0, 1, 8, 0)], 2)
    assert Lanes.of(trace).arrows == ()


# What may be drawn


def test_a_run_that_recorded_nothing() -> None:
    drawn = timeline(Trace(ranks=2, world="virtual"))
    assert "2 ranks · nothing was recorded" in words(drawn.svg())


def test_instant_events_stay_visible() -> None:
    drawn = timeline(Trace.of([Event(0, "barrier", 0, 0), Event(0, "compute", 0, 0)], 1)).svg()
    bars = [r for r in parsed(drawn).iter(f"{SVG}rect") if r.find(f"{SVG}title") is not None]
    assert len(bars) == 2
    assert all(float(r.get("width", 0)) >= 1 for r in bars)


def test_64_ranks_with_8064_messages_stay_small() -> None:
    trace = ring_trace(64)
    assert trace.sent().number == 8064
    drawn = timeline(trace)
    assert len(drawn.svg()) < 500_000
    assert "8,064 messages" in words(drawn.svg())
    assert "first 240 messages only" in words(drawn.svg())
    assert len(drawn.data["arrows"]["send"]) == 8064


# Unequal ranks

UNEQUAL = (
    Unequal((0, 1), "bandwidth", 1e9),
    Unequal((0, 1), "latency", 2e-5),
    Unequal((3,), "memory", 40e9),
    Unequal((3,), "speed", 0.5),
    Unequal((), "compute jitter", 0.1),
)


def test_a_slow_rank_is_named_at_its_lane_and_a_slow_link_in_the_legend() -> None:
    drawn = timeline(replace(ring_trace(4), unequal=UNEQUAL))
    told = words(drawn.svg()).replace("\N{NO-BREAK SPACE}", " ")
    assert "link 0–1: 1 GB/s, latency 20 µs · rank 3: 40 GB of memory, 0.5× speed · computing varies by 0.1" in told
    lanes = {label.text: float(label.get("y", 0)) for label in parsed(drawn.svg()).iter(f"{SVG}text")}
    assert lanes["0.5×"] == lanes["rank 3"]
    assert drawn.data["speeds"] == ["", "", "", "0.5×"]
    assert drawn.data["notes"] in told


def test_the_lanes_of_equal_ranks_stay_where_they_were() -> None:
    drawn = timeline(ring_trace(4))
    assert (drawn.data["left"], drawn.data["speeds"], drawn.data["notes"]) == (62, [], "")
    assert timeline(replace(ring_trace(4), unequal=UNEQUAL[:3])).data["left"] == 62  # no speed is to be told
    assert "Not all is equal" not in drawn.svg()


def test_many_differences_do_not_fill_the_page() -> None:
    many = tuple(Unequal((r,), "speed", 1 / 3) for r in range(64))
    drawn = timeline(replace(ring_trace(64), unequal=many))
    assert drawn.data["speeds"] == ["0.333×"] * 64
    assert drawn.data["notes"].endswith("and 52 more")


def test_anything_else_is_refused() -> None:
    with pytest.raises(UsageError, match="not a list"):
        timeline([1, 2, 3])  # type: ignore[arg-type]


@pytest.mark.parametrize("unequal", [(), UNEQUAL])
@pytest.mark.parametrize("ranks", [1, 2, 64])
def test_the_static_figure_is_named_described_and_inside_its_frame(ranks: int, unequal: tuple[Unequal, ...]) -> None:
    root = parsed(timeline(replace(ring_trace(ranks), unequal=unequal)).svg())
    labels = root.get("aria-labelledby", "").split()
    assert [e.get("id") for e in (root.find(f"{SVG}title"), root.find(f"{SVG}desc")) if e is not None] == labels
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for rect in root.iter(f"{SVG}rect"):
        assert float(rect.get("x", 0)) + float(rect.get("width", 0)) <= width + 2
        assert float(rect.get("y", 0)) + float(rect.get("height", 0)) <= height + 0.01
    assert all(float(text.get("y", 0)) <= height - 4 for text in root.iter(f"{SVG}text"))


def test_names_from_the_learner_cannot_break_out() -> None:
    nasty = '</svg><script>alert("&")</script>'
    drawn = timeline(Trace.of([Event(0, "compute", 0, 1, name=nasty, where=nasty)], 1))
    assert "<script" not in drawn.svg()
    assert nasty in words(drawn.svg())


# The browser's part


def test_columns_are_plain_data_of_equal_length() -> None:
    trace = ring_trace(3)
    data = json.loads(json.dumps(columns(Lanes.of(trace))))
    per_event = ("start", "end", "rank", "row", "kind", "nbytes", "peer", "name", "where", "message", "wait")
    assert {len(data[c]) for c in per_event} == {len(trace)}
    i = next(i for i, e in enumerate(trace.events) if e.kind == "send")
    assert data["kinds"][data["kind"][i]] == "send"
    assert data["wheres"][data["where"][i]] == "Cell In[3], line 7, in ring"


def test_a_send_and_a_collective_of_the_same_number_are_not_joined() -> None:
    trace = Trace.of([Event(0, "send", 0, 1, message=3), Event(0, "barrier", 1, 2, message=3)], 1)
    first, second = columns(Lanes.of(trace))["message"]
    assert first != second


def test_the_notebook_keeps_widget_picture_and_words() -> None:
    data, _ = timeline(ring_trace(2))._repr_mimebundle_()
    assert set(data) == {"text/plain", "image/svg+xml", "application/vnd.jupyter.widget-view+json"}
    assert data["text/plain"].startswith("Timeline: 2 ranks")
    parsed(data["image/svg+xml"])


# Errors


def deadlock(ranks: int, trace: Trace | None = None) -> Deadlock:
    states = [
        RankState(
            r, "waiting", f"send(dst={(r + 1) % ranks})", "Cell In[6], line 4", "dist.send(x, 1)", ((r + 1) % ranks,)
        )
        for r in range(ranks)
    ]
    return Deadlock("A circle.", states, trace)


def test_a_deadlock_shows_its_circle_each_operation_and_each_line() -> None:
    told = words(timeline(deadlock(4)).svg())
    assert "The circle of waits: rank 0 → 1 → 2 → 3 → 0" in told
    for r in range(4):
        assert f"rank {r} waits in send(dst={(r + 1) % 4}), for rank {(r + 1) % 4}" in told
    assert "Cell In[6], line 4: dist.send(x, 1)" in told


def test_a_deadlock_with_a_trace_shows_both() -> None:
    told = words(timeline(deadlock(2, ring_trace(2))).svg())
    assert "The circle of waits" in told
    assert "4 messages" in told


def test_a_circle_of_64_ranks_is_shortened() -> None:
    svg = timeline(deadlock(64)).svg()
    assert "… and 52 more ranks" in words(svg)
    assert len(svg) < 100_000


def test_those_who_raised_stand_first_where_there_is_no_circle() -> None:
    waits = Waiting.of(
        [RankState(0, "waiting", "recv(src=1)", waits_for=(1,)), RankState(1, "raised", detail="ValueError: x")]
    )
    assert [s.rank for s in waits.states] == [1, 0]
    assert waits.sentence() == "1 of 2 ranks wait for communication"


def test_no_script_asks_for_the_network() -> None:
    import lockstep.show

    folder = Path(lockstep.show.__file__).parent
    sources = [f.read_text() for f in [*folder.glob("*.js"), *folder.glob("*.css")]]
    assert len(sources) >= 7
    for text in sources:
        assert "import " not in text.split("*/")[-1]
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
