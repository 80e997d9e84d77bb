"""Programs that make their process group themselves take the one that is there. It was "initialize the default process
group twice", or a KeyError for MASTER_ADDR."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import weakref
from datetime import timedelta
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch.distributed import init_process_group

from lockstep import run
from lockstep.errors import RankRaised, UsageError
from lockstep.launch.init_process_group import DESTROYED

WORLDS = ["dgx-a100", "processes"]


def total():
    x = torch.full((1,), 10.0 ** int(os.environ["RANK"]))
    dist.all_reduce(x)
    return int(x)


def named():
    dist.init_process_group("gloo")
    return total()


def of_a_tcp_address():
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    address = f"tcp://{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=size)
    return total()


def of_the_environment():
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", "12355"
    dist.init_process_group("cpu:gloo,cuda:nccl", init_method="env://")
    return total()


def without_a_backend():
    dist.init_process_group()
    return total()


def of_a_store():
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    store = dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), size, is_master=rank == 0)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size)
    store.set(f"from {rank}", str(rank))
    assert store.get(f"from {1 - rank}") == str(1 - rank).encode()
    return total()


def on_a_device():
    dist.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))
    return total()


def with_a_name_of_its_own_for_it():
    init_process_group("gloo", rank=dist.get_rank())
    return total()


def only_if_there_is_none():
    if not dist.is_initialized():
        dist.init_process_group("gloo")
    return total()


def in_a_hurry():
    """A timeout that is shorter than the work of another rank: the ranks wait for each other even so."""
    dist.init_process_group("gloo", timeout=timedelta(milliseconds=50))
    if dist.get_rank():
        sum(range(20_000_000))
    return total()


def again():
    found = [named()]
    for backend in ("nccl", None, "gloo"):
        dist.destroy_process_group()
        assert not dist.is_initialized()
        dist.init_process_group(backend, timeout=timedelta(seconds=5))
        found.append(total())
    dist.destroy_process_group()
    return found[-1] if len({*found}) == 1 else found


PROGRAMS = [
    named, of_a_tcp_address, of_the_environment, without_a_backend, of_a_store, on_a_device,
    with_a_name_of_its_own_for_it, only_if_there_is_none, in_a_hurry, again,
]  # fmt: skip


@pytest.mark.sampled(13)
@pytest.mark.parametrize("on", WORLDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_a_program_that_makes_its_group(on, program):
    assert run(program, ranks=2, on=on).values == [11, 11]


def leaves():
    dist.init_process_group("nccl")
    dist.destroy_process_group()
    return int(os.environ["RANK"])


def leaves_alone():
    if dist.get_rank():
        dist.destroy_process_group()
    return int(os.environ["RANK"])


SCRIPT = """
import sys
sys.path.insert(0, {here!r})
import test_init_process_group
from lockstep import run
if {itself}:
    test_init_process_group.dist.init_process_group("gloo")
for program in test_init_process_group.PROGRAMS:
    assert run(program).values == [11, 11], program
assert run(test_init_process_group.leaves).values == [0, 1]
assert run(test_init_process_group.leaves_alone).values == [0, 1]
assert run(test_init_process_group.total).values == [11, 11]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "itself",
    [pytest.param(False, id="lockstep joins"), pytest.param(True, id="the script joins")],
)
def test_a_program_that_makes_its_group_under_a_launcher(tmp_path, itself):
    """Also a module that has imported init_process_group by name before run() began, and one that leaves at its end."""
    script = tmp_path / "program.py"
    script.write_text(SCRIPT.format(here=str(Path(__file__).parent), itself=itself))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)]
    subprocess.run(command, check=True, timeout=250)


@pytest.mark.parametrize("on", WORLDS)
def test_a_second_time_without_leaving_is_told_as_ever(on):
    def fn():
        dist.init_process_group("gloo")
        dist.init_process_group("gloo")

    with pytest.raises(RankRaised, match="trying to initialize the default process group twice"):
        run(fn, ranks=2, on=on)


@pytest.mark.parametrize("on", WORLDS)
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rank": 0, "world_size": 2}, "was told rank=0, world_size=2, but this is rank 1 of 2."),
        ({"world_size": 1}, "was told world_size=1, but this is rank [01] of 2."),
        ({"backend": "nccle"}, "there is no backend 'nccle'.\nThere are gloo, mpi, nccl"),
    ],
    ids=str,
)
def test_a_place_that_the_rank_does_not_have_is_told(on, given, told):
    with pytest.raises(RankRaised, match=told):
        run(lambda: dist.init_process_group(**given), ranks=2, on=on)


@pytest.mark.parametrize("on", WORLDS)
def test_a_group_is_called_what_was_asked_for(on):
    """It was always "virtual" there: torch and programs branch on it."""

    def fn():
        found = [dist.get_backend()]
        dist.init_process_group("nccl")
        groups = [dist.new_group([0, 1], backend=name) for name in (None, "gloo", "nccl")]
        found += [dist.get_backend(), *map(dist.get_backend, groups)]
        dist.destroy_process_group()
        dist.init_process_group()
        return [*found, dist.get_backend()]

    expected = ["gloo", "nccl", "nccl", "gloo", "nccl", "undefined"]  # the last one is torch's own answer
    assert run(fn, ranks=2, on=on).values == [expected] * 2


@pytest.mark.sampled(4)
@pytest.mark.parametrize("on", WORLDS)
@pytest.mark.parametrize("backend", ["gloo", "nccl"])
def test_what_torch_does_with_either_name(on, backend):
    """Object collectives, DDP, FSDP, a mesh, functional collectives with gradients, a checkpoint; and the error of a
    call that fails is the program's own, not torch's, which asks NCCL for its version."""
    from torch.distributed import checkpoint
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.nn import functional
    from torch.distributed.tensor import Shard, distribute_tensor

    def fn(directory):
        dist.init_process_group(backend)
        rank, told = dist.get_rank(), [None, None]
        dist.all_gather_object(told, {"rank": rank})
        heard = [rank]
        dist.broadcast_object_list(heard, src=1)
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
        model(torch.full((1, 2), rank + 1.0)).sum().backward()
        mesh = dist.init_device_mesh("cpu", (2,))
        sharded = fully_shard(torch.nn.Linear(2, 2), mesh=mesh)
        sharded(torch.full((1, 2), rank + 1.0)).sum().backward()
        whole = distribute_tensor(torch.arange(4.0), mesh, [Shard(0)]).full_tensor()
        x = torch.full((2,), rank + 1.0, requires_grad=True)
        torch.cat(functional.all_gather(x)).square().sum().backward()
        y = torch.full((2,), rank + 1.0, requires_grad=True)
        pieces = functional.all_to_all([torch.empty(1), torch.empty(1)], list(y.chunk(2)))
        (torch.cat(pieces).sum() * (rank + 1)).backward()
        state = {"weight": torch.full((2,), 7.0)}
        checkpoint.save(state, checkpoint_id=directory)
        state["weight"].zero_()
        checkpoint.load(state, checkpoint_id=directory)
        with pytest.raises(ValueError, match=r"Invalid root rank|there is no rank 5"):
            dist.broadcast(torch.ones(1), src=5)
        ddp, fsdp = model.module.weight.grad, sharded.weight.grad.full_tensor()
        tensors = [ddp, fsdp, whole, x.grad, y.grad, state["weight"]]
        return told, heard, [t.flatten().tolist() for t in tensors]

    with tempfile.TemporaryDirectory() as directory:
        values = run(fn, directory, ranks=2, on=on).values
    told, heard, (ddp, fsdp, whole, gathered, exchanged, kept) = values[1]
    assert told == [{"rank": 0}, {"rank": 1}]
    assert heard == [1]
    assert ddp == fsdp == [1.5] * 4
    assert whole == [0, 1, 2, 3]
    assert gathered == [8, 8]
    assert exchanged == [1, 2]
    assert kept == [7, 7]


def test_adoption_ends_with_the_run():
    """Under a launcher the script goes on after run(): torch is as it was."""
    from torch.distributed import distributed_c10d

    from lockstep.launch.init_process_group import Adoption, Given, agree, cell_of_init, on_cpus

    def parts():
        return cell_of_init().cell_contents, distributed_c10d._new_process_group_helper

    before = parts()
    given = Given(0, 1, dist.HashStore, timedelta(seconds=5))
    with Adoption(lambda: given, on_cpus, lambda *told: agree(0, *told)):
        dist.init_process_group("nccl", world_size=1)
        assert dist.get_backend() == "nccl"
        dist.destroy_process_group()
        with pytest.raises(UsageError, match="rank 0 of 1"):
            dist.init_process_group(rank=1, world_size=2)
    assert parts() == before
    assert not dist.is_initialized()


def destroyed_and_forgotten(number):
    from lockstep.launch import init_process_group as kept  # of the rank, not a copy of the test's

    kept.keep(dist.group.WORLD)
    assert kept._groups.count(dist.group.WORLD) == 1
    seen = []
    for _ in range(number):
        group = dist.new_group()
        dist.all_reduce(torch.ones(1), group=group)
        dist.destroy_process_group(group)
        seen.append(weakref.ref(group))
        del group
    whole = weakref.ref(dist.group.WORLD)
    dist.destroy_process_group()
    return whole() is not None, sum(group() is not None for group in seen)


def test_a_destroyed_group_stays_a_while() -> None:
    """Its destructor waits for gloo's threads with Python's lock held, and they for the lock, to release a tensor: a
    DDP program that ended with destroy_process_group() hung, on a busy machine in one run of ten."""
    (outcome, *others) = run(destroyed_and_forgotten, 3 * DESTROYED, ranks=2, on="processes").values
    assert outcome == (True, DESTROYED + 1)
    assert others == [outcome]
