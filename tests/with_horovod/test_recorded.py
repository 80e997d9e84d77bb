"""What was recorded stands in for Horovod, and says so; what is recorded now has the same structure."""

from __future__ import annotations

import getpass
import json
import socket
from pathlib import Path

import pytest

from lockstep.errors import TimeLimit, UsageError
from lockstep.experiments.horovod import recorded
from lockstep.experiments.horovod.recorded import DATA, demos, or_recorded, record, recorded_names, recording, structure


@pytest.fixture
def without_horovod(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "available", lambda: False)


def test_without_horovod_the_recording_is_given_and_one_line_says_so(
    without_horovod: None, capsys: pytest.CaptureFixture[str]
) -> None:
    given = or_recorded("timelines")
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("Recorded on 20")
    assert "Horovod is not installed here. `lockstep horovod` builds it" in line
    assert given["unfused"][0]["ph"] == "M"


def test_with_horovod_the_demo_runs_and_its_data_are_as_they_would_come_from_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recorded, "available", lambda: True)
    monkeypatch.setattr(recorded, "demos", lambda: {"one": lambda: {1: (2.0, None)}})
    assert or_recorded("one") == {"1": [2.0, None]}
    assert capsys.readouterr().out == ""


def test_a_demo_that_a_busy_machine_does_not_end_is_given_as_recorded_and_said_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lesson's cell ended in TimeLimit while two browsers and their kernels were at work beside it."""

    def busy() -> None:
        raise TimeLimit("The elastic job did not end within 30 seconds.")

    monkeypatch.setattr(recorded, "available", lambda: True)
    monkeypatch.setattr(recorded, "demos", lambda: {"elastic": busy})
    assert or_recorded("elastic") == recording("elastic").value
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("Recorded on 20")
    assert line.endswith("did not come to its end in time: run the cell again when less is at work here.")


def test_a_name_that_nothing_has_is_told_what_there_is(without_horovod: None) -> None:
    with pytest.raises(UsageError, match="Nothing is recorded of 'fusoin'"):
        or_recorded("fusoin")


def test_what_is_written_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    timeline = recording("timelines").value["late tensors"]
    value = {"timeline": timeline, "none": [], "runs": [{"timeline": timeline, "seconds": 0.5}]}
    monkeypatch.setattr(recorded, "demos", lambda: {"one": lambda: value})
    monkeypatch.setattr(recorded, "version", lambda package: "1.2.3")
    path = record("one", tmp_path)
    assert path.stat().st_size < 0.7 * len(json.dumps(value))
    monkeypatch.setattr(recorded, "DATA", tmp_path)
    assert recording("one").value == value
    assert recording("one").made.keys() == {"date", "cores", "torch", "horovod"}


def test_a_structure_tells_names_and_counts_and_no_times() -> None:
    assert structure({"a": [1, 2.5, True, "x", None]}) == {"a": ["number", "number", "bool", "str", "NoneType"]}
    names, carried = structure(recording("timelines").value["late tensors"])
    assert names == sorted(f"allreduce.{name}" for name in ("a", "b", "c", "late", "later"))
    assert carried == {"ALLREDUCE": 10}


def test_the_recordings_are_small_and_name_no_machine() -> None:
    texts = {path.name: path.read_text() for path in DATA.glob("*.json")}
    assert 0 < sum(map(len, texts.values())) < 90_000
    for name, text in texts.items():
        assert not [word for word in (socket.gethostname(), f"/{getpass.getuser()}/") if word in text], name


def test_all_demos_are_recorded_and_nothing_else() -> None:
    assert recorded_names() == sorted(demos())


@pytest.mark.slow
@pytest.mark.horovod
@pytest.mark.parametrize("name", recorded_names())
def test_a_demo_gives_now_what_was_recorded_but_for_times(name: str) -> None:
    now = json.loads(json.dumps(demos()[name]()))  # or_recorded would give the recording on a busy machine
    assert structure(now) == structure(recording(name).value)
