"""A learner's seeds are published; a grader's are secret, stay the same, and give other inputs."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from lockstep import checks, run
from lockstep.checks import seeds
from lockstep.forking.spawned import server_environment

ID = "communication.ring_all_reduce"


def inputs() -> list[torch.Tensor]:
    exercise = checks.find(ID)
    return [exercise.inputs(case, 0)[0] for case in exercise.cases(4, seeds.seed(ID, 4))]


def differ(a: list[torch.Tensor], b: list[torch.Tensor]) -> bool:
    return any(x.shape != y.shape or not torch.equal(x, y) for x, y in zip(a, b, strict=True))


def test_a_learners_seeds_never_change() -> None:
    assert seeds.secret() == "published"
    assert seeds.seed(ID, 4) == 279213263757894


def test_hidden_seeds_differ_from_the_learners(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    published = inputs()
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    hidden = inputs()
    assert differ(published, hidden)
    assert not differ(hidden, inputs())
    assert seeds.secret_file() == home / "grading_seed"
    assert seeds.secret_file().stat().st_mode & 0o077 == 0


def test_the_environment_decides_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    hidden = inputs()
    monkeypatch.setenv("LOCKSTEP_SEED", "this year")
    assert seeds.secret() == "this year"
    assert differ(hidden, inputs())
    assert not seeds.secret_file().with_name("absent").exists()


def test_seeds_of_exercises_and_sizes_differ() -> None:
    drawn = {seeds.seed(e.id, size) for e in checks.exercises() for size in e.worlds}
    assert len(drawn) == sum(len(e.worlds) for e in checks.exercises())


def test_ranks_start_with_different_tensors() -> None:
    exercise = checks.find(ID)
    case = exercise.cases(4, 7)[0]
    tensors = [exercise.inputs(case, rank)[0] for rank in range(4)]
    assert all(differ([a], [b]) for n, a in enumerate(tensors) for b in tensors[:n])


@pytest.mark.parametrize("on", ["dgx-a100", "processes"])
def test_a_learners_function_is_not_given_the_secret(on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It had it from its environment, and with it every input of every rank."""
    import os

    monkeypatch.setenv("LOCKSTEP_SEED", "this year")
    (found,) = run(lambda: os.environ.get("LOCKSTEP_SEED"), ranks=1, on=on).values
    assert found is None
    assert "LOCKSTEP_SEED" not in server_environment()
