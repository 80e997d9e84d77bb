"""A trace file as a figure: threads and streams with what is nested in them, and what is left out of a large one."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from drawn_traces import ring_trace

from lockstep.chrome_traces.spans import Recording, recording
from lockstep.cli import main
from lockstep.show import timeline, trace_file
from lockstep.show.document import OURS
from lockstep.show.timeline import Timeline, columns


def span(name: str, ts: float, dur: float, tid: object = 1, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": tid, **more}


NESTED = [
    span("step", 0, 100, cat="user_annotation"), span("outer", 10, 40, cat="cpu_op"),
    span("inner", 20, 10, cat="cpu_op"), span("next", 60, 40, cat="cpu_op"),
    span("all", 5, 90, 7, cat="kernel"), span("gloo:all_reduce", 30, 50, 2, cat="user_annotation"),
]  # fmt: skip


def read(folder: Path, events: list[dict[str, Any]]) -> Recording:
    (folder / "t.json").write_text(json.dumps(events))
    return recording(folder / "t.json")


def test_what_is_nested_stands_below(tmp_path: Path) -> None:
    """Drawn here: time from left to right, a letter for ten microseconds.

    ssssssssss
     oooo nnnn
      i
    """
    figure = trace_file(read(tmp_path, NESTED))
    data = columns(figure.lanes)
    names = [data["names"][n] or data["kinds"][k] for n, k in zip(data["name"], data["kind"], strict=True)]
    rows = dict(zip(names, data["rank"], strict=True))
    assert [rows[n] for n in ("step", "outer", "next", "inner", "gloo:all_reduce", "all")] == [0, 1, 1, 2, 3, 4]
    assert data["labels"] == ("thread 1", "", "", "thread 2", "GPU 1 stream 7")
    assert data["whose"] == ("thread 1", "thread 1", "thread 1", "thread 2", "GPU 1 stream 7")
    assert data["depth"] == 1
    assert data["kinds"] == ["compute", "all_reduce", "annotation"]
    assert data["named"] == [True, False, True]
    assert "3 threads and streams · 100 µs of measured time · 6 spans" in figure.caption()


def test_a_bar_says_its_name_and_its_thread(tmp_path: Path) -> None:
    figure = trace_file(read(tmp_path, NESTED))
    told = [figure.lanes.describe(e) for e in figure.lanes.trace]
    assert told[0] == "thread 1: step · 0 s to 100 µs, 100 µs long"
    assert "thread 2: all_reduce · gloo:all_reduce · 30 µs to 80 µs, 50 µs long" in told


def test_a_run_of_our_own_is_drawn_as_ever(tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text(ring_trace(4).to_chrome())
    figure = trace_file(tmp_path / "own.json")
    assert type(figure) is Timeline
    assert figure.svg() == timeline(ring_trace(4)).svg()


def test_of_many_spans_the_shortest_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The later ones, as of a run, would leave the end of a profile empty."""
    monkeypatch.setattr(sys.modules["lockstep.show.trace_file"], "MOST", 10)  # show.trace_file is the function
    spans = [span(f"s{i}", 100 * i, 1 + i % 5) for i in range(50)]
    figure = trace_file(read(tmp_path, spans))
    assert {e.name for e in figure.lanes.trace} == {f"s{i}" for i in range(50) if i % 5 == 4}
    assert "10 spans · 40 shorter than 5 µs left out" in figure.caption()


def test_of_many_threads_those_with_most_are_shown(tmp_path: Path) -> None:
    threads = [span("busy", 0, i + 1, tid=i) for i in range(40)]
    figure = trace_file(read(tmp_path, [*threads, span("k", 0, 0.5, tid=99, cat="kernel")]))
    shown = set(figure.lanes.whose)
    assert shown == {f"thread {i}" for i in range(17, 40)} | {"GPU 1 stream 99"}
    assert "17 threads left out" in figure.caption()


def test_what_is_nested_deep_shares_the_last_row(tmp_path: Path) -> None:
    figure = trace_file(read(tmp_path, [span(f"f{i}", i, 100 - 2 * i) for i in range(30)]))
    assert figure.lanes.ranks == 8
    assert len(figure.lanes.trace) == 30


@pytest.mark.parametrize("events", [[], [{"ph": "i", "ts": 5, "name": "mark", "s": "g"}]])
def test_a_trace_of_nothing(tmp_path: Path, events: list[dict[str, Any]]) -> None:
    figure = trace_file(read(tmp_path, events))
    assert "Nothing was recorded" in figure.svg()
    assert figure.html()


# The command


def test_the_page_stands_alone_and_beside_the_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.pt.trace.json"
    file.write_text(json.dumps(NESTED))
    assert main(["show", str(file)]) == 0
    page = (tmp_path / "a.pt.trace.html").read_text()
    assert page.startswith("<!doctype html>")
    assert set(re.findall(r"https?://[^\"'\s)<]+", page)) <= {"http://www.w3.org/2000/svg"}
    out = capsys.readouterr().out
    assert "a.pt.trace.html: open it in a browser" in out
    table = [line.split() for line in out.splitlines()]
    assert ["thread", "2", "1", "0", "s", "50", "µs", "50%"] in table
    assert ["all_reduce", "1", "?", "50", "µs", "100%"] in table  # the kernel "all" is of the same process here
    assert ["90", "µs", "1", "time", "all"] in table


def test_a_page_of_ours_is_written_anew_and_no_other_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, page = tmp_path / "t.json", tmp_path / "t.html"
    file.write_text(json.dumps(NESTED))
    page.write_text("<p>my notes</p>")
    assert main(["show", str(file)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert page.read_text() == "<p>my notes</p>"
    for _ in range(2):
        assert main(["show", str(file), "--html", str(tmp_path / "new.html")]) == 0
    assert OURS in (tmp_path / "new.html").read_text()
    assert main(["show", str(file), "--html", str(tmp_path / "no" / "new.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_it_opens_a_browser_if_it_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    (tmp_path / "t.json").write_text(json.dumps(NESTED))
    assert main(["show", str(tmp_path / "t.json")]) == 0
    assert opened == []
    assert main(["show", str(tmp_path / "t.json"), "--open"]) == 0
    assert opened == [(tmp_path / "t.html").as_uri()]


def test_the_numbers_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.json").write_text(json.dumps(NESTED))
    assert main(["show", str(tmp_path / "t.json"), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["spans"], data["communication"][0]["kind"]) == (6, "all_reduce")
    assert [use["lane"]["name"] for use in data["uses"]] == ["thread 1", "thread 2", "GPU 1 stream 7"]
    assert not (tmp_path / "t.html").exists()
