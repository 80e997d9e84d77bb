"""Known wrong answers: what their files must say, who reads them and when, and what is told of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockstep import checks
from lockstep.checks import closer_look, verdict
from lockstep.checks.case import Case
from lockstep.checks.closer_look import Closer
from lockstep.checks.judge import Fault
from lockstep.checks.known import Known, known_answers, read, tellable
from lockstep.checks.observation import Observation, Seen
from lockstep.errors import UsageError
from lockstep.events import Event, Trace
from lockstep.launchers.detection import Environment

RING = checks.find("communication.ring_all_reduce")
ANSWER = "MISCONCEPTION = 'star'\n{}\ndef ring_all_reduce(tensor, group=None):\n    return tensor\n"
STAR = Trace.of([Event(0, "send", 0, 1, 4, 1), Event(1, "recv", 0, 1, 4, 0),
                 Event(0, "send", 1, 2, 4, 2), Event(2, "recv", 1, 2, 4, 0)], 3)  # fmt: skip


@pytest.fixture
def teachers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a course that is open here."""
    folder = tmp_path / "course" / "04_communication" / "wrong" / "ring_all_reduce"
    folder.mkdir(parents=True)
    (tmp_path / "nbgrader_config.py").touch()
    monkeypatch.chdir(tmp_path)
    return folder


def written(folder: Path, tell: str) -> Path:
    path = folder / "mine.py"
    path.write_text(ANSWER.format(f"TELL = {tell!r}"))
    return path


def test_a_sentence_has_the_numbers_of_the_run(tmp_path: Path) -> None:
    known = read(written(tmp_path, "{{K}} is {K}: all {all_messages} messages go through {hub}."), RING)
    assert known.told(Seen(Case(3, 0), trace=STAR)) == "{K} is 3: all 2 messages go through 0."


@pytest.mark.parametrize("tell", ["{needed} suffice", "set {a", "{hub:d}", "{}"])
def test_a_number_that_no_run_has_is_told_to_the_teacher(tmp_path: Path, tell: str) -> None:
    """It was a KeyError in a learner's check, which was then ungraded."""
    with pytest.raises(UsageError, match=r"TELL in mine.py names .*\n.*\{K\}, \{numel\}"):
        read(written(tmp_path, tell), RING)


def test_a_teachers_broken_file_harms_no_learner(teachers: Path) -> None:
    """It made every check of the exercise a UsageError, of right answers too."""
    good = len(tellable(RING))
    written(teachers, "Through {nobody}.")
    with pytest.raises(UsageError, match=r"mine\.py"):
        known_answers(RING)
    assert len(tellable(RING)) == good
    written(teachers, "Through {hub}.")
    assert len(tellable(RING)) == good + 1


def test_known_answers_are_read_when_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(exercise: object) -> list[Known]:
        raise AssertionError("a right answer needs none of them")

    monkeypatch.setattr(closer_look, "tellable", never)
    amdahl = checks.find("why_parallel.amdahl")
    assert checks.check_file(amdahl.id, next(amdahl.right.glob("*.py")), keep=False).passed


def test_a_known_cost_has_its_price() -> None:
    """A dot product in float64 is half a point dear; once it was recognised, it cost all points for costs."""
    fault = Fault("float64-arithmetic", "But the loop computes in float64.", price=0.5)
    told = Closer(RING, print)._told([Known(Path("a.py"), "double", "Begin with 0.")], Seen(Case(1, 0)), fault)
    assert told == Fault("double", "But the loop computes in float64. Begin with 0.", price=0.5)


def test_rank_0_meets_the_others_though_its_closer_look_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """It went away without a word, and the others waited a minute for it."""
    met: list[object] = []
    monkeypatch.setattr(verdict, "detect", lambda: Environment("torchrun", 0, 2, 0, 2))
    monkeypatch.setattr(verdict, "_observe", lambda *_: Observation(RING.id, "spmd", seen=(Seen(Case(2, 0)),)))
    monkeypatch.setattr(verdict, "score_of", lambda *_: [][0])
    monkeypatch.setattr(verdict, "run", lambda fn, on: met.append(on))
    assert checks.check_reference(RING.id).verdict == "ungraded"
    assert met == ["spmd"]
