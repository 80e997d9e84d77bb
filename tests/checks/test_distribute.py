"""The check of `horovod.distribute`: its cases are hard enough, and its sentences complete."""

from __future__ import annotations

import inspect
import re

import pytest
import torch

from lockstep import checks
from lockstep.checks.case import Case
from lockstep.checks.exercise import find
from lockstep.checks.seeds import seed
from lockstep.exercises.horovod import replayed
from lockstep.exercises.horovod.distribute.exercise import task
from lockstep.exercises.horovod.training import TOLD
from lockstep.experiments.horovod.task import Task, state, told_rows

EXERCISE = find("horovod.distribute")
CASES = [case for ranks in EXERCISE.worlds for case in EXERCISE.cases(ranks, seed(EXERCISE.id, ranks))]


def test_each_fact_has_a_sentence_and_each_sentence_a_fact() -> None:
    named = set(re.findall(r'"([a-z]+(?:-[a-z0-9]+)+)"', inspect.getsource(replayed)))
    assert named == set(TOLD)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_ranks_differ_in_each_tensor_and_from_the_checkpoint(case: Case) -> None:
    own = task(case)
    models = [state(own.model(rank)) for rank in range(-1, own.ranks)]
    for n, one in enumerate(models):
        for other in models[n + 1 :]:
            assert ((one - other).abs() > 1e-3).float().mean() > 0.9


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_row_tells_its_number(case: Case) -> None:
    x, _ = task(case).data()
    order = torch.randperm(len(x))
    assert told_rows(x[order]) == order.tolist()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_only_rank_0_has_the_checkpoint_and_it_has_momentum_and_the_rate_of_k_ranks(case: Case) -> None:
    own = task(case)
    given = [EXERCISE.inputs(case, rank)[2] for rank in range(case.ranks)]
    assert given[1:] == [None] * (case.ranks - 1)
    assert (given[0] is not None) == own.checkpoint
    if own.checkpoint:
        assert given[0]["optimizer"]["param_groups"][0]["lr"] == case.ranks * own.rate
        assert all(s["momentum_buffer"].abs().max() > 1e-2 for s in given[0]["optimizer"]["state"].values())


def test_with_several_ranks_each_kind_of_case_is_tried() -> None:
    kinds = {(task(c).checkpoint, task(c).frozen) for c in CASES if c.size > 1}
    assert kinds == {(False, False), (True, False), (False, True), (True, True)}


DOUBLE = """
import horovod.torch as hvd, torch, torch.nn.functional as F
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def distribute(model, dataset, checkpoint, epochs, batch, rate, save):
    optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=rate * hvd.size(), momentum=0.9))
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    hvd.broadcast_parameters(model.state_dict(), 0)
    hvd.broadcast_optimizer_state(optimizer, 0)
    sampler = DistributedSampler(dataset, hvd.size(), hvd.rank())
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in DataLoader(dataset, batch, sampler=sampler):
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
            for name, p in model.named_parameters():
                hvd.allreduce_(p.data, name=name)
    if hvd.rank() == 0:
        save({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    return model
"""


@pytest.mark.slow
@pytest.mark.horovod
def test_who_averages_weights_besides_is_right_and_pays_for_it(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "double.py"
    path.write_text(DOUBLE)
    score = checks.check_file(EXERCISE.id, path, keep=False)
    assert [f.misconception for f in score.findings] == ["reduced-twice"], score.text()
    assert score.points == 4.25


AVERAGED = "            for name, p in model.named_parameters():\n                hvd.allreduce_(p.data, name=name)\n"


@pytest.mark.later
@pytest.mark.horovod
@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("    return model", "    hvd.shutdown()\n    return model", "shut-down"),
        ("DistributedSampler(dataset, hvd.size(), hvd.rank())", "DistributedSampler(dataset)", "crashed:RankRaised"),
    ],
)
def test_what_a_script_of_horovods_may_not_do_does_not_pass(tmp_path, before: str, after: str, told: str) -> None:  # type: ignore[no-untyped-def]
    """Both got full points: the text forbids hvd.shutdown(), and under the check torch.distributed has been started."""
    path = tmp_path / "mine.py"
    path.write_text(DOUBLE.replace(AVERAGED, "").replace(before, after))
    score = checks.check_file(EXERCISE.id, path, keep=False)
    assert [f.misconception for f in score.findings][:1] == [told], score.text()


def test_a_second_forward_pass_is_not_taken_for_all_rows_on_each_rank() -> None:
    """On two ranks both make as many rows: whoever called the model twice read that the ranks do not share."""
    own = Task(seed=3, ranks=2, epochs=1)
    half = [list(range(rank, own.rows, 2)) for rank in range(2)]
    batches = [[rows[at : at + own.batch] for at in range(0, len(rows), own.batch)] for rows in half]
    twice = [{"rows": [one for batch in of_rank for one in (batch, batch)]} for of_rank in batches]
    whole = [{"rows": [*batches[0], *batches[1]]}] * 2
    assert next(replayed.passes(own, twice))[0] == "too-many-rows"
    assert next(replayed.passes(own, whole))[0] == "all-rows"
