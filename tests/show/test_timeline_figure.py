"""The timeline's model, its static figure, and what it gives to the browser."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
import torch.distributed as dist
from drawn_traces import ring_trace

from lockstep import run
from lockstep.errors import Deadlock, RankState, UsageError
from lockstep.events import Event, Outcome, Trace, Unequal
from lockstep.show import compared, palette, timeline
from lockstep.show.lanes import PALE, Lanes, collective_calls, describe
from lockstep.show.phases import NAMES, phased
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


# What waits is pale: a message that was posted long before its other end was drawn as if it had travelled all the time


def swap_with_a_straggler() -> None:
    """Rank 1 comes late."""
    r, x = dist.get_rank(), torch.ones(256, 256)
    if r:
        x = x @ x
    dist.send(x, 1) if r == 0 else dist.recv(x, 0)
    dist.all_reduce(x)


def bars(svg: str, opacity: float | None) -> list[tuple[str, float, float]]:
    """(colour, from, to) in pixels of what is drawn with this opacity in the lanes."""
    wanted = None if opacity is None else str(opacity)
    found = []
    for group in parsed(svg).iter():
        if group.find(f"{SVG}title") is not None and group.tag in (f"{SVG}g", f"{SVG}rect"):
            for r in [group] if group.tag == f"{SVG}rect" else group.findall(f"{SVG}rect"):
                if r.get("fill-opacity") == wanted:
                    x, width = float(r.get("x", 0)), float(r.get("width", 0))
                    found.append((r.get("fill", ""), x, x + width))
    return found


def test_a_send_is_pale_until_its_receiver_comes() -> None:
    trace = run(swap_with_a_straggler, ranks=2, on="dgx-a100").trace
    (send,) = trace.of_kind("send")
    assert send.posted < send.start < send.end
    drawn = timeline(trace).svg()
    ((colour, x, until),) = bars(drawn, palette.PALE)
    ((_, start, _),) = [b for b in bars(drawn, None) if b[0] == colour]
    assert colour == palette.colour("send")
    assert until == pytest.approx(start, abs=0.02)
    scale = (until - x) / (send.start - send.posted)
    assert x == pytest.approx(62 + send.posted * scale, abs=0.1)
    assert words(drawn).count(PALE) == 1


def test_an_arrow_leaves_when_its_message_is_under_way() -> None:
    trace = run(swap_with_a_straggler, ranks=2, on="dgx-a100").trace
    (arrow,) = Lanes.of(trace).arrows
    assert arrow.start == trace.events[arrow.send].start


def test_nothing_is_pale_where_nobody_knows_when_messages_begin() -> None:
    """On processes ``start`` is ``posted``; so it is in a trace whose times were moved (``checks.play``)."""
    trace = run(swap_with_a_straggler, ranks=2).trace
    moved = Trace.of([e._replace(posting=e.posted) for e in trace], 2, "processes")
    for known in (trace, moved, ring_trace(4)):
        drawn = timeline(known)
        assert bars(drawn.svg(), palette.PALE) == []
        assert "pale" not in drawn.svg().lower()
        assert columns(drawn.lanes)["pale"] == ""


def test_all_three_times_are_told() -> None:
    e = Event(0, "send", 2e-6, 8e-6, 8, 1, message=0, posting=0.0)
    assert describe(e).endswith("posted at 0 s, under way from 2 µs to 8 µs, 6 µs long")
    assert describe(e._replace(posting=None)).endswith("2 µs to 8 µs, 6 µs long")


def test_what_a_deadlock_left_waiting_is_pale_to_its_end() -> None:
    def stuck() -> None:
        x = torch.ones(100, 100)
        if dist.get_rank():
            x = x @ x
        dist.recv(x, 1 - dist.get_rank())

    with pytest.raises(Deadlock) as caught:
        run(stuck, ranks=2, on="dgx-a100")
    assert caught.value.trace is not None
    (recv,) = [e for e in caught.value.trace.of_kind("recv") if e.rank == 0]
    assert recv.posted < recv.start == recv.end
    assert "posted at" in describe(recv)
    assert "still waiting at" in describe(recv)
    drawn = timeline(caught.value).svg()
    assert [colour for colour, *_ in bars(drawn, palette.PALE)] == [palette.colour("recv")]


@pytest.mark.parametrize("kinds", range(1, 13))
def test_the_legend_of_pale_bars_has_room(kinds: int) -> None:
    waiting = [Event(0, k, 2 * i + 1, 2 * i + 2, posting=2 * i) for i, k in enumerate(palette.KINDS[:kinds])]
    told = {t.text: t for t in parsed(timeline(Trace.of(waiting, 1)).svg()).iter(f"{SVG}text")}
    pale = told.pop(PALE)
    y = pale.get("y")
    right = max((float(t.get("x", 0)) for t in told.values() if t.get("y") == y), default=-100)
    assert right + 100 <= float(pale.get("x", 0)) <= 540 - 14 - 7 * len(PALE)


def test_many_waiting_messages_are_drawn_as_one_pale_path_below_what_is_under_way() -> None:
    """Bars that share the last row of a lane begin in another order than they were posted in; none may be lost."""
    n = 500
    sends = [Event(0, "send", 2 * n - 2 * i, 2 * n - 2 * i + 1, 8, 1, message=i, posting=0.001 * i) for i in range(n)]
    paths = list(parsed(timeline(Trace.of(sends, 2, "virtual")).svg()).iter(f"{SVG}path"))
    pale, full = [p.get("fill-opacity") for p in paths if p.get("fill") == palette.colour("send")]
    assert (pale, full) == (str(palette.PALE), None)
    (path,) = [p for p in paths if p.get("fill") == palette.colour("send") and not p.get("fill-opacity")]
    bars = [(float(x), float(w)) for x, w in re.findall(r"M([\d.]+) [\d.]+h([\d.]+)", path.get("d", ""))]
    assert min(x for x, _ in bars) == pytest.approx(62.9, abs=0.1)
    assert max(x + w for x, w in bars) == pytest.approx(540 - 14, abs=1)
    assert sum(w for _, w in bars) == pytest.approx(540 - 14 - 62, abs=2)


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
    assert "first 240 messages only" in words(drawn.svg()).replace("\N{NO-BREAK SPACE}", " ")
    assert len(columns(drawn.lanes)["arrows"]["send"]) == 8064
    assert len(drawn.html()) < 300_000


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
    data = columns(drawn.lanes)
    assert data["speeds"] == ["", "", "", "0.5×"]
    assert data["notes"] in told


def test_the_lanes_of_equal_ranks_stay_where_they_were() -> None:
    drawn = timeline(ring_trace(4))
    data = columns(drawn.lanes)
    assert (data["left"], data["speeds"], data["notes"]) == (62, [], "")
    assert timeline(replace(ring_trace(4), unequal=UNEQUAL[:3])).lanes.left == 62  # no speed is to be told
    assert "Not all is equal" not in drawn.svg()


def test_many_differences_do_not_fill_the_page() -> None:
    many = tuple(Unequal((r,), "speed", 1 / 3) for r in range(64))
    drawn = timeline(replace(ring_trace(64), unequal=many))
    assert columns(drawn.lanes)["speeds"] == ["0.333×"] * 64
    assert columns(drawn.lanes)["notes"].endswith("and 52 more")


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
    per_event = ("start", "began", "end", "rank", "row", "kind", "nbytes", "peer", "name", "where", "message", "wait")
    assert {len(data[c]) for c in per_event} == {len(trace)}
    i = next(i for i, e in enumerate(trace.events) if e.kind == "send")
    assert data["kinds"][data["kind"][i]] == "send"
    assert data["wheres"][data["where"][i]] == "Cell In[3], line 7, in ring"


def test_a_send_and_a_collective_of_the_same_number_are_not_joined() -> None:
    trace = Trace.of([Event(0, "send", 0, 1, message=3), Event(0, "barrier", 1, 2, message=3)], 1)
    first, second = columns(Lanes.of(trace))["message"]
    assert first != second


def test_the_notebook_keeps_page_picture_and_words() -> None:
    data = timeline(ring_trace(2))._repr_mimebundle_()
    assert set(data) == {"text/plain", "image/svg+xml", "text/html"}
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


# Ranks that are alike, and several runs


def summed(ranks: int, slow: int | None = None, seconds: float = 2.0) -> Trace:
    """Each rank computes, and then all sum; one may take three times as long."""
    took = [3 * seconds if rank == slow else seconds for rank in range(ranks)]
    events = [Event(rank, "compute", 0.0, took[rank], name="mm") for rank in range(ranks)]
    end = max(took) + 1
    events += [Event(r, "all_reduce", max(took), end, 8, message=0, posting=took[r]) for r in range(ranks)]
    return Trace.of(events, ranks, "virtual")


def test_ranks_that_did_the_same_share_a_lane_and_a_button_shows_each() -> None:
    """Eight equal lanes stood below each other."""
    figure = timeline(summed(8, slow=3))
    assert figure.lanes.labels == ("ranks 0–2, 4–7 alike", "rank 3")
    assert figure.caption().startswith("Timeline: 8 ranks")
    assert figure.state()["data"]["ranks"] == 2
    ((name, each),) = figure.state()["views"]
    assert (name, each["ranks"]) == ("Each rank by itself", 8)
    assert timeline(ring_trace(4)).state()["views"] == [], "who sends to whom is the matter"


def test_runs_that_are_compared_have_one_axis() -> None:
    """107 ms and 73 ms filled the same width, each on an axis of its own."""
    runs = {"slow": Outcome([], summed(4, seconds=4.0), 5.0, []), "fast": Outcome([], summed(4), 3.0, [])}
    root = parsed(compared(runs).svg())
    bars = [e for e in root.iter(f"{SVG}rect") if "data-value" in e.attrib]
    ends: dict[str, float] = {}
    for e in bars:
        ends[e.attrib["y"]] = max(ends.get(e.attrib["y"], 0.0), float(e.attrib["x"]) + float(e.attrib["width"]))
    left = min(float(e.attrib["x"]) for e in bars)
    slow, fast = (end - left for end in ends.values())
    assert slow / fast == pytest.approx(5 / 3, rel=0.01)
    assert {"5 s", "3 s", "slow", "fast"} <= {e.text for e in root.iter(f"{SVG}text")}
    assert compared(runs).caption() == "Compared on one axis: slow: 5 s · fast: 3 s"
    with pytest.raises(UsageError, match="nothing to compare"):
        compared({})


def training() -> None:
    model = torch.nn.Linear(64, 64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        model(torch.ones(32, 64)).square().mean().backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()


def test_a_timeline_speaks_of_training_and_of_operations_on_demand() -> None:
    """Bars were called mm, t and native_layer_norm_backward."""
    result = run(training, ranks=2, on="dgx-a100")
    names = [name for _, name in result.memory[0].phases]
    assert names == ["forward", "backward", "update"] * 2
    figure = timeline(result)
    kinds = [e.kind for e in sorted(figure.lanes.trace, key=lambda e: e.start) if e.kind in names]
    assert [kind for i, kind in enumerate(kinds) if kinds[i - 1 : i] != [kind]] == names
    computed = [sum(e.end - e.start for e in t if e.kind != "all_reduce") for t in (phased(result), result.trace)]
    assert computed[0] == pytest.approx(computed[1]), "nothing is lost or counted twice"
    assert list(figure.state()["views"][-1][1]["kinds"]) == ["compute", "all_reduce"]
    assert figure.state()["views"][-1][0] == "Operations"
    assert phased(Outcome([], result.trace, 1.0, [])) is result.trace


def in_micro_batches() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2048, 2048), torch.nn.Linear(2048, 2048))
    for _ in range(2):
        model(torch.ones(512, 2048)).sum().backward()


def test_a_timeline_speaks_of_layers_and_micro_batches() -> None:
    """Forward and backward were one bar each, and a pipeline's micro-batches could not be told apart."""
    figure = timeline(run(in_micro_batches, ranks=1, on="dgx-a100"))
    bars = [(e.kind, e.name) for e in figure.lanes.trace if "layer" in e.name]
    layers = [("forward", 0), ("forward", 1), ("backward", 1), ("backward", 0)]
    assert bars == [(kind, f"layer {n}, micro-batch {k}") for k in range(2) for kind, n in layers]
    assert "layer 1, micro-batch 0" in figure.lanes.describe(figure.lanes.trace.events[-3]) + figure.svg()
    wide = next(e for e in figure.lanes.trace if e.name == "layer 0, micro-batch 1" and e.kind == "backward")
    assert figure.lanes.written(wide) == ("layer 0, micro-batch 1", "layer 0")
    assert ">layer 0, micro" not in figure.svg(), "no bar has room for both"
    data = figure.state()["data"]
    assert [data["passes"][k] for k in data["kind"]] == [kind in NAMES for kind in (e.kind for e in figure.lanes.trace)]
