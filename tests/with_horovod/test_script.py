"""Serial, Horovod, DistributedDataParallel: one training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist

from lockstep.exercises.horovod.replayed import Serial, first_fact, replay
from lockstep.experiments.horovod.observed_script import Evidence, noted, observed
from lockstep.experiments.horovod.task import Task, flat, state
from lockstep.forking import starter
from lockstep.with_horovod import script
from lockstep.with_horovod.available import MODULES
from lockstep.worlds import run

TASK = Task(seed=3, ranks=4, checkpoint=True, frozen=True)


def on_rank(train: Callable[..., Any], task: Task, horovod: bool) -> Evidence:
    return observed(train, task.arguments(dist.get_rank()), horovod)


def seen(train: Callable[..., Any], task: Task, horovod: bool = False) -> list[Evidence]:
    if horovod:
        starter.warm_up(MODULES)
    return list(run(on_rank, train, task, horovod, ranks=task.ranks, on="processes").values)


def same_training(train: Callable[..., Any], task: Task, horovod: bool = False) -> list[Evidence]:
    """As serial training on the same rows, to 1e-6; and the same bits on all ranks."""
    found = seen(train, task, horovod)
    assert first_fact(task, found) is None
    for one in found:
        assert torch.equal(one["returned"], found[0]["returned"])
    return found


@pytest.mark.horovod
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_horovod_trains_as_serial_training_does_on_the_same_rows(ranks: int) -> None:
    same_training(script.distribute, Task(seed=3, ranks=ranks, checkpoint=ranks != 2, frozen=ranks == 4), horovod=True)


@pytest.mark.slow
def test_ddp_trains_as_serial_training_does() -> None:
    same_training(script.ddp, TASK)


@pytest.mark.horovod
def test_both_take_the_same_rows_and_come_to_the_same_weights() -> None:
    horovod, ddp = same_training(script.distribute, TASK, horovod=True), same_training(script.ddp, TASK)
    assert [one["rows"] for one in ddp] == [one["rows"] for one in horovod]
    torch.testing.assert_close(ddp[0]["returned"], horovod[0]["returned"], rtol=1e-12, atol=1e-12)


def test_the_replay_of_the_serial_script_is_the_serial_script() -> None:
    """Its own rows, one rank: what the judge computes is what ``serial`` does."""
    task = Task(seed=3, ranks=1, batch=4, checkpoint=True, frozen=True)
    saved: list[Any] = []
    given = task.arguments(0)
    with noted() as (rows, states):
        model = script.serial(*given, saved.append)
    right = replay(task, [{"rows": rows}])
    assert torch.equal(state(model), right.states[-1])
    assert all(torch.equal(a, b) for a, b in zip(states, right.states, strict=False))
    momentum = [s["momentum_buffer"] for _, s in sorted(saved[0]["optimizer"]["state"].items())]
    assert torch.equal(flat(momentum), right.momentum[-1])


def ranks_of(task: Task) -> list[Evidence]:
    """What ranks that are all right show, without running any: for tests that make one thing wrong."""
    order = torch.Generator().manual_seed(task.seed)
    epochs = [
        torch.randperm(task.rows, generator=order).reshape(-1, task.ranks, task.batch) for _ in range(task.epochs)
    ]
    rows = torch.cat(epochs).transpose(0, 1).tolist()
    found: list[Evidence] = [{"rows": of_rank} for of_rank in rows]
    right = replay(task, found)
    for rank, one in enumerate(found):
        end = {"model": right.states[-1], "momentum": right.momentum[-1], "rate": task.ranks * task.rate}
        one |= {"states": torch.stack(right.states[:-1]), "returned": right.states[-1], "saved": [] if rank else [end]}
        one["shut_down"] = False
    return found


TASKS = [Task(seed, ranks, checkpoint=bool(seed % 2)) for seed, ranks in enumerate((1, 2, 3, 4, 4))]


@pytest.mark.parametrize("task", TASKS, ids=str)
def test_nothing_is_said_of_ranks_that_are_right(task: Task) -> None:
    assert first_fact(task, ranks_of(task)) is None


def replaced(found: list[Evidence], rank: int, **what: Any) -> list[Evidence]:
    return [one | what if r == rank else one for r, one in enumerate(found)]


def moved(right: Serial, task: Task, gradient: torch.Tensor, factor: float, momentum: bool) -> torch.Tensor:
    """The state after a first step by another gradient or rate."""
    model = task.at(right.states[0])
    before = right.momentum[0]
    change = gradient + (0.9 * before if momentum and before is not None else 0)
    learned = [p for p in model.parameters() if p.requires_grad]
    sizes = [p.numel() for p in learned]
    for p, piece in zip(learned, (factor * task.rate * change).split(sizes), strict=True):
        p.data -= piece.reshape(p.shape)
    return state(model)


def mistakes() -> Iterator[tuple[str, list[Evidence]]]:
    """Each makes one thing wrong of what ranks show."""
    task, found = TASK, ranks_of(TASK)
    right, first = replay(task, found), found[1]["rows"][0]
    states, mean = found[1]["states"], right.gradients[0]
    yield "never-called", replaced(found, 2, rows=[])
    yield "batch-size", replaced(found, 2, rows=[[0], *found[2]["rows"][1:]])
    yield "foreign-rows", replaced(found, 2, rows=[[-1, 0], *found[2]["rows"][1:]])
    yield "too-few-rows", replaced(found, 2, rows=found[2]["rows"][1:])
    yield "row-on-several", replaced(found, 2, rows=[first, *found[2]["rows"][1:]])
    yield "row-twice", replaced(found, 1, rows=[first, first, *found[1]["rows"][2:]])
    yield "same-order", [one | {"rows": one["rows"][: task.steps] * task.epochs} for one in found]
    own = state(task.model(1))
    yield "own-start", replaced(found, 1, states=torch.stack([own, *states[1:]]))
    part = torch.cat([own[:3], states[0][3:]])
    yield "own-parts", replaced(found, 1, states=torch.stack([part, *states[1:]]))
    zero = state(task.model(0))
    yield "checkpoint-on-rank-0", replaced(found, 1, states=torch.stack([zero, *states[1:]]))
    yield "checkpoint-ignored", [one | {"states": torch.stack([zero, *one["states"][1:]])} for one in found]
    yield "other-start", replaced(found, 1, states=torch.stack([(own + zero) / 2, *states[1:]]))
    for name, gradient, factor, kept in (
        ("rate-not-scaled", mean, 1, True),
        ("too-large", 4 * mean, 4, True),
        ("too-large", mean, 16, True),
        ("rate-divided", mean, 1 / 4, True),
        ("momentum-on-rank-0", mean, 4, False),
        ("other-step", -mean, 4, True),
    ):
        after = moved(right, task, gradient, factor, kept)
        yield name, replaced(found, 1, states=torch.stack([states[0], after, *states[2:]]))
    after = moved(right, task, mean, 4, False)
    yield "momentum-lost", [one | {"states": torch.stack([states[0], after, *states[2:]])} for one in found]
    yield "no-model", replaced(found, 1, returned="NoneType")
    yield "other-step", replaced(found, 1, returned=right.states[0])
    last = found[0]["saved"][0]
    yield "not-saved", replaced(found, 0, saved=[])
    yield "all-save", replaced(found, 3, saved=[last])
    yield "other-rank-saves", replaced(replaced(found, 0, saved=[]), 3, saved=[last])
    yield "saves-often", replaced(found, 0, saved=[last, last])
    yield "saves-something-else", replaced(found, 0, saved=["of type int"])
    yield "saves-other-weights", replaced(found, 0, saved=[last | {"model": right.states[-2]}])
    yield "saves-no-momentum", replaced(found, 0, saved=[last | {"momentum": None}])
    yield "saves-other-momentum", replaced(found, 0, saved=[last | {"momentum": 2 * last["momentum"]}])
    yield "shut-down", replaced(found, 1, shut_down=True)
    yield "saves-other-rate", replaced(found, 0, saved=[last | {"rate": task.rate}])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "found"), [pytest.param(n, f, id=f"{i}-{n}") for i, (n, f) in enumerate(mistakes())])
def test_each_mistake_has_a_fact_of_its_own(name: str, found: list[Evidence]) -> None:
    fact = first_fact(TASK, found)
    assert fact is not None
    assert fact[0] == name


@pytest.mark.horovod
def test_a_model_that_travels_as_an_object_is_still_observed() -> None:
    """Story: with a hook on the model itself, the copy that `broadcast_object` makes on other ranks noted its rows in a
    copy of the list, and nobody saw them."""

    def train(model: Any, *more: Any) -> Any:
        import horovod.torch as hvd

        return script.distribute(hvd.broadcast_object(model, root_rank=0), *more)

    same_training(train, Task(seed=3, ranks=2), horovod=True)


@pytest.mark.horovod
def test_what_horovod_carries_is_counted_without_its_timeline() -> None:
    task = Task(seed=3, ranks=2, frozen=True)
    learned = sum(p.numel() for p in task.model(0).parameters() if p.requires_grad)
    for one in seen(script.distribute, task, horovod=True):
        assert one["carried"] == {"reduced": task.epochs * task.steps * learned, "late_broadcasts": 0, "gathered": 0}
