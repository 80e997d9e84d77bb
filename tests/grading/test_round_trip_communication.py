"""Unit 04's real lab and checks through the real nbgrader."""

from __future__ import annotations

import html
import shutil
from pathlib import Path

import nbformat
import pytest
from classroom import Classroom

from lockstep.checks import check, find
from lockstep.grading.build import build
from lockstep.grading.course import root
from lockstep.grading.text_notebook import read

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("unit 04 round trip"), pytest.mark.timeout(900)]

LAB = "04_communication"
TOPIC = "communication"

WHOLE_TENSOR_RING = """\
def ring_all_reduce(tensor, group=None):
    K, rank = dist.get_world_size(group), dist.get_rank(group)
    travelling = tensor.clone()
    for _ in range(K - 1):
        arriving = torch.empty_like(travelling)
        sending = dist.isend(travelling, group=group, group_dst=(rank + 1) % K)
        dist.recv(arriving, group=group, group_src=(rank - 1) % K)
        sending.wait()
        tensor += arriving
        travelling = arriving
    return tensor
"""

ON_STDERR = """
import functools
import sys
import warnings


def loud(fn):
    @functools.wraps(fn)
    def louder(*args, **kwargs):
        warnings.warn("a warning")
        print("on stderr", file=sys.stderr)
        return fn(*args, **kwargs)
    return louder


ring_all_reduce = loud(ring_all_reduce)
"""

HOPELESS = {
    "ping_pong": "def ping_pong(nbytes, repeats, group=None):\n    return None",
    "fit_alpha_beta": "def fit_alpha_beta(nbytes, seconds) return 1, 2",
    "tree_broadcast": "import os\ndef tree_broadcast(tensor, src, group=None):\n    os._exit(1)",
    "tree_reduce": "def tree_reduce(tensor, dst, group=None):\n    print('x' * 1_000_000)\n    raise KeyboardInterrupt",
    "ring_all_reduce": "def ring_all_reduce(tensor, group=None):\n"
    "    dist.recv(tensor, group=group, group_src=(dist.get_rank(group) - 1) % dist.get_world_size(group))",
    "halving_doubling_all_reduce": "def halving_doubling_all_reduce(tensor, group=None):\n    dist.all_reduce(tensor)",
    "choose_algorithm": "def choose_algorithm(nbytes, ranks, alpha, beta):\n    return float('nan')",
    "mend_ring_of_sends": "def mend_ring_of_sends(tensor):\n    return tensor",
    "mend_skipped_collective": "mend_skipped_collective = 7",
    "overlapped_step": "del overlapped_step",
}


def by_heart() -> str:
    """choose_algorithm as a table of the published inputs and their answers."""
    exercise = find(f"{TOPIC}.choose_algorithm")
    from lockstep.checks.seeds import seed

    cases = [case for ranks in exercise.worlds for case in exercise.cases(ranks, seed(exercise.id, ranks))]
    calls = {call for case in cases for call in exercise.inputs(case, 0)}
    table = {call: exercise.reference_function()(*call) for call in calls}
    return f"TABLE = {table!r}\n\n\ndef choose_algorithm(nbytes, ranks, alpha, beta):\n" + (
        "    return TABLE.get((nbytes, ranks, alpha, beta))\n"
    )


def answers(solution: Path) -> dict[str, str]:
    """The author's, by exercise."""
    cells = nbformat.read(solution, as_version=4).cells
    return {c.id.removeprefix("answer-"): c.source for c in cells if c.id.startswith("answer-")}


def submissions(solved: dict[str, str]) -> dict[str, dict[str, str]]:
    partly = {name: solved[name] for name in ("ping_pong", "tree_broadcast", "mend_ring_of_sends")}
    partly |= {"ring_all_reduce": WHOLE_TENSOR_RING, "choose_algorithm": solved["choose_algorithm"]}
    by_student = {
        "right": solved | {"ring_all_reduce": solved["ring_all_reduce"] + ON_STDERR},
        "partly": partly,
        "hopeless": HOPELESS,
        "untouched": {},
    }
    return {who: {f"answer-{name}": text for name, text in given.items()} for who, given in by_student.items()}


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A copy of the course with this one unit, built."""
    copy = tmp_path_factory.mktemp("course")
    shutil.copytree(root() / "course" / LAB, copy / "course" / LAB, ignore=shutil.ignore_patterns("*.ipynb"))
    shutil.copy(root() / "nbgrader_config.py", copy)
    build(copy)
    return copy


@pytest.fixture(scope="module")
def classroom(course, tmp_path_factory) -> Classroom:
    built = (course / f"labs/{LAB}/lab.ipynb").read_bytes()
    room = Classroom(course, LAB, tmp_path_factory.mktemp("classroom"))
    room.teacher("generate_assignment", LAB, "--force")
    assert (course / f"labs/{LAB}/lab.ipynb").read_bytes() == built
    given = submissions(answers(course / f"solutions/{LAB}/lab.ipynb"))
    given["partly"]["tests-overlapped_step"] = "4"
    room.term(given)
    return room


@pytest.fixture(scope="module")
def most() -> dict[str, float]:
    """What the grade stands on: the core exercises."""
    tested = [c.name for c in read(root() / "course" / LAB / "lab.py") if c.kind == "tests"]
    return {name: float(find(f"{TOPIC}.{name}").points) for name in tested if find(f"{TOPIC}.{name}").core}


def test_a_right_submission_has_full_marks_whatever_it_writes_to_stderr(classroom, most):
    assert classroom.points("right") == most
    assert classroom.exported()["right"] == sum(most.values())


def test_a_partly_right_one_has_the_points_of_what_is_right(classroom, most):
    points = classroom.points("partly")
    ring = points.pop("ring_all_reduce")
    right = {"ping_pong", "tree_broadcast", "mend_ring_of_sends"}
    assert "choose_algorithm" not in points, "it is extra: right, and without a grade"
    assert points == {name: (most[name] if name in right else 0) for name in points}
    assert 0 < ring < most["ring_all_reduce"]
    assert classroom.exported()["partly"] == sum(points.values()) + ring


@pytest.mark.parametrize("student", ["hopeless", "untouched"])
def test_a_hopeless_and_an_untouched_one_have_exactly_nothing(classroom, student, most):
    assert classroom.points(student) == dict.fromkeys(most, 0)
    assert classroom.exported()[student] == 0


def test_feedback_holds_the_findings(classroom):
    feedback = html.unescape(classroom.feedback("partly"))
    assert "The whole tensor travels in every message: cut it into K chunks first" in feedback
    assert "This is not written yet: it raises NotImplementedError." in feedback
    assert "The whole tensor travels" not in classroom.feedback("right")


def test_the_published_inputs_can_be_learnt_by_heart_and_the_secret_ones_cannot(monkeypatch, tmp_path):
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path))
    monkeypatch.delenv("LOCKSTEP_SEED", raising=False)
    learnt: dict = {"__name__": "__main__"}
    exec(by_heart(), learnt)
    assert check(f"{TOPIC}.choose_algorithm", learnt["choose_algorithm"]).passed
    monkeypatch.setenv("LOCKSTEP_SEED", "another one")
    assert check(f"{TOPIC}.choose_algorithm", learnt["choose_algorithm"]).points == 0


def test_the_secret_stays_with_the_grader(classroom):
    (secret,) = classroom.beside.rglob("grading_seed")
    assert secret.parts[len(classroom.beside.parts)] == "teacher-settings"
    text = secret.read_text()
    handed_out = [*classroom.exchange.rglob("*"), *(classroom.root / "grading" / "feedback").rglob("*")]
    assert not any(text in p.read_text(encoding="utf-8", errors="replace") for p in handed_out if p.is_file())
