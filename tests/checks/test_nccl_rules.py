"""Right answers under NCCL's rules: no tags, no any-source, a queue for each pair. And nothing buffered, so that none
passes for being short.

A ring by irecv and send passes on gloo, and between two GPUs it hangs. An answer that NCCL would not carry out says so:
``NCCL = "why not"``.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from lockstep.checks.exercise import Exercise, exercises
from lockstep.checks.load import load
from lockstep.checks.observe import observe, observe_reference
from lockstep.checks.verdict import score_of
from lockstep.comm.backend_rules import NCCL

pytestmark = pytest.mark.reads("solutions/")
PROJECT = Path(__file__).parents[2]
STRICT = replace(NCCL, eager=-1)
PATIENCE = 60.0  # seconds, for a case and for all
# Rules are the virtual cluster's.
COMMUNICATING = [e for e in exercises() if not e.pure and not e.run.real_machine and not e.run.any_source]
RIGHT = [(e, p) for e in COMMUNICATING for p in sorted(e.right.glob("*.py"))]


def verdict(exercise: Exercise, fn, rules=STRICT) -> str:
    """By the rules alone: with time enough on a busy machine, too."""
    patient = replace(exercise, run=replace(exercise.run, timeout=PATIENCE))
    return score_of(exercise, observe(patient, fn, limit=PATIENCE, rules=rules)).verdict


def why_not(path: Path) -> str:
    """What the file declares."""
    constants = [n for n in ast.parse(path.read_text()).body if isinstance(n, ast.Assign)]
    return next((ast.literal_eval(c.value) for c in constants if ast.unparse(c.targets[0]) == "NCCL"), "")


@pytest.mark.sampled(12)
@pytest.mark.later
@pytest.mark.parametrize("exercise", COMMUNICATING, ids=lambda e: e.id)
def test_references_pass(exercise):
    for rules in (NCCL, STRICT):
        assert score_of(exercise, observe_reference(exercise, rules=rules)).verdict == "passed"


@pytest.mark.slow
@pytest.mark.parametrize("exercise", COMMUNICATING, ids=lambda e: e.id)
def test_solved_labs_pass(exercise):
    (lab,) = PROJECT.glob(f"solutions/*_{exercise.topic}/lab.ipynb")
    assert verdict(exercise, load(lab, exercise.function)) == "passed"


@pytest.mark.slow
@pytest.mark.parametrize(("exercise", "path"), RIGHT, ids=lambda x: getattr(x, "stem", getattr(x, "id", "")))
def test_other_right_answers_pass_or_say_why_not(exercise, path):
    told = verdict(exercise, load(path, exercise.function))
    assert (told == "passed") != bool(why_not(path)), f"{told}: {why_not(path) or 'declares nothing'}"
