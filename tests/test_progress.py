"""Scores and predictions outlive a session, two notebooks at once, and a broken file."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
from pathlib import Path

import pytest

from lockstep import progress
from lockstep.errors import UsageError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_home_is_made_and_the_environment_decides(home: Path) -> None:
    assert progress.home() == home
    assert home.is_dir()


def test_home_without_the_variable_is_the_users_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert progress.home().is_relative_to(tmp_path)


def test_nothing_is_there_at_first() -> None:
    assert progress.scores() == {}
    assert progress.prediction("ring") is None


def test_a_score_keeps_the_last_attempt_and_the_best() -> None:
    progress.record_score("communication.tree_reduce", 3, 4, "wrong")
    progress.record_score("communication.tree_reduce", 1, 4, "crashed")
    kept = progress.scores()["communication.tree_reduce"]
    assert (kept.points, kept.maximum, kept.verdict, kept.best) == (1, 4, "crashed", 3)


def test_an_ungraded_attempt_leaves_no_mark() -> None:
    progress.record_score("a.b", 0, 4, "ungraded")
    assert progress.scores() == {}
    progress.record_score("a.b", 4, 4, "passed")
    progress.record_score("a.b", 0, 4, "ungraded")
    assert progress.scores()["a.b"].verdict == "passed"


def test_the_first_commitment_stands_and_the_second_is_told_so() -> None:
    first = progress.lock_prediction("ring", 3, "ms", "How many?")
    second = progress.lock_prediction("ring", 5, "ms", "How many?")
    assert first.accepted
    assert str(first) == "Committed: 3 ms."
    assert not second.accepted
    assert str(second) == "You had committed 3 ms before, and that stands."
    assert progress.prediction("ring") == first.prediction == second.prediction


def test_a_forgotten_prediction_may_be_made_again() -> None:
    progress.lock_prediction("ring", 3)
    progress.forget_prediction("ring")
    progress.forget_prediction("never made")
    assert progress.lock_prediction("ring", 5).accepted


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_prediction_is_finite(value: float) -> None:
    with pytest.raises(UsageError, match="finite"):
        progress.lock_prediction("ring", value)


def test_a_reason_is_kept_beside_its_prediction() -> None:
    progress.lock_prediction("ring", 3)
    progress.give_reason("ring", "gloo copies twice: Größe")
    kept = progress.prediction("ring")
    assert kept is not None
    assert (kept.value, kept.reason) == (3, "gloo copies twice: Größe")
    with pytest.raises(UsageError, match="no prediction 'tree'"):
        progress.give_reason("tree", "because")


BROKEN = {
    "half": '{"version": 1, "scores": {"a": {"poi',
    "empty": "",
    "a list": "[]",
    "a number": "3",
    "another version": '{"version": 2, "scores": {}, "predictions": {}}',
    "missing parts": '{"version": 1}',
    "a score of another shape": '{"version": 1, "scores": {"a": 3}, "predictions": {}}',
    "a prediction in words": json.dumps(
        {
            "version": 1,
            "scores": {},
            "predictions": {"a": {"value": "three", "unit": "", "question": "", "when": ""}},
        }
    ),
    "opened is a list": '{"version": 1, "scores": {}, "predictions": {}, "opened": ["a"]}',
    "a NaN": '{"version": 1, "scores": {"a": {"points": NaN, "maximum": 1, "verdict": "", "when": "", "best": 1}}, '
    '"predictions": {}}',
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_set_aside(home: Path, capfd: pytest.CaptureFixture[str], text: str) -> None:
    progress.home()
    (home / "progress.json").write_text(text)
    progress.record_score("a.b", 1, 2, "wrong")
    assert list(progress.scores()) == ["a.b"]
    [aside] = home.glob("progress.unreadable-*.json")
    assert aside.read_text() == text
    told = "".join(capfd.readouterr())
    assert told.count("\n") == 1
    assert aside.name in told


def test_reading_a_broken_file_sets_it_aside_too(home: Path) -> None:
    progress.home()
    (home / "progress.json").write_bytes(b"\xff\xfe\x00")
    assert progress.predictions() == {}
    assert len(list(home.glob("progress.unreadable-*.json"))) == 1


def test_a_home_that_cannot_be_used_costs_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "file" / "home"))
    progress.record_score("a.b", 1, 2, "wrong")
    progress.lock_prediction("ring", 3)
    progress.open_up("communication.tree_rounds", how="shown")
    told = "".join(capfd.readouterr())
    assert "will be forgotten" in told
    assert told.count("\n") == 1, "one sentence, however often"
    assert progress.scores()["a.b"].best == 1, "until the process ends it is there"
    assert progress.prediction("ring") is not None
    assert progress.opened() == {"communication.tree_rounds": "shown"}


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_home_that_may_not_be_written_keeps_what_it_has(home: Path) -> None:
    progress.lock_prediction("ring", 3)
    home.chmod(0o500)
    progress.lock_prediction("tree", 5)
    assert set(progress.predictions()) == {"ring", "tree"}
    home.chmod(0o700)
    assert list(json.loads((home / "progress.json").read_text())["predictions"]) == ["ring"]
    progress.record_score("a.b", 1, 2, "wrong")
    assert set(json.loads((home / "progress.json").read_text())["predictions"]) == {"ring", "tree"}


def test_a_disk_that_was_full_loses_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be written is written with the next that can be."""
    progress.lock_prediction("ring", 3)
    with monkeypatch.context() as full:
        full.setattr(progress.os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        progress.open_up("acting.tree", how="solved")
    assert progress.opened() == {"acting.tree": "solved"}
    assert json.loads((home / "progress.json").read_text())["opened"] == {}
    progress.record_score("a.b", 1, 2, "wrong")
    assert json.loads((home / "progress.json").read_text())["opened"] == {"acting.tree": "solved"}


def test_what_is_open_stays_open_and_solved_stays_solved(home: Path) -> None:
    progress.open_up("acting.tree", "acting.ring", how="solved")
    progress.open_up("acting.tree", how="shown")
    assert progress.opened() == {"acting.tree": "solved", "acting.ring": "solved"}
    progress.forget_prediction("acting.tree")
    assert progress.opened() == {"acting.ring": "solved"}


def test_a_file_from_before_lessons_could_be_opened(home: Path) -> None:
    progress.home()
    (home / "progress.json").write_text('{"version": 1, "scores": {}, "predictions": {}}')
    assert progress.opened() == {}
    assert not list(home.glob("progress.unreadable-*"))


def _write_many(who: int) -> None:
    for i in range(20):
        progress.record_score(f"topic.{who}_{i}", i, 20, "wrong")


def test_two_notebooks_at_once_lose_nothing(home: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write_many, args=(who,)) for who in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(progress.scores()) == 60
    assert sorted(os.listdir(home)) == ["progress.json", "progress.lock"]


def test_what_came_out_is_kept_beside_a_prediction_and_only_there() -> None:
    progress.record_outcome("ring", progress.Outcome(simulated=2.0))
    assert progress.outcomes() == {}, "nothing was predicted"
    progress.lock_prediction("ring", 3, "ms")
    progress.record_outcome("ring", progress.Outcome(2.0, 8.0))
    assert progress.outcomes()["ring"].miss(3) == 1.5
    progress.forget_prediction("ring")
    assert progress.outcomes() == {}


@pytest.mark.parametrize(
    ("simulated", "measured", "predicted", "miss"),
    [(2.0, None, 1.0, 2.0), (None, 4.0, 1.0, 4.0), (2.0, 4.0, 4.0, 1.0), (0.0, None, 0.0, 1.0),
     (0.0, None, 3.0, math.inf), (-2.0, None, 2.0, math.inf), (None, None, 2.0, math.inf)],
)  # fmt: skip
def test_a_miss_is_a_factor(simulated: float | None, measured: float | None, predicted: float, miss: float) -> None:
    assert progress.Outcome(simulated, measured).miss(predicted) == miss


def test_a_file_of_an_earlier_lockstep_has_neither_outcomes_nor_answers(home: Path) -> None:
    progress.lock_prediction("ring", 3, "ms")
    data = json.loads((home / "progress.json").read_text())
    del data["outcomes"], data["answers"]
    (home / "progress.json").write_text(json.dumps(data))
    assert progress.prediction("ring") is not None
    assert (progress.outcomes(), progress.answers()) == ({}, {})


def test_an_outcome_that_is_no_number_makes_a_file_corrupt(home: Path) -> None:
    progress.lock_prediction("ring", 3, "ms")
    data = json.loads((home / "progress.json").read_text())
    (home / "progress.json").write_text(
        json.dumps(data | {"outcomes": {"ring": {"simulated": "much", "measured": None}}})
    )
    assert progress.outcomes() == {}
    assert list(home.glob("progress.unreadable-*"))
