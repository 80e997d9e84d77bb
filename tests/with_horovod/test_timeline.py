"""Horovod's timeline as a file and as a list: what it holds, also where it was cut off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lockstep.experiments.horovod.recorded import recording
from lockstep.with_horovod.timeline import (
    Counts,
    Ready,
    Span,
    Timeline,
    counts,
    cycles,
    fused_tensors,
    operations,
    read,
    readiness,
    spans,
)

RECORDED: dict[str, Timeline] = recording("timelines").value


def row(pid: int, name: str) -> dict[str, object]:
    return {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}


def begin(pid: int, name: str, ts: int) -> dict[str, object]:
    return {"ph": "B", "name": name, "pid": pid, "ts": ts}


def end(pid: int, ts: int, **args: str) -> dict[str, object]:
    return {"ph": "E", "pid": pid, "ts": ts} | ({"args": args} if args else {})


START = {"ph": "M", "name": "process_name", "pid": 0, "args": {"start_time_since_epoch_in_micros": 1}}
TWO: Timeline = [
    START,
    row(1, "allreduce.a"),
    begin(1, "NEGOTIATE_ALLREDUCE", 10),
    {"ph": "X", "name": "0", "pid": 1, "ts": 11, "dur": 0},
    {"ph": "X", "name": "1", "pid": 1, "ts": 12, "dur": 0},
    end(1, 13),
    begin(1, "ALLREDUCE", 20),
    begin(1, "GLOO_ALLREDUCE", 21),
    end(1, 29),
    end(1, 30, dtype="float32", shape="[2, 3]"),
    {"ph": "i", "name": "CYCLE_START", "ts": 31, "s": "g"},
]


# The file


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps(TWO))
    assert read(tmp_path / "t.json") == TWO


@pytest.mark.parametrize("cut", [1, 2, 20, 60])
def test_a_file_that_was_cut_off_loses_no_whole_event(tmp_path: Path, cut: int) -> None:
    written = "[\n" + ",\n".join(map(json.dumps, TWO)) + "]"
    (tmp_path / "t.json").write_text(written[:-cut])
    found = read(tmp_path / "t.json")
    assert found == TWO[: len(found)]
    assert len(found) >= len(TWO) - (cut + 49) // 50


def test_a_file_that_was_cut_off_before_the_first_event_is_empty(tmp_path: Path) -> None:
    for text in ("", "[\n", '[\n{"ph'):
        (tmp_path / "t.json").write_text(text)
        assert read(tmp_path / "t.json") == []


def test_a_file_that_is_no_timeline_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{"traceEvents": []}')
    with pytest.raises(ValueError, match=r"t\.json is no timeline"):
        read(tmp_path / "t.json")


# What it holds


def test_spans_are_nested_and_have_bytes_where_horovod_says_the_shape() -> None:
    assert spans(TWO) == [
        Span("allreduce.a", "NEGOTIATE_ALLREDUCE", 10e-6, 13e-6),
        Span("allreduce.a", "ALLREDUCE", 20e-6, 30e-6, 0, 24),
        Span("allreduce.a", "GLOO_ALLREDUCE", 21e-6, 29e-6, 1),
    ]
    assert readiness(TWO) == [Ready("allreduce.a", 0, 11e-6), Ready("allreduce.a", 1, 12e-6)]
    assert counts(TWO) == Counts({"ALLREDUCE": 1}, {"ALLREDUCE": 1}, 24, 1)
    assert cycles(TWO) == [31e-6]


def test_what_has_not_ended_lasts_until_the_timeline_does() -> None:
    """A tensor that one rank never reduced: its negotiation has no end, and it is what one wants to see."""
    negotiating, *others = spans(TWO[:5])
    assert negotiating == Span("allreduce.a", "NEGOTIATE_ALLREDUCE", 10e-6, 12e-6, ended=False)
    assert not others


def test_a_barrier_has_one_end_too_many_and_that_ends_nothing() -> None:
    """Horovod 0.28.1 writes no beginning of a barrier's operation, but its end."""
    timeline = [row(1, "barrier.noname"), begin(1, "NEGOTIATE_BARRIER", 1), end(1, 2), end(1, 3)]
    assert spans(timeline) == [Span("barrier.noname", "NEGOTIATE_BARRIER", 1e-6, 2e-6)]
    assert operations(timeline) == []


def test_operations_that_touch_are_two() -> None:
    a, b = row(1, "a"), row(2, "b")
    apart = [a, b, begin(1, "ALLREDUCE", 1), end(1, 5), begin(2, "ALLREDUCE", 5), end(2, 6)]
    together = [a, b, begin(1, "ALLREDUCE", 1), begin(2, "ALLREDUCE", 4), end(1, 5), end(2, 6)]
    assert (fused_tensors(apart), fused_tensors(together)) == ([["a"], ["b"]], [["a", "b"]])


@pytest.mark.parametrize("name", RECORDED)
def test_in_real_timelines_an_operations_tensors_are_all_under_way_at_once(name: str) -> None:
    """The rule that the exercise rests on: within an operation all begin before any ends, and operations never
    overlap. It held in 98 timelines with 2,408 operations, recorded under load on 23 November 2026."""
    timeline = RECORDED[name]
    assert [e["ts"] for e in timeline if "ts" in e] == sorted(e["ts"] for e in timeline if "ts" in e)
    gloo = [span for span in spans(timeline) if span.phase == "GLOO_ALLREDUCE"]
    until = 0.0
    for operation in (o for o in operations(timeline) if o.kind == "ALLREDUCE"):
        mine = [span for span in gloo if operation.begin <= span.begin <= operation.end]
        assert sorted(span.tensor for span in mine) == operation.tensors
        assert until < min(s.begin for s in mine)
        assert max(s.begin for s in mine) <= min(s.end for s in mine)
        until = max(s.end for s in mine)


def test_from_the_second_time_on_nobody_writes_down_who_is_ready() -> None:
    heard = {(one.tensor, one.rank) for one in readiness(RECORDED["fused"])}
    assert len(readiness(RECORDED["fused"])) == len(heard) == 16
    negotiated = [span for span in spans(RECORDED["fused"]) if span.phase == "NEGOTIATE_ALLREDUCE"]
    assert len(negotiated) == 12


def test_what_a_threshold_of_0_leaves_and_what_is_beside() -> None:
    assert all(len(tensors) == 1 for tensors in fused_tensors(RECORDED["unfused"]))
    beside = counts(RECORDED["other operations"])
    assert beside.tensors == {"BROADCAST": 2, "ALLREDUCE": 6, "ALLGATHER": 4, "ALLTOALL": 1}
    assert counts(RECORDED["unfused"]).nbytes == 4 * 620
