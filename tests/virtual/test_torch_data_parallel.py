"""DistributedDataParallel, its hooks and its relatives: gradients of the one-rank run, in both worlds alike.

DDP launches an all-reduce for each bucket while the backward pass goes on. That overlap is real on processes, and it
is real in virtual time. Not shown here: SyncBatchNorm and the bf16 compression hook, which torch has for GPUs only.
"""

from __future__ import annotations

import time
import warnings

import pytest
import torch
import torch.distributed as dist
from both_worlds import both, gradients, quietly, same, virtual, weights
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.distributed.algorithms.join import Join
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DistributedSampler

from lockstep import run
from lockstep.errors import RankRaised

K = 3  # ranks
MICRO = 2  # micro-batches of each rank
TINY_BUCKETS = 0.0005  # MB: each layer has its own


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


def batch():
    return torch.randn(12, 8, generator=torch.Generator().manual_seed(1))


def loss(model, x):
    return model(x).square().mean()


def mine(x):
    return x.chunk(dist.get_world_size())[dist.get_rank()]


def alone(steps=1):
    """The one-rank run: gradients of the first step, weights after the last."""
    model = network()
    optimizer, found = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss(model, batch()).backward()
        found.append(gradients(model))
        optimizer.step()
    return found[0], weights(model)


def accumulate(model, x):
    """The backward passes of all micro-batches; DDP communicates in the last one."""
    *early, last = x.chunk(MICRO)
    with model.no_sync():
        for part in early:
            (loss(model, part) / MICRO).backward()
    (loss(model, last) / MICRO).backward()


@pytest.mark.slow
def test_gradients_and_training_are_those_of_one_rank():
    def train():
        model = DistributedDataParallel(network(), bucket_cap_mb=TINY_BUCKETS)
        optimizer, found = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), []
        for _ in range(3):
            optimizer.zero_grad()
            accumulate(model, mine(batch()))
            found.append(gradients(model))
            optimizer.step()
        return found[0], weights(model)

    for value in both(train, ranks=K):
        same(value, alone(3))


class TwoWays(nn.Module):
    """One of the layers has no gradient on some ranks."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.odd, self.even = nn.Linear(8, 4), nn.Linear(8, 4)

    def forward(self, x):
        return (self.odd if dist.get_rank() % 2 else self.even)(x)


class Recomputed(nn.Module):
    """A backward pass within the backward pass."""

    def __init__(self):
        super().__init__()
        self.layers = network()

    def forward(self, x):
        first, *rest = self.layers
        return checkpoint(nn.Sequential(*rest), first(x), use_reentrant=True)


@pytest.mark.slow
def test_the_ways_of_using_ddp():
    def use():
        quietly()
        x, found = mine(batch()), {}
        for name, options in {
            "static graph": {"static_graph": True},
            "views": {"gradient_as_bucket_view": True},
            "no first broadcast": {"init_sync": False},
        }.items():
            model = DistributedDataParallel(network(), bucket_cap_mb=TINY_BUCKETS, **options)
            for _ in range(2):
                model.zero_grad()
                loss(model, x).backward()
            found[name] = gradients(model)
        model = DistributedDataParallel(Recomputed(), bucket_cap_mb=TINY_BUCKETS)
        loss(model, x).backward()
        found["recomputed"] = gradients(model)
        return found

    for found in both(use, ranks=K):
        for value in found.values():
            same(value, alone()[0])


@pytest.mark.slow
def test_parameters_that_a_rank_does_not_use():
    def use():
        model = DistributedDataParallel(TwoWays(), find_unused_parameters=True)
        for _ in range(2):
            model.zero_grad()
            loss(model, mine(batch())).backward()
        return gradients(model)

    by_parameter = zip(*both(use, ranks=K), strict=True)
    assert all(torch.equal(first, other) for first, *others in by_parameter for other in others)


@pytest.mark.slow
def test_ranks_that_have_more_batches_than_others():
    def use():
        model = DistributedDataParallel(network())
        with Join([model]):
            for _ in range(dist.get_rank() + 1):
                model.zero_grad()
                loss(model, mine(batch())).backward()
        return gradients(model)

    both(use, ranks=K, memory=1)


def test_a_program_that_shows_all_warnings_sees_none_of_lockstep():
    """torch's ``join`` lets every warning through: one told of a file of Lockstep's that was not closed."""

    def fn():
        warnings.simplefilter("always", ResourceWarning)
        dist.barrier()

    for on in ("processes", "dgx-a100"):
        assert run(fn, ranks=2, on=on).printed == ""


@pytest.mark.slow
def test_hooks_may_sleep_and_print():
    def use():
        model = network()
        for name, p in model.named_parameters():
            p.register_hook(lambda g, name=name: (time.sleep(0.01 * dist.get_rank()), print(name), g)[-1])
        model = DistributedDataParallel(model, bucket_cap_mb=TINY_BUCKETS)
        accumulate(model, mine(batch()))
        return gradients(model)

    for value in both(use, ranks=K):
        same(value, alone()[0])


def averaged(state, bucket):
    """A communication hook as a learner writes it."""
    future = dist.all_reduce(bucket.buffer(), async_op=True).get_future()
    return future.then(lambda done: done.value()[0] / dist.get_world_size())


averaged.__annotations__ = {"bucket": dist.GradBucket, "return": torch.futures.Future[torch.Tensor]}


def failing(state, bucket):
    return dist.all_reduce(bucket.buffer(), async_op=True).get_future().then(lambda done: 1 / 0)


failing.__annotations__ = averaged.__annotations__


@pytest.mark.slow
def test_communication_hooks():
    def use():
        found = []
        for hook in (averaged, default_hooks.allreduce_hook, default_hooks.fp16_compress_hook):
            model = DistributedDataParallel(network(), bucket_cap_mb=TINY_BUCKETS)
            model.register_comm_hook(None, hook)
            loss(model, mine(batch())).backward()
            found.append(gradients(model))
        return found[:2], [g.half() for g in found[2]]  # gloo adds halves in another order

    for whole, half in both(use, ranks=2):
        for value in whole:
            same(value, alone()[0])
        same([g.float() for g in half], alone()[0], rtol=1e-2, atol=1e-3)


@pytest.mark.slow
def test_a_hook_that_communicates_in_its_callbacks():
    """PowerSGD's later all-reduces run in threads of gloo: the Recorder of processes did not see them, or saw them on
    some ranks only and then called them unmatched."""

    def use():
        model = DistributedDataParallel(network())
        state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=1, start_powerSGD_iter=2)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
        for _ in range(4):
            model.zero_grad()
            loss(model, mine(batch())).backward()
        return gradients(model)

    both(use, ranks=2, memory=0.6)


def test_a_hook_that_fails_is_the_learners_error():
    def use():
        model = DistributedDataParallel(network())
        model.register_comm_hook(None, failing)
        loss(model, mine(batch())).backward()

    with pytest.raises(RankRaised, match="ZeroDivisionError"):
        virtual(use, ranks=2)


@pytest.mark.slow
def test_ddp_communicates_while_it_computes():
    def use():
        model = DistributedDataParallel(nn.Sequential(*[nn.Linear(64, 64) for _ in range(4)]), bucket_cap_mb=0.017)
        for _ in range(2):
            loss(model, torch.ones(8, 64)).backward()

    events = virtual(use, ranks=2).trace.of_rank(0)
    first, last = [e for e in events if e.kind == "all_reduce"][-2:]
    assert first.wait == 0 < first.duration
    assert any(e.kind == "compute" and e.start < first.end and first.start < e.end for e in events)
    assert last.wait == pytest.approx(last.duration), "nothing is left to compute beside the last one"


def test_a_future_is_settled_when_it_is_asked_for():
    def use():
        x = torch.ones(1000)
        work = dist.all_reduce(x, async_op=True)
        future = work.get_future()
        doubled = future.then(lambda done: done.value()[0] * 2)
        early = doubled.done()
        time.sleep(0.1)
        began = time.perf_counter()
        return early, doubled.done(), doubled.wait()[:2], future.value()[0][:2], time.perf_counter() - began

    for early, late, doubled, value, waited in virtual(use, ranks=2).values:
        assert (early, late) == (False, True)
        assert (doubled.tolist(), value.tolist()) == ([4, 4], [2, 2])
        assert waited < 1e-3


def test_polling_a_future_ends():
    def use():
        if dist.get_rank():
            time.sleep(1)
        future = dist.all_reduce(torch.ones(3), async_op=True).get_future()
        while not future.done():
            pass
        return future.wait()[0].tolist()

    assert virtual(use, ranks=2).values == [[2, 2, 2]] * 2


@pytest.mark.slow
def test_optimizer_states_cut_among_the_ranks():
    def train():
        model = DistributedDataParallel(network())
        optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            loss(model, mine(batch())).backward()
            optimizer.step()
        return weights(model)

    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        loss(model, batch()).backward()
        optimizer.step()
    for value in both(train, ranks=K):
        same(value, weights(model), rtol=1e-3, atol=1e-4)


def test_each_rank_has_its_own_samples():
    def use():
        sampler = DistributedSampler(range(12), shuffle=True)
        sampler.set_epoch(1)
        return list(sampler)

    values = both(use, ranks=K)
    assert sorted(i for value in values for i in value) == list(range(12))
