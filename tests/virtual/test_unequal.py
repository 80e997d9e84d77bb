"""Ranks and links that differ: stragglers, slow links, jitter, and a rank whose memory is full."""

from __future__ import annotations

import json
import threading
import time

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from lockstep import run
from lockstep.collectives import ring_all_reduce
from lockstep.cost.collectives import collective_time
from lockstep.errors import OutOfMemory
from lockstep.events import Trace, Unequal
from lockstep.machines import Cluster, Device, Link
from lockstep.places import NOWHERE
from lockstep.virtual.out_of_memory import out_of_memory

SECOND = 10**9  # bytes that the device moves in a second
MB = 10**6
NODE = 4
CLUSTER = Cluster(
    "by hand", Device("plain", {"float32": 1e30}, SECOND, 10**12, 0.0), NODE, Link(1e-3, 1e-6), Link(1e-2, 1e-5)
)
SMALL = Cluster("small", Device("small", {"float32": 1e12}, 1e12, 100 * MB, 0.0), 8, Link(1e-6, 1e-9), Link(1e-6, 1e-9))


def compute(seconds: float) -> None:
    x = torch.empty(round(seconds * SECOND / 800))
    for _ in range(100):
        x.neg_()  # each byte read and written, a hundred times


# ---- stragglers


def steps() -> list[float]:
    """Three synchronous steps of a second each, and when they were done."""
    begin, done = time.perf_counter(), []
    for _ in range(3):
        compute(1.0)
        dist.barrier()
        done.append(time.perf_counter() - begin)
    return done


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("speed", "seconds"), [(0.5, 2.0), (0.25, 4.0), (1.0, 1.0), (4.0, 1.0)])
def test_a_synchronous_step_is_as_slow_as_its_slowest_rank(speed: float, seconds: float) -> None:
    """Found: all ranks had one Device, so that there was no straggler. A fast rank among slow ones helps nobody."""
    meeting = collective_time("barrier", 0, range(4), CLUSTER)
    result = run(steps, ranks=4, on=CLUSTER.with_rank(3, speed=speed))
    for done in result.values:
        assert done == pytest.approx([(seconds + meeting) * n for n in (1, 2, 3)])


def test_who_waits_for_a_straggler_is_seen_in_the_trace() -> None:
    trace = run(steps, ranks=4, on=CLUSTER.with_rank(3, speed=0.5)).trace
    waits = [sum(e.wait for e in trace.of_rank(rank) if e.kind == "barrier") for rank in range(4)]
    assert waits[0] == waits[1] == waits[2] == pytest.approx(waits[3] + 3 * 1.0)
    assert trace.unequal == (Unequal((3,), "speed", 0.5),)


def test_without_data_a_straggler_is_as_slow() -> None:
    on = CLUSTER.with_rank(3, speed=0.5)
    assert run(steps, ranks=4, on=on, fake=True).values == run(steps, ranks=4, on=on).values


@pytest.mark.slow
def test_a_rank_that_the_run_has_not_makes_no_difference() -> None:
    plain, unequal = (run(steps, ranks=4, on=c) for c in (CLUSTER, CLUSTER.with_rank(4, speed=0.1)))
    assert unequal.trace == plain.trace


# ---- slow links


def token() -> list[float]:
    """A token goes round the ring once: when it came to each rank."""
    me, ranks = dist.get_rank(), dist.get_world_size()
    x, begin = torch.empty(250), time.perf_counter()  # 1,000 bytes: 2 ms within a node, 20 ms between
    if me == 0:
        dist.send(x, 1)
        dist.recv(x, ranks - 1)
    else:
        dist.recv(x, me - 1)
        dist.send(x, (me + 1) % ranks)
    return time.perf_counter() - begin


@pytest.mark.slow
def test_a_slow_link_makes_exactly_the_messages_on_it_slow() -> None:
    """0 → 1 → 2 → 3 ⇒ 4 → 5 → 6 → 7 ⇒ 0, with 1 – 2 at a tenth of the bandwidth and 3 – 4 at three times the alpha."""
    on = CLUSTER.with_link(2, 1, bandwidth=1e5).with_link(3, 4, latency=3e-2)
    trace = run(token, ranks=2 * NODE, on=on).trace
    arrived = {e.rank: e.end for e in trace.of_kind("recv")}
    hops = [2e-3, 1e-3 + 1e-2, 2e-3, 3e-2 + 1e-2, 2e-3, 2e-3, 2e-3, 2e-2]
    assert [arrived[(hop + 1) % 8] for hop in range(8)] == pytest.approx([sum(hops[: n + 1]) for n in range(8)])


def ring(n: int) -> float:
    x = torch.ones(n)
    dist.barrier()
    begin = time.perf_counter()
    ring_all_reduce(x)
    assert x.tolist() == [dist.get_world_size()] * n
    return time.perf_counter() - begin


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_a_ring_runs_at_its_slowest_link(ranks: int) -> None:
    """2(K-1)·(alpha + n/K·beta) with alpha and beta of the slow link: every chunk must pass it."""
    n = 1200
    on = CLUSTER.with_link(0, 1, bandwidth=1e5, latency=5e-3)
    closed = 2 * (ranks - 1) * (5e-3 + 4 * n / ranks * 1e-5)
    assert max(run(ring, n, ranks=ranks, on=on).values) == pytest.approx(closed, rel=1e-3)
    usual = 2 * (ranks - 1) * (1e-3 + 4 * n / ranks * 1e-6)
    assert max(run(ring, n, ranks=ranks, on=CLUSTER).values) == pytest.approx(usual, rel=1e-2)


def test_a_slow_link_that_a_ring_does_not_use_costs_it_nothing() -> None:
    on = CLUSTER.with_link(0, 2, bandwidth=1.0)
    ring_times, usual = (max(run(ring, 1200, ranks=4, on=c).values) for c in (on, CLUSTER))
    assert ring_times == pytest.approx(usual)


def test_a_collective_of_the_backend_takes_what_the_cost_model_says() -> None:
    def reduce() -> float:
        begin = time.perf_counter()
        dist.all_reduce(torch.ones(1000))
        return time.perf_counter() - begin

    on = CLUSTER.with_link(1, 6, bandwidth=1e4)
    slow, usual = (collective_time("all_reduce", 4000, range(8), c) for c in (on, CLUSTER))
    assert slow > 3 * usual
    assert run(reduce, ranks=8, on=on).values == pytest.approx([slow] * 8, rel=1e-3)


# ---- jitter


def pairs(late: bool = False) -> None:
    """Ranks 2 and 3 talk; ranks 0 and 1 do, too, or they come late."""
    me = dist.get_rank()
    if late and me < 2:
        time.sleep(0.7)
    for _ in range(5):
        compute(0.1)
        x = torch.empty(250)
        (dist.send if me % 2 == 0 else dist.recv)(x, me ^ 1)


JITTERY = CLUSTER.with_jitter(compute=0.2, messages=0.3, seed=7)


def durations(trace: Trace, rank: int, kind: str) -> list[float]:
    return [e.duration for e in trace.of_rank(rank) if e.kind == kind]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    first, again = (run(pairs, ranks=4, on=JITTERY) for _ in range(2))
    assert first.trace == again.trace
    assert run(pairs, ranks=4, on=CLUSTER.with_jitter(0.2, 0.3, seed=8)).time != first.time
    assert [u.what for u in first.trace.unequal] == ["compute jitter", "message jitter"]


def test_what_a_rank_draws_does_not_depend_on_who_is_simulated_first() -> None:
    """Were one stream drawn from by all, ranks 2 and 3 would draw other factors when 0 and 1 come later."""
    together, late = (run(pairs, late, ranks=4, on=JITTERY).trace for late in (False, True))
    for rank in (2, 3):
        for kind in ("compute", "send", "recv"):
            assert durations(late, rank, kind) == durations(together, rank, kind)


def test_what_is_computed_between_two_communications_varies_as_a_whole() -> None:
    """Were each of the hundred operations drawn by itself, they would even each other out."""
    taken = durations(run(pairs, ranks=2, on=JITTERY).trace, 0, "compute")
    assert len(taken) == 5
    assert max(taken) - min(taken) > 0.01  # of 0.1 s
    alone = durations(run(pairs, ranks=2, on=CLUSTER.with_jitter(messages=0.3)).trace, 0, "compute")
    assert alone == pytest.approx([0.1] * 5)


def test_a_collective_takes_the_longest_of_what_its_ranks_drew() -> None:
    def meet() -> None:
        for _ in range(20):
            dist.barrier()

    trace = run(meet, ranks=4, on=CLUSTER.with_jitter(messages=0.5)).trace
    usual = collective_time("barrier", 0, range(4), CLUSTER)
    taken = [e.duration for e in trace.of_rank(0)]
    assert len(set(taken)) == 20
    assert sum(t > usual for t in taken) > 15  # that all four draw less than 1 is rare


# ---- out of memory


def failing(fn, *args, ranks: int = 2, on: Cluster = SMALL, **options) -> OutOfMemory:
    with pytest.raises(OutOfMemory) as told:
        run(fn, *args, ranks=ranks, on=on, **options)
    return told.value


def tensor(megabytes: float) -> torch.Tensor:
    return torch.empty(round(megabytes * MB / 4))


@pytest.mark.parametrize("fake", [False, True])
def test_a_rank_that_asks_for_too_much_is_told_where_and_what_it_held(fake: bool) -> None:
    def hoard():
        kept = [tensor(40), tensor(40)]
        dist.barrier()
        if dist.get_rank() == 1:
            time.sleep(1)
            kept.append(torch.empty(7_500_000))
        dist.barrier()

    error = failing(hoard, ranks=3, fake=fake)
    assert error.message == (
        f"rank 1 ran out of memory at test_unequal.py, line {hoard.__code__.co_firstlineno + 5}, in hoard: it held "
        "80.0 MB and asked for 30.0 MB more; its device has 100.0 MB. It held: buffers 80.0 MB."
    )
    assert "buffers: let go of" in error.remedy
    assert [s.rank for s in error.states] == [0, 1, 2]
    assert [s.state for s in error.states] == ["waiting", "computing", "waiting"]
    assert error.states[1].source == "kept.append(torch.empty(7_500_000))"
    assert len(error.trace.of_kind("barrier")) == 3 + 2


def test_a_third_is_not_most_of_it() -> None:
    """Parameters, gradients and half of Adam's state, 16 MB each: "Most of it is parameters"."""
    at_most = 48 * MB
    third = dict.fromkeys(("parameters", "gradients", "optimizer state"), 16 * MB)
    told = [
        out_of_memory(0, NOWHERE, held, MB, at_most, []).remedy for held in (third, third | {"parameters": 64 * MB})
    ]
    assert told[0].startswith("The largest part of it is parameters: divide them among ranks")
    assert told[1].startswith("Most of it is parameters: divide them among ranks")


def test_what_is_let_go_makes_room() -> None:
    def turn():
        for _ in range(10):
            tensor(90)
        x = tensor(50)
        y = x.view(2, -1)  # no memory of its own
        del x
        return y.numel()

    assert run(turn, ranks=2, on=SMALL).values == [12_500_000] * 2


def test_only_the_rank_with_a_small_device_is_full() -> None:
    on = SMALL.with_rank(1, memory=50 * MB)
    error = failing(lambda: tensor(60), on=on)
    assert error.message.startswith("rank 1 ran out of memory")
    assert error.trace.unequal == (Unequal((1,), "memory", 50e6),)
    assert run(lambda: tensor(0), ranks=1, on=on).trace.unequal == ()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("caught", [RuntimeError, MemoryError, Exception, BaseException])
def test_no_except_swallows_it(caught: type[BaseException]) -> None:
    """Of a real GPU a program may catch it; here it is the whole run's failure, as a mismatch is."""

    def careful():
        try:
            tensor(200)
        except caught:
            return "went on"

    assert "asked for 200.0 MB more" in failing(careful).message


def test_a_model_that_is_built_is_parameters_before_it_has_ever_run() -> None:
    """Found: what no forward pass had met counted as buffers, and a model that did not fit never gets that far."""

    def build():
        return [nn.Linear(2500, 1000, bias=False) for _ in range(12)]

    error = failing(build, fake=True)
    assert "it held 100.0 MB and asked for 10.0 MB more" in error.message
    assert "It held: parameters 100.0 MB." in error.message
    assert "fully_shard" in error.remedy


def test_a_gpt3_does_not_fit_on_one_a100() -> None:
    """96 layers of 12,288: 80 GB are full somewhere in the twelfth."""

    def build():
        h = 12288
        return [[nn.Linear(h, k * h, bias=False) for k in (3, 1, 4, 4)] for _ in range(96)]

    error = failing(build, ranks=1, on="dgx-a100", fake=True)
    assert "its device has 80.0 GB" in error.message
    held = 4 * 12288**2 * (12 * 11)  # eleven whole layers
    assert f"parameters {held / 1e9:.1f}"[:12] in error.message


def test_activations_that_do_not_fit_are_called_so() -> None:
    def forward():
        model = nn.Sequential(*[nn.Tanh() for _ in range(10)])
        x = torch.ones(2_500_000, requires_grad=True)  # 10 MB
        return model(x)

    error = failing(forward)
    assert "activations 100.0 MB" in error.message
    assert "recompute them" in error.remedy


def test_a_backward_pass_may_be_what_does_not_fit() -> None:
    def backward():
        layer = nn.Linear(3000, 3000, bias=False)  # 36 MB, and its gradient
        kept = tensor(40)
        y = layer(torch.ones(1, 3000)).sum()
        y.backward()
        return kept

    error = failing(backward)
    assert error.states[0].source == "y.backward()"
    assert "asked for 36.0 MB more" in error.message


def test_the_first_step_of_adam_may_be_what_does_not_fit() -> None:
    def step():
        layer = nn.Linear(2500, 2500, bias=False)  # 25 MB, four times over with Adam
        kept = tensor(10)
        layer(torch.ones(1, 2500)).sum().backward()
        torch.optim.Adam(layer.parameters()).step()
        return kept

    error = failing(step, fake=True)
    assert "parameters 25.0 MB, gradients 25.0 MB, optimizer state 25.0 MB" in error.message
    assert "asked for 25.0 MB more" in error.message


def test_a_step_that_failed_holds_nothing_back() -> None:
    def careful():
        layer = nn.Linear(2500, 2500, bias=False)
        optimizer = torch.optim.Adam(layer.parameters())
        with pytest.raises(ZeroDivisionError):
            optimizer.step(lambda: 1 / 0)
        del layer, optimizer
        return tensor(90).numel()

    assert run(careful, ranks=1, on=SMALL).values == [22_500_000]


@pytest.mark.parametrize("fake", [False, True])
@pytest.mark.parametrize("mode", [lambda: torch.device("meta"), FakeTensorMode])
def test_shapes_that_a_program_makes_may_be_larger_than_the_device(mode, fake: bool) -> None:
    """A model made in a fake mode of the program's own ran out of memory: the hooks of modules booked its parameters.
    What it computes takes no time either, also after the mode has been left."""

    def plan():
        with mode():
            layer = nn.Linear(100_000, 100_000)
            layer(torch.empty(10, 100_000)).sum().backward()
            torch.optim.SGD(layer.parameters(), lr=0.1).step()
        if not fake:  # there torch would have two fake modes
            layer.weight.detach().add_(1)
        return time.perf_counter()

    result = run(plan, ranks=1, on=SMALL, fake=fake)
    assert (result.values, result.peak_memory) == ([0.0], [0])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fake", [False, True])
@pytest.mark.parametrize("swap", [False, True])
def test_parameters_of_which_others_take_the_place_are_given_back(swap: bool, fake: bool) -> None:
    def change():
        layer = nn.Linear(3000, 2500, bias=False, device="meta").to_empty(device="cpu")  # 30 MB
        torch.__future__.set_swap_module_params_on_conversion(swap)  # for the whole process, that ends with the run
        for _ in range(5):
            layer.to(torch.bfloat16).to(torch.float32)
        return tensor(65).numel()

    assert run(change, ranks=1, on=SMALL, fake=fake).peak_memory == [95 * MB]


@pytest.mark.slow
@pytest.mark.parametrize("fake", [False, True])
def test_who_is_out_of_memory_is_no_luck(fake: bool) -> None:
    def hoard():
        kept = [tensor(40)]
        dist.barrier()
        time.sleep(dist.get_rank())
        kept.append(tensor(70))

    on = SMALL.with_jitter(compute=0.2, messages=0.2, seed=1)
    told = {failing(hoard, ranks=3, on=on, fake=fake, ties=ties).message for ties in (None, *range(4))}
    assert len(told) == 1
    assert "rank 0 ran out of memory" in told.pop()


def test_a_storage_that_grows_may_be_what_does_not_fit() -> None:
    """fully_shard gathers its parameters by resizing storages."""

    def grow():
        x = tensor(30)
        x.untyped_storage().resize_(0)
        x.untyped_storage().resize_(90 * MB)
        x.untyped_storage().resize_(120 * MB)

    error = failing(grow)
    assert error.states[0].source == "x.untyped_storage().resize_(120 * MB)"
    assert "held 90.0 MB and asked for 30.0 MB more" in error.message


def test_arguments_alone_may_be_too_much() -> None:
    model = nn.Linear(5000, 10000, bias=False, device="meta")
    error = failing(lambda m: None, model, fake=True)
    assert "rank 0 ran out of memory before its function began: it held 0 bytes and asked for 200.0 MB" in error.message


def test_a_thread_of_the_rank_takes_of_the_same_memory() -> None:
    def load():
        kept = [tensor(60)]
        loader = threading.Thread(target=lambda: kept.append(tensor(60)))
        loader.start()
        loader.join()

    assert "rank 0 ran out of memory at test_unequal.py" in failing(load).message


def test_garbage_that_python_has_not_collected_yet_is_no_memory() -> None:
    """When it collects is luck: whether a run fails must not be."""

    def cycles():
        for _ in range(20):
            circle = [tensor(20)]
            circle.append(circle)

    run(cycles, ranks=2, on=SMALL)


def test_a_trace_with_differences_is_plain_data() -> None:
    on = CLUSTER.with_rank(0, speed=0.5).with_link(0, 1, latency=1.0).with_jitter(0.1)
    trace = run(dist.barrier, ranks=2, on=on).trace
    assert len(trace.unequal) == 3
    assert Trace.from_json(json.loads(json.dumps(trace.to_json()))) == trace
