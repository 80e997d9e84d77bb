"""The rules of backends, each with a program that keeps it and one that does not. Their sources are those of
``lockstep.comm.backend_rules``."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest
import torch
import torch.distributed as dist
from torch.distributed import batch_isend_irecv

from lockstep import run
from lockstep.comm import backend_rules as rules
from lockstep.comm.backend_rules import MPI, NCCL, RENDEZVOUS
from lockstep.deadlock_report import ALL_SEND
from lockstep.errors import Deadlock, Mismatch, RankRaised, UsageError

STRICT = replace(NCCL, eager=-1)


def nccl(fn, *args, ranks=2, rules=STRICT, **options):
    return run(fn, *args, ranks=ranks, on="dgx-a100", rules=rules, **options)


def swap(n, receive_first=False, batch=False):
    """Both ranks send to each other, and receive."""
    other, x, y = 1 - dist.get_rank(), torch.full((n,), float(dist.get_rank())), torch.empty(n)
    posts = [(dist.isend, x), (dist.irecv, y)]
    if receive_first:
        posts.reverse()
    if batch:
        works = dist.batch_isend_irecv([dist.P2POp(post, t, other) for post, t in posts])
    else:
        works = [post(t, other) for post, t in posts]
    for work in works:
        work.wait()
    return y[0].item()


# ---- (1) a send returns before anybody receives it


def sends_first(n):
    other, x = 1 - dist.get_rank(), torch.zeros(n, dtype=torch.uint8)
    dist.send(x, other)
    x += 1
    dist.recv(y := torch.empty_like(x), other)
    return y.sum().item()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rule", [RENDEZVOUS, MPI, NCCL], ids=lambda r: r.name)
def test_short_sends_are_buffered_by_mpi_and_nccl_and_long_ones_by_nobody(rule):
    """pytorch#129341, nccl#544, nccl#1456. What was sent is what was there when it was sent."""
    for n in (1, rule.eager) if rule.eager > 0 else ():
        assert nccl(sends_first, n, rules=rule).values == [0, 0]
    with pytest.raises(Deadlock):
        nccl(sends_first, max(1, rule.eager + 1), rules=rule)


def test_a_buffered_send_is_over_at_once_and_its_message_travels_when_it_is_received():
    def fn():
        x = torch.zeros(256)
        if dist.get_rank() == 0:
            dist.send(x, 1)
        else:
            time.sleep(1.0)
            dist.recv(x, 0)
        return time.perf_counter()

    sender, receiver = nccl(fn, rules=MPI).values
    assert sender < 1e-4
    assert receiver > 1.0


@pytest.mark.slow
@pytest.mark.parametrize("rule", [MPI, NCCL], ids=lambda r: r.name)
def test_whether_a_send_is_buffered_is_no_question_of_who_came_first(rule):
    """It was over at once only if its receiver had not posted yet: at one time that is luck, and ``ties`` showed it."""

    def fn(early):
        me, x = dist.get_rank(), torch.zeros(100)
        time.sleep(1 if me != early else 0)
        begin = time.perf_counter()
        dist.send(x, 1) if me == 0 else dist.recv(x, 0)
        return time.perf_counter() - begin

    for early in (0, 1, None):
        spent = [run(fn, early, ranks=2, on="dgx-a100", rules=rule, ties=ties).values for ties in (None, *range(4))]
        assert spent == [spent[0]] * 5
        assert spent[0][0] == 0 < spent[0][1]


# ---- (2) tags


def two_tags(tags):
    if dist.get_rank() == 0:
        for work in [dist.isend(torch.full((1,), 10.0 * tag), 1, tag=tag) for tag in (1, 2)]:
            work.wait()
        return None
    x = torch.zeros(2)
    for work in [dist.irecv(x[i : i + 1], 0, tag=tag) for i, tag in enumerate(tags)]:
        work.wait()
    return x.tolist()


@pytest.mark.slow
def test_nccl_ignores_tags():
    """pytorch#94819, #125079: messages arrive in the order of posting, whatever they are called."""
    assert run(two_tags, (2, 1), ranks=2, on="dgx-a100").values[1] == [20, 10]
    assert nccl(two_tags, (2, 1)).values[1] == [10, 20]
    assert nccl(two_tags, (7, 7)).values[1] == [10, 20]


# ---- (3) any source


def test_nccl_has_no_receive_from_any_source():
    def fn():
        x = torch.zeros(1)
        return dist.recv(x) if dist.get_rank() == 0 else dist.send(x, 0)

    assert run(fn, ranks=2, on="dgx-a100", rules="mpi").values[0] == 1
    with pytest.raises(RankRaised, match="NCCL has no receive from any source: name it"):
        nccl(fn, rules="nccl")


# ---- (4) in order


def test_what_two_ranks_post_to_each_other_is_carried_out_in_order():
    """nccl#479: both send first. On gloo it works: nobody waits before all is posted."""
    assert run(swap, 8, ranks=2, on="dgx-a100").values == [1, 0]
    with pytest.raises(Deadlock) as caught:
        nccl(swap, 8)
    assert "rank 0 waits for rank 1, rank 1 waits for rank 0" in str(caught.value)
    assert "rank 0 waits in send(dst=1), which rank 1 takes after its send(dst=0) at test_rules.py" in str(caught.value)
    assert "batch_isend_irecv" in caught.value.remedy


def test_buffering_hides_it_unless_both_receive_first():
    assert nccl(swap, 8, rules=NCCL).values == [1, 0]
    with pytest.raises(Deadlock) as caught:
        nccl(swap, 8, receive_first=True, rules=NCCL)
    with pytest.raises(Deadlock):
        nccl(swap, NCCL.eager, rules=NCCL)  # four bytes each
    assert [s.waits_for for s in caught.value.states] == [(1,), (0,)]


@pytest.mark.parametrize("receive_first", [False, True])
def test_a_batch_is_carried_out_at_once(receive_first):
    assert nccl(swap, 8, receive_first, batch=True).values == [1, 0]


def swap_in_a_batch(n, group=None, post=batch_isend_irecv):
    """``post`` is torch's function, as a program has imported it long before the run."""
    me = dist.get_rank()
    x, y = torch.full((n,), float(me)), torch.empty(n)
    for work in post(p2p_op_list=[dist.P2POp(dist.isend, x, me ^ 1, group), dist.P2POp(dist.irecv, y, me ^ 1, group)]):
        work.wait()
    return y


@pytest.mark.parametrize("fake", [False, True])
def test_a_program_that_makes_its_own_groups_has_batches_too(fake):
    """Its list of operations could not be given by torch's name for it, ``p2p_op_list``."""

    def fn():
        dist.init_process_group("nccl")
        mine = [dist.new_group([0, 1]), dist.new_group([2, 3])][dist.get_rank() // 2]
        got = [swap_in_a_batch(8), swap_in_a_batch(8, mine)]
        dist.destroy_process_group()
        dist.init_process_group("nccl")
        got.append(swap_in_a_batch(8))
        return got

    result = nccl(fn, ranks=4, fake=fake)
    assert len(result.trace.of_kind("recv")) == 3 * 4
    if not fake:
        assert [[y.unique().tolist() for y in got] for got in result.values] == [[[r ^ 1]] * 3 for r in range(4)]


def test_a_batch_in_a_thread_of_a_rank_is_one():
    """AttributeError: '_thread._local' object has no attribute 'simulation'. Posted one by one, its messages wait for
    each other."""

    def fn():
        thread = threading.Thread(target=swap_in_a_batch, args=(8,))
        thread.start()
        thread.join()

    assert nccl(fn).trace.counts() == nccl(swap_in_a_batch, 8).trace.counts()


def test_a_rank_that_waits_behind_its_own_operation_is_told_so():
    def fn():
        other, x = 1 - dist.get_rank(), torch.zeros(8)
        dist.isend(x, other)
        dist.recv(torch.empty(8), other)

    with pytest.raises(Deadlock, match=r"rank 0 waits in recv\(src=1\), behind its send\(dst=1\) at test_rules.py"):
        nccl(fn)


def test_each_pair_has_a_queue_of_its_own():
    """A ring of three: what a rank posts to its right does not wait for what it posts to its left."""

    def fn():
        r, x, y = dist.get_rank(), torch.zeros(8), torch.empty(8)
        for work in [dist.irecv(y, (r - 1) % 3), dist.isend(x, (r + 1) % 3)]:
            work.wait()

    assert nccl(fn, ranks=3).time > 0
    with pytest.raises(Deadlock):
        nccl(lambda: swap(8, receive_first=True))


def test_a_message_waits_for_the_one_before_it_and_takes_place_then():
    def fn():
        other, x = 1 - dist.get_rank(), torch.zeros(1000)
        post = [dist.isend, dist.irecv] if dist.get_rank() == 0 else [dist.irecv, dist.isend]
        for work in [act(x, other) for act in post]:
            work.wait()

    beside = run(fn, ranks=2, on="dgx-a100").trace.of_kind("send")
    first, second = nccl(fn).trace.of_kind("send")
    assert beside[0].start == beside[1].start, "full duplex"
    assert second.start == first.end
    assert second.posted < second.start


def after_a_collective(batch):
    """Rank 2 comes late to the all-reduce; 0 and 1 swap meanwhile, or have to wait."""
    rank, x, y = dist.get_rank(), torch.zeros(8), torch.empty(8)
    if rank == 2:
        time.sleep(1.0)
    works = [dist.all_reduce(torch.zeros(8), async_op=True)]
    if rank < 2:
        posts = [(dist.isend, x), (dist.irecv, y)][:: -1 if rank else 1]
        if batch:
            works += dist.batch_isend_irecv([dist.P2POp(post, t, 1 - rank) for post, t in posts])
        else:
            works += [post(t, 1 - rank) for post, t in posts]
    for work in works:
        work.wait()


def test_a_batch_waits_for_the_collective_before_it_and_what_is_posted_singly_does_not():
    """Batches share the group's stream with its collectives."""
    for batch in (True, False):
        trace = nccl(after_a_collective, batch, ranks=3).trace
        reduce, *messages = [e for e in trace.communication if e.rank == 0]
        assert reduce.start == pytest.approx(1.0, abs=1e-4)
        assert all((m.start >= reduce.end) == batch for m in messages)


def test_messages_of_a_batch_do_not_meet_single_ones():
    """They go through different communicators: on NCCL the two would wait for ever."""

    def fn():
        x = torch.zeros(8)
        if dist.get_rank() == 0:
            dist.send(x, 1)
        else:
            dist.batch_isend_irecv([dist.P2POp(dist.irecv, x, 0)])[0].wait()

    assert run(fn, ranks=2, on="dgx-a100").time > 0
    with pytest.raises(Deadlock):
        nccl(fn)


def test_torchs_pipeline_keeps_nccls_rules():
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

    def fn():
        torch.manual_seed(0)
        layer, rank = torch.nn.Linear(4, 4), dist.get_rank()
        stage = PipelineStage(layer, rank, 2, torch.device("cpu"))
        schedule = ScheduleGPipe(stage, 2, loss_fn=torch.nn.functional.mse_loss)
        x = torch.ones(4, 4)
        schedule.step(x) if rank == 0 else schedule.step(target=x)
        return layer.weight.grad.abs().sum().item()

    assert nccl(fn).values == run(fn, ranks=2, on="dgx-a100").values


def test_a_mismatch_is_told_under_every_rule():
    def fn():
        (dist.recv if dist.get_rank() else dist.send)(torch.zeros(2 + dist.get_rank()), 1 - dist.get_rank())

    for rule in ("rendezvous", "mpi", "nccl"):
        with pytest.raises(Mismatch, match="sends 2 elements of float32, rank 1 has room for 3"):
            nccl(fn, rules=rule)


def test_rules_are_named():
    assert [rules.find(name).name for name in ("rendezvous", "mpi", "nccl")] == ["rendezvous", "mpi", "nccl"]
    assert rules.find(STRICT) is STRICT
    with pytest.raises(UsageError, match="Did you mean 'nccl'"):
        rules.find("NCC")


# ---- what a deadlock under these rules is told to be


def batch(*posts, n=1 << 18):
    for work in dist.batch_isend_irecv([dist.P2POp(post, torch.zeros(n), peer) for post, peer in posts]):
        work.wait()


def test_a_batch_behind_a_collective_is_not_told_to_be_what_two_ranks_post_to_each_other():
    """It said: post them together, with batch_isend_irecv. They were."""

    def fn():
        if dist.get_rank() == 0:
            work = dist.all_reduce(torch.zeros(8), async_op=True)
            batch((dist.isend, 1))
            work.wait()
        else:
            batch((dist.irecv, 0))
            dist.all_reduce(torch.zeros(8))

    assert run(fn, ranks=2, on="dgx-a100").time > 0
    with pytest.raises(Deadlock, match="the collectives and the batches of a group one after the other") as caught:
        nccl(fn, rules="nccl")
    assert "behind its all_reduce on ranks 0, 1" in str(caught.value)


def test_a_batch_that_faces_a_single_message_is_told_why_they_do_not_meet():
    """It said that send(dst=1) waits for rank 1 and recv(src=0) for rank 0, and to do both at once."""

    def fn():
        batch((dist.isend, 1)) if dist.get_rank() == 0 else dist.recv(torch.zeros(1 << 18), 0)

    assert run(fn, ranks=2, on="dgx-a100").time > 0
    with pytest.raises(Deadlock, match="posted singly never meet: post both ends in the same way"):
        nccl(fn, rules="nccl")


def test_a_circle_of_which_nobody_waits_in_a_queue_is_not_put_down_to_one():
    """Ranks 1 to 3 wait in a ring. Rank 0 waits behind its own send, and has no part in that."""

    def fn():
        rank, x = dist.get_rank(), torch.zeros(8)
        if rank == 0:
            dist.isend(x, 4)
            dist.recv(x, 4)
        elif rank == 4:
            dist.recv(x, 1)
        else:
            dist.send(x, rank % 3 + 1)

    with pytest.raises(Deadlock) as caught:
        nccl(fn, ranks=5)
    assert caught.value.states[0].behind == (0, "send(dst=4)")
    assert caught.value.remedy == ALL_SEND


def test_who_waits_is_told_to_be_behind_what_stands_first_in_the_queue():
    """It named the operation just before, which waited itself: a receive, where two sends had caused it all."""

    def fn():
        other = 1 - dist.get_rank()
        small, big = torch.zeros(4), torch.zeros(NCCL.eager)
        works = [dist.isend(small, other), dist.isend(big, other), dist.irecv(small.clone(), other)]
        for work in [*works, dist.irecv(big.clone(), other)]:
            work.wait()

    with pytest.raises(Deadlock, match=r"rank 0 waits in send\(dst=1\), which rank 1 takes after its send\(dst=0\)"):
        nccl(fn, rules="nccl")


# ---- short sends and time


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["mpi", "nccl"])
def test_a_short_send_is_over_at_once_whoever_came_first(rule):
    """It took the message's time if its receive was there already. So at one time the order of ranks decided."""

    def fn(late):
        rank, x = dist.get_rank(), torch.empty(256)
        time.sleep(late[rank])
        dist.send(x, 1) if rank == 0 else dist.recv(x, 0)
        return time.perf_counter()

    for late in ((1.0, 0.0), (0.0, 1.0), (0.0, 0.0)):
        runs = [nccl(fn, late, rules=rule, ties=ties) for ties in (None, *range(4))]
        assert all(r.trace == runs[0].trace for r in runs)
        sender, receiver = runs[0].values
        assert sender == late[0]
        assert receiver > 1.0 * max(late)


def test_a_short_message_behind_a_batch_does_not_arrive_before_it_is_sent():
    """Rank 2 had it after 13 µs; the batch before it was over after a second."""

    def fn():
        rank = dist.get_rank()
        if rank == 0:
            x, y = torch.zeros(1 << 18), torch.zeros(4)
            works = [*dist.batch_isend_irecv([dist.P2POp(dist.isend, x, 1)])]
            works += dist.batch_isend_irecv([dist.P2POp(dist.isend, y, 2)])
            for work in works:
                work.wait()
        elif rank == 1:
            time.sleep(1.0)
            batch((dist.irecv, 0))
        else:
            batch((dist.irecv, 0), n=4)

    first, second = nccl(fn, ranks=3, rules="nccl").trace.of_kind("recv")
    assert {first.rank, second.rank} == {1, 2}
    assert min(first.end, second.end) > 1.0


def test_where_messages_go_in_order_two_that_both_send_are_not_told_to_use_isend() -> None:
    """They were: and with isend and irecv, one after the other, both wait as before."""

    def work() -> None:
        other = 1 - dist.get_rank()
        dist.send(torch.ones(3), other)
        dist.recv(torch.empty(3), other)

    with pytest.raises(Deadlock) as caught:
        run(work, ranks=2, on="dgx-a100", rules=STRICT)
    assert "batch_isend_irecv" in caught.value.remedy
    with pytest.raises(Deadlock) as caught:
        run(work, ranks=2, on="dgx-a100")
    assert "isend and irecv" in caught.value.remedy
