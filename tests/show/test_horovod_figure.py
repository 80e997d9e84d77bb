"""Horovod's timeline, drawn: tensors for ranks, phases for kinds, and what was fused joined."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from lockstep import show
from lockstep.errors import UsageError
from lockstep.experiments.horovod.recorded import recording
from lockstep.show import palette
from lockstep.show.horovod import READY, Tensors, tensors
from lockstep.show.timeline import columns
from lockstep.with_horovod.timeline import Timeline, fused_tensors, readiness, spans

SVG = "{http://www.w3.org/2000/svg}"
RECORDED: dict[str, Timeline] = recording("timelines").value


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    return ["".join(text.itertext()) for text in parsed(svg).iter(f"{SVG}text")]


def kinds(lanes: Tensors) -> set[str]:
    return {event.kind for event in lanes.trace}


@pytest.mark.parametrize("name", RECORDED)
def test_each_tensor_has_a_lane_and_each_phase_a_bar(name: str) -> None:
    lanes = tensors(RECORDED[name])
    assert set(lanes.tensors) == {span.tensor for span in spans(RECORDED[name])}
    drawn = sorted((lanes.tensors[e.rank], e.kind) for e in lanes.trace if e.kind != READY)
    assert drawn == sorted((span.tensor, span.phase) for span in spans(RECORDED[name]))
    ticks = sorted((lanes.tensors[e.rank], e.where) for e in lanes.trace if e.kind == READY)
    assert ticks == sorted((one.tensor, f"rank {one.rank}") for one in readiness(RECORDED[name]))
    figure = show.horovod(RECORDED[name])
    assert set(lanes.labels) <= set(texts(figure.svg()))
    assert figure.state()["data"]["labels"] == lanes.labels


@pytest.mark.parametrize("name", RECORDED)
def test_bars_of_one_row_never_overlap(name: str) -> None:
    lanes = tensors(RECORDED[name])
    last: dict[tuple[int, int], float] = {}
    for e, row in zip(lanes.trace.events, lanes.rows, strict=True):
        assert e.start >= last.get((e.rank, row), 0.0) - 1e-9
        last[e.rank, row] = e.end


def test_what_was_fused_is_joined_and_nothing_else() -> None:
    lanes = tensors(RECORDED["late tensors"])
    joined = [sorted(lanes.tensors[lane] for lane in join.lanes) for join in lanes.joins]
    assert joined == [names for names in fused_tensors(RECORDED["late tensors"]) if len(names) > 1]
    svg = parsed(show.horovod(RECORDED["late tensors"]).svg())
    assert len(list(svg.iter(f"{SVG}circle"))) == sum(map(len, joined)) == 4
    assert not list(parsed(show.horovod(RECORDED["unfused"]).svg()).iter(f"{SVG}circle"))


def test_bars_of_one_operation_are_shown_together_and_say_so() -> None:
    lanes = tensors(RECORDED["fused"])
    data = columns(lanes)
    first = [i for i, e in enumerate(lanes.trace) if e.message == 0 and e.kind == "GLOO_ALLREDUCE"]
    assert len({data["message"][i] for i in first}) == 1
    assert len(first) == 4
    others = lanes.describe(lanes.trace.events[first[0]])
    assert others.startswith(f"{lanes.tensors[lanes.trace.events[first[0]].rank]}: GLOO_ALLREDUCE · together with")
    assert len({m for m, k in zip(data["message"], data["kind"], strict=True) if data["kinds"][k] == READY}) == 1


def test_the_notes_say_what_came_from_the_cache() -> None:
    told = "negotiated without a rank ready: from the cache"
    assert told in show.horovod(RECORDED["fused"]).lanes.notes
    assert told not in show.horovod(RECORDED["unfused"]).lanes.notes


def test_the_caption_counts_operations_tensors_and_cycles() -> None:
    caption = show.horovod(RECORDED["late tensors"]).caption()
    assert caption.startswith("Horovod's timeline: 5 tensors · ")
    assert caption.endswith(" · 8 ALLREDUCE carried 10 tensors · 16 cycles")
    assert "cycle" not in show.horovod(RECORDED["fused"]).caption()


@pytest.mark.parametrize("name", RECORDED)
def test_phases_that_may_stand_side_by_side_have_colours_of_their_own(name: str) -> None:
    """But those of other operations that do the same: GLOO_BCAST looks like GLOO_ALLREDUCE."""
    found = kinds(tensors(RECORDED[name]))
    assert found <= set(palette.HOROVOD)
    inside = {kind for kind in found if not kind.startswith(("NEGOTIATE_", "GLOO_", "MPI_"))}
    assert len({palette.colour(kind) for kind in inside}) == len(inside)


def test_a_long_name_keeps_its_end_and_the_lanes_keep_room() -> None:
    long = "DistributedOptimizer.encoder.layers.11.attention.weight"
    renamed = [
        e | {"args": {"name": long}} if e.get("name") == "process_name" and e["pid"] == 1 else e
        for e in RECORDED["unfused"]
    ]
    lanes = tensors(renamed)
    assert lanes.labels[0] == "…ayers.11.attention.weight"
    assert lanes.labelled < 210
    assert any(lanes.describe(e).startswith(long) for e in lanes.trace)


def test_a_run_is_drawn_by_its_timeline_and_a_negotiation_that_never_ended_too() -> None:
    cut = [e for e in RECORDED["unfused"] if e["ph"] not in "E"]
    lanes = show.horovod(SimpleNamespace(timeline=cut)).lanes
    assert any("the timeline ends before it does" in lanes.describe(e) for e in lanes.trace)


@pytest.mark.parametrize(("given", "told"), [([], "no tensor"), (3, "not a int"), ([1], "not a list")])
def test_what_is_no_timeline_is_said_to_be_none(given: object, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        show.horovod(given)


def test_labels_of_many_tensors_do_not_lie_above_each_other() -> None:
    timeline: Timeline = []
    for pid in range(1, 61):
        timeline += [
            {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": f"allreduce.{pid}"}},
            {"ph": "B", "name": "ALLREDUCE", "pid": pid, "ts": pid},
        ]
    timeline += [{"ph": "E", "pid": pid, "ts": 100} for pid in range(1, 61)]
    labels = [t for t in parsed(show.horovod(timeline).svg()).iter(f"{SVG}text") if "allreduce." in str(t.text)]
    heights = [float(t.get("y", 0)) for t in labels]
    assert min(b - a for a, b in pairwise(heights)) >= 12
