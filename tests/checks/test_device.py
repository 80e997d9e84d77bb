"""Under a launcher with NCCL a check's tensors are on GPUs. There is none here: the device is a fake one."""

from __future__ import annotations

import inspect
import os
import re

import device_cases as cases
import pytest
import torch

from lockstep import run
from lockstep.checks import device
from lockstep.checks.device import HOST, device_of_rank, moved
from lockstep.checks.exercise import Exercise, exercises
from lockstep.checks.load import load
from lockstep.checks.observe import Ungraded, _refuse_strays, acts_by_rank
from lockstep.checks.rank_program import MARK, Act, returned
from lockstep.errors import RankRaised
from lockstep.events import Event, Trace
from lockstep.launch.job import INSIDE

RANKS = 4
ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # of a function or an object among what is given
NEED_A_GPU = ("untyped_storage", "utils.checkpoint")  # a fake one's tensors have no storage, its device no generator
# What is real has a watch beside it, which makes Horovod's ranks.
COMMUNICATING = [e for e in exercises() if not e.pure and not e.run.real_machine and RANKS in e.worlds]
WITHOUT_TENSORS = {
    "communication.ping_pong", "horovod.negotiate", "pipeline.mend_one_f_one_b_exchange", "pipeline.pipeline_worker",
    "without_waiting.parameter_server",
}  # fmt: skip
WITH_TENSORS = [e for e in COMMUNICATING if e.id not in WITHOUT_TENSORS]


def test_every_tensor_is_moved_and_every_result_brought_back() -> None:
    """Those in lists, tuples and dicts, too; each rank has a GPU of its own."""
    x = torch.arange(3.0)
    act = Act(None, ((x, x + 1), [[x + 2], {"x": x + 3}], 10), tensors=True)
    for rank, [(gave, arguments)] in enumerate(run(cases.on_fake_gpus, cases.where, [[act]] * 2, ranks=2).values):
        found, (doubled, [nested]) = gave
        assert found == [f"lazy:{rank}"] * 4
        tensors = (doubled, nested, arguments[0][0], arguments[0][1])
        expected = ((x + 1) * 2, x + 12, x + 1, x + 1)
        for tensor, value in zip(tensors, expected, strict=True):
            assert type(tensor) is torch.Tensor
            assert tensor.device == HOST
            assert torch.equal(tensor, value)


def test_what_asks_for_gradients_is_a_leaf_that_asks_for_them() -> None:
    weights = torch.ones(2, requires_grad=True)
    [there] = moved([weights], torch.device("meta"))
    assert there.requires_grad
    assert there.is_leaf
    assert there.device.type == "meta"


def test_a_model_is_moved_itself() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    [there] = moved([model], torch.device("meta"))
    assert there is model
    assert {p.device.type for p in there.parameters()} == {"meta"}


def test_a_model_without_numbers_stays_where_it_is() -> None:
    """Torch refuses to copy what is not there: under a launcher with GPUs such an argument ended the check."""
    with torch.device("meta"):
        model = torch.nn.Linear(2, 2)
    [there] = moved([model], torch.device("cuda", 0))
    assert there is model
    assert there.weight.is_meta


def test_which_exercises_give_ranks_tensors_that_can_be_moved() -> None:
    found = {e.id for e in COMMUNICATING if not acts_by_rank(e, e.cases(RANKS, 1)[:1])[0][0].tensors}
    assert found == WITHOUT_TENSORS


@pytest.mark.sampled(12)
@pytest.mark.later
@pytest.mark.parametrize("exercise", WITH_TENSORS, ids=lambda e: e.function)
def test_right_answers_make_their_tensors_where_the_given_ones_are(exercise: Exercise) -> None:
    """Right answers give on GPUs what they give on the host, and no message leaves the host's memory."""
    files = sorted(exercise.right.glob("*.py"))
    reference = exercise.reference_function()
    sources = {f.stem: f.read_text() for f in files} | {"reference": inspect.getsource(reference)}
    known = {f.stem: load(f, exercise.function) for f in files} | {"reference": reference}
    answers = {name: known[name] for name, text in sources.items() if not any(need in text for need in NEED_A_GPU)}
    acts = acts_by_rank(exercise, exercise.cases(RANKS, 1))
    for of_rank in run(
        cases.on_fake_gpus_and_on_the_host, answers, acts, exercise.run.watch or returned, ranks=RANKS
    ).values:
        for name, (on_gpus, on_host) in of_rank.items():
            assert ADDRESS.sub("", repr(on_gpus)) == ADDRESS.sub("", repr(on_host)), name


def test_the_fake_gpu_refuses_a_message_from_the_hosts_memory() -> None:
    """Otherwise the tests above would say nothing."""
    act = Act(None, (torch.ones(3),), tensors=True)
    with pytest.raises(RankRaised, match="a message from the host's memory"):
        run(cases.on_fake_gpus, cases.made_on_the_host, [[act]] * 2, ranks=2)


@pytest.mark.parametrize(
    ("inside", "gpus", "found"),
    [("spmd", 2, "cuda:1"), ("spmd", 1, "cpu"), ("processes", 2, "cpu"), ("", 2, "cpu")],
)
def test_only_ranks_of_a_launcher_with_a_gpu_each_use_them(
    inside: str, gpus: int, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {INSIDE: inside, "LOCAL_WORLD_SIZE": "2", "LOCAL_RANK": "1"})
    monkeypatch.setattr(device.joining, "on_gpus", lambda local_ranks: gpus >= local_ranks)
    assert str(device_of_rank()) == found


# ---- what went another way than it should have

SENT = Event(0, "send", 1.0, 2.0, 12, peer=1, group=(0, 1), where="ring.py, line 3")


def trace(mark: str, *messages: Event) -> Trace:
    begin = Event(0, "broadcast", 0.0, 0.5, MARK, peer=0, group=(0, 1), backend=mark)
    return Trace.of([begin, *messages], ranks=2, world="spmd")


def test_a_check_that_should_have_used_nccl_and_did_not_is_ungraded() -> None:
    by_gloo = SENT._replace(backend="gloo")
    with pytest.raises(Ungraded, match=r"NCCL carries them, but gloo carried some messages\.\nMake the tensors"):
        _refuse_strays(trace("nccl", SENT._replace(backend="nccl"), by_gloo))


def test_what_goes_as_it_should_is_judged() -> None:
    by_nccl, by_gloo = SENT._replace(backend="nccl"), SENT._replace(backend="gloo")
    barrier = Event(0, "barrier", 2.0, 3.0, 0, group=(0, 1), backend="gloo")
    computed = Event(0, "compute", 2.0, 3.0, 100)
    _refuse_strays(trace("nccl", by_nccl, barrier, computed))
    _refuse_strays(trace("gloo", by_gloo))
    _refuse_strays(trace("virtual", SENT._replace(backend="virtual")))
    _refuse_strays(None)
