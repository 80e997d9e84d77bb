"""The check of `elastic_state`: workers are killed for real, and what is told is what they did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from lockstep.checks import check, check_file, find
from lockstep.checks.evidence_rules import first
from lockstep.checks.known import known_answers
from lockstep.exercises.horovod.elastic_rules import COSTS, RULES
from lockstep.exercises.horovod.elastic_state.exercise import CASES
from lockstep.exercises.horovod.survival import Task, compared, digest, flat, replay, sgd

EXERCISE = find("horovod.elastic_state")
TASK = Task(7, 8, 3, 2, {1: 5})


def account(*steps: int, value: Any, at: int = 5, more: Any = ()) -> dict[str, Any]:
    """What worker 0 did: five steps and a commit, its failure at step 5, and ``steps`` afterwards."""
    moves: list[dict[str, Any]] = [step(s, 2) for s in range(3)] + [
        {"what": "commit"},
        step(3, 2),
        step(4, 2),
        step(at, 2),
    ]
    moves += [{"what": "failed"}, {"what": "reset", "rank": 0, "size": 1}, *(step(s, 1) for s in steps), *more]
    events = [{"worker": 0, **move} for move in moves]
    return {"events": events, "values": {"0": value}, "overdue": [], "busy": False}


def step(number: int, size: int) -> dict[str, Any]:
    return {"what": "step", "step": number, "rank": 0, "size": size, "rows": list(range(0, 12, size))}


def serial(*steps: int) -> torch.Tensor:
    return replay(TASK, [{"what": "step", "step": s} for s in steps])[1]


def told(found: dict[str, Any], task: Task = TASK) -> str:
    fault = first((*RULES, *COSTS), compared(found, task))
    return fault.misconception if fault else ""


COMMITS = ({"what": "commit"},)


def test_a_replay_is_serial_training() -> None:
    model = TASK.network(0)
    optimizer = sgd(model)
    for x, y in TASK.batches():
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    assert torch.equal(flat(model), serial(*range(8)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("steps", "misconception"),
    [
        ((3, 4, 5, 6, 7), ""),
        ((0, 1, 2, 3, 4, 5, 6, 7), "from-the-beginning"),
        ((2, 3, 4, 5, 6, 7), "steps-twice"),
        ((5, 6, 7), "steps-missing"),
    ],
)
def test_the_steps_that_are_in_the_model_are_told(steps: tuple[int, ...], misconception: str) -> None:
    assert told(account(*steps, value=serial(0, 1, 2, *steps), more=COMMITS)) == misconception


@pytest.mark.slow
def test_what_was_not_brought_back_is_told() -> None:
    right = account(3, 4, 5, 6, 7, value=serial(*range(8)), more=COMMITS)
    moves = right["events"]
    for way in ("momentum ahead", "momentum lost", "model ahead", "early commits"):
        held = replay(TASK, moves, way)[1]
        assert not torch.allclose(held, serial(*range(8)), atol=1e-4)
        assert told({**right, "values": {"0": held}}) == way.replace(" ", "-")
    assert told({**right, "values": {"0": serial(*range(8)) + 1}}) == "other-parameters"


def test_a_model_that_is_not_in_the_state_is_told() -> None:
    """That each step is the mean gradient was all that it was told."""
    own = {"worker": 1, **step(0, 2), "model": digest(TASK.network(1))}
    wrong = account(3, 4, 5, 6, 7, value=serial(*range(8)) + 1, more=COMMITS)
    assert told({**wrong, "events": [own, *wrong["events"]]}) == "own-start"
    assert (
        told({**wrong, "events": [{**own, "model": digest(TASK.network(0))}, *wrong["events"]]}) == "other-parameters"
    )


def test_who_catches_a_failure_is_not_told_that_steps_are_in_the_model_twice() -> None:
    """It restored the state and went on, failed again, and never came to an end: no model has any step twice."""
    moves = [*(step(s, 2) for s in range(3)), *COMMITS, step(3, 2), step(4, 2), step(3, 2), step(3, 2)]
    events = [{"worker": 0, **m} for m in moves]
    found = {"events": events, "values": {}, "overdue": [[0, "here"]], "busy": False}
    assert told(found) == "hangs"
    assert (
        told({**found, "events": [*events[:5], {"worker": 1, "what": "killed"}, *events[5:]]}) == "catches-the-failure"
    )


def test_on_a_busy_machine_nobody_is_said_to_hang() -> None:
    from lockstep.checks.evidence_rules import Ungraded

    found = {**account(value=None), "values": {}, "overdue": [[0, "here"]]}
    assert told(found) == "hangs"
    with pytest.raises(Ungraded):
        told({**found, "busy": True})


def test_what_was_not_tried_says_what_hung() -> None:
    """Of a `while` without an end it told no more than that a job before this one had not come to an end."""
    fault = first(RULES, compared({"skipped": "mine.py, line 21, in train: while True:", "busy": False}, TASK))
    assert fault is not None
    assert fault.misconception == "too-slow"
    assert "line 21" in fault.message


def test_facts_come_before_an_excuse() -> None:
    """A worker that was added and began with step 0 waited for ever. On a busy machine that was not graded."""
    task = Task(7, 8, 3, 2, {}, 4)
    moves = [{"worker": 0, **m} for m in [*(step(s, 2) for s in range(6)), {"what": "commit"}]]
    moves += [
        {"worker": 0, "what": "reset", "rank": 0, "size": 3},
        {"worker": 2, **step(0, 1)},
        {"worker": 0, **step(6, 1)},
    ]
    found = {"events": moves, "values": {}, "overdue": [[2, "there"]], "busy": True}
    assert told(found, task) == "steps-missing"


@pytest.mark.later
@pytest.mark.horovod
def test_the_library_is_no_answer_and_a_right_one_passes() -> None:
    score = check("horovod.elastic_state", EXERCISE.reference_function())
    assert score.findings[0].misconception == "library-call"  # it is the library's own
    right = EXERCISE.right / "by_hand.py"
    assert check_file("horovod.elastic_state", right, keep=False).points == EXERCISE.points


WRONG = {k.name: k for k in known_answers(EXERCISE)}


@pytest.mark.slow
@pytest.mark.horovod
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_is_told_what_its_file_states(name: str) -> None:
    score = check_file("horovod.elastic_state", WRONG[name].path, keep=False)
    assert score.findings[0].misconception == WRONG[name].misconception
    assert score.points < EXERCISE.points


FORGOTTEN = """
import horovod.torch as hvd
import torch.nn.functional as F


def elastic_state(model, optimizer, batches, every):
    state = hvd.elastic.TorchState(model=model, step=0)

    @hvd.elastic.run
    def train(state):
        while state.step < len(batches):
            x, y = batches[state.step]
            optimizer.zero_grad()
            F.mse_loss(model(x[hvd.rank() :: hvd.size()]), y[hvd.rank() :: hvd.size()]).backward()
            for name, parameter in model.named_parameters():
                parameter.grad = hvd.allreduce(parameter.grad, name=name)
            optimizer.step()
            state.step += 1
            if state.step % every == 0:
                state.commit()

    train(state)
    return model
"""


@pytest.mark.horovod
@pytest.mark.slow
def test_forgotten_momentum_is_told_where_nothing_crashes(tmp_path: Path) -> None:
    (tmp_path / "answer.py").write_text(FORGOTTEN)
    score = check_file("horovod.elastic_state", tmp_path / "answer.py", keep=False)
    assert score.findings[0].misconception == "momentum-ahead"


@pytest.mark.horovod
@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(EXERCISE.right.glob("*.py")), ids=lambda p: p.stem)
def test_right_answers_pass_again_and_again(path: Path) -> None:
    for _ in range(5):
        assert check_file("horovod.elastic_state", path, keep=False).points == EXERCISE.points


def test_no_rank_0_is_killed_before_its_weights_have_been_kept() -> None:
    """Horovod's TorchState keeps a model when it is made, and not when it has been given rank 0's: the new rank 0 would
    go on with its own weights."""
    for _, every, _, kill, _ in CASES.values():
        assert kill.get(0, every) >= every


def test_steps_that_are_too_large_are_told_so() -> None:
    """A sum in place of the mean, or K times the rate, was told no more than that the parameters differ."""
    moves = [{"what": "step", "step": s, "rows": list(range(12)), "size": 2} for s in range(8)]
    assert torch.equal(replay(TASK, moves, "summed")[1], replay(TASK, moves, "scaled")[1])
    assert not torch.allclose(replay(TASK, moves, "summed")[1], replay(TASK, moves)[1])
