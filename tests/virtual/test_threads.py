"""Threads that a rank starts were nobody's on the virtual cluster: rank 3's read RANK=0, its prints bore no rank, its
groups were not initialised. And where one communicated, it took the baton from under another rank: "release unlocked
lock", or a checkpoint that only rank 0 wrote."""

import os
import queue
import random
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest
import torch
import torch.distributed as dist
from both_worlds import both, virtual

from lockstep import run
from lockstep.errors import Deadlock, RankRaised
from lockstep.virtual import rank_threads


def in_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


@pytest.mark.slow
def test_a_thread_knows_its_rank_and_its_groups():
    def fn():
        pair = dist.new_group([0, 2])
        return in_thread(lambda: (os.environ["RANK"], dist.get_rank(), dist.get_world_size(), dist.get_rank(pair)))

    assert both(fn, ranks=3) == [("0", 0, 3, 0), ("1", 1, 3, -1), ("2", 2, 3, 1)]


@pytest.mark.slow
def test_a_thread_draws_what_the_rank_would_have_drawn():
    def fn():
        drawn = in_thread(lambda: (random.random(), float(numpy.random.rand()), float(torch.rand(()))))
        return drawn, random.random(), float(torch.rand(()))

    both(fn, ranks=3)


@pytest.mark.slow
@pytest.mark.parametrize("on", ["processes", "dgx-a100"])
def test_prints_of_a_thread_are_tagged(on):
    result = run(lambda: in_thread(lambda: print("hello")), ranks=2, on=on)
    assert sorted(result.printed.splitlines()) == ["[rank 0] hello", "[rank 1] hello"]


@pytest.mark.slow
def test_what_a_thread_makes_is_memory():
    def fn():
        kept = in_thread(lambda: torch.ones(100_000))
        return kept.sum()

    both(fn, ranks=2)


def test_a_thread_of_a_thread_belongs_to_the_rank_too():
    assert both(lambda: in_thread(lambda: in_thread(dist.get_rank)), ranks=2) == [0, 1]


def serves():
    if dist.get_rank() == 0:
        inboxes = [torch.empty(1), torch.empty(1)]
        threads = [threading.Thread(target=lambda w=w: dist.recv(inboxes[w - 1], w)) for w in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [inbox.item() for inbox in inboxes]
    return dist.send(torch.full((1,), float(dist.get_rank())), 0)


def beside_the_rank():
    """Each by a group of its own; the rank goes on, and waits for its thread at the end."""
    group, x, y = dist.new_group(), torch.ones(2), torch.ones(3)
    with ThreadPoolExecutor(1) as pool:
        summing = pool.submit(lambda: dist.all_reduce(x, group=group))
        dist.all_reduce(y)
        summing.result()
    return x.tolist(), y.tolist()


def waits_for_the_rank():
    me, x = dist.get_rank(), torch.zeros(1)
    if me == 0:
        dist.isend(torch.ones(1), 1).wait()
    elif me == 1:
        work = dist.irecv(x, 0)
        in_thread(work.wait)
    return x.item()


def polls_for_the_rank():
    work = dist.barrier(async_op=True)

    def poll():
        while not work.is_completed():
            pass

    in_thread(poll)


def looks_up_a_key():
    store = dist.distributed_c10d._get_default_store()
    if dist.get_rank() == 0:
        store.set("key", "value")
    return in_thread(lambda: store.get("key"))


def watches_over_a_barrier():
    in_thread(lambda: dist.monitored_barrier())


def one_after_another():
    """Sums that depend on each other, in a thread that hands each over by a queue."""
    done = queue.Queue()

    def work():
        x = torch.ones(1)
        for _ in range(3):
            dist.all_reduce(x)
            done.put(x.item())

    thread = threading.Thread(target=work)
    thread.start()
    found = [done.get() for _ in range(3)]
    thread.join()
    return found


SERVED = [
    serves, beside_the_rank, waits_for_the_rank, polls_for_the_rank, looks_up_a_key, watches_over_a_barrier,
    one_after_another,
]  # fmt: skip


@pytest.mark.parametrize("program", SERVED)
def test_a_rank_communicates_for_its_threads_while_it_waits_for_them(program):
    """It was refused: only the rank's own thread has the baton."""
    first, second = (virtual(program, ranks=3) for _ in range(2))
    assert first.values == second.values
    assert first.trace.events == second.trace.events or program is serves  # whose two threads race


@pytest.mark.slow
@pytest.mark.parametrize("program", SERVED)
def test_what_threads_communicate_is_what_they_do_on_processes(program):
    here, there = (run(program, ranks=3, on=on) for on in ("dgx-a100", "processes"))
    assert here.values == there.values
    assert here.trace.counts() == there.trace.counts()


def needed_beside_the_rank():
    """Rank 0's thread sends what rank 1 waits for, while rank 0 itself waits for rank 1."""
    if dist.get_rank() == 0:
        threading.Thread(target=lambda: dist.send(torch.ones(1), 1), name="sender").start()
        dist.recv(torch.empty(1), 1)
    elif dist.get_rank() == 1:
        dist.recv(torch.empty(1), 0)
        dist.send(torch.ones(1), 0)


def never_joined():
    threading.Thread(target=lambda: dist.barrier(), name="sender").start()
    while len(asked) < 1:
        asked.extend(errand for errands in rank_threads._local.simulation.errands for errand in errands._asked)


def catches_everything():
    try:
        needed_beside_the_rank()
    except Exception:
        return "nothing was wrong"


asked = []


@pytest.mark.parametrize("program", [needed_beside_the_rank, never_joined, catches_everything])
def test_a_thread_that_communicates_while_its_rank_does_not_wait_for_it_is_refused(program):
    told = r"rank \d communicates in a thread that it has started \(sender\), and does not wait for it"
    with pytest.raises(RankRaised, match=told) as caught:
        virtual(program, ranks=3)
    assert "while it waits for them: in join(), result() or the like" in str(caught.value)
    assert "test_threads.py, line" in caught.value.states[0].where


def test_a_wait_for_a_thread_ends_when_the_thread_is_done():
    """The rank looked for errands every 2 ms, and missed a result that came just then: joblib's tasks took minutes."""

    def fn():
        with ThreadPoolExecutor(2) as pool:
            return sum(future.result(timeout=5) for future in [pool.submit(task) for _ in range(400)])

    def task():
        threading.Event().wait(0.002)
        return 1

    assert virtual(fn, ranks=1).values == [400]


def test_a_deadlock_of_a_thread_is_a_deadlock():
    def fn():
        in_thread(lambda: dist.recv(torch.empty(1), 1 - dist.get_rank()))

    with pytest.raises(Deadlock, match="rank 0 waits for rank 1, rank 1 waits for rank 0"):
        virtual(fn, ranks=2)


def save_and_load(folder):
    """A checkpoint saved by a group of its own while the ranks go on, and read again."""
    import torch.distributed.checkpoint as checkpoint
    from torch.distributed.tensor import Shard, distribute_tensor

    group, mesh = dist.new_group(), dist.init_device_mesh("cpu", (2,))
    whole = torch.arange(8.0)
    weights = distribute_tensor(whole, mesh, [Shard(0)])
    saving = checkpoint.async_save({"weights": weights}, checkpoint_id=folder, process_group=group)
    weights.to_local().zero_()
    saving.result()
    checkpoint.load({"weights": weights}, checkpoint_id=folder, process_group=group)
    return weights.to_local().tolist(), saving.done()


@pytest.mark.slow
def test_a_checkpoint_that_is_written_beside_the_run():
    """It seemed to succeed, and had the shard of one rank only; then it was refused."""
    for on in ("dgx-a100", "processes"):
        with tempfile.TemporaryDirectory() as folder:
            values = run(save_and_load, folder, ranks=2, on=on).values
        assert values == [([0.0, 1.0, 2.0, 3.0], True), ([4.0, 5.0, 6.0, 7.0], True)]


def test_a_checkpoint_that_cannot_be_written_is_told_by_its_future(tmp_path):
    import torch.distributed.checkpoint as checkpoint

    def fn(folder):
        saving = checkpoint.async_save({"weights": torch.ones(2)}, checkpoint_id=folder)
        return type(saving.exception()).__name__

    (tmp_path / "file").touch()
    assert virtual(fn, str(tmp_path / "file" / "folder"), ranks=2).values == ["CheckpointException"] * 2


def test_a_checkpoint_by_processes_of_its_own_is_refused():
    """Rank 0's process waited for that of rank 1, which never got the baton."""
    import torch.distributed.checkpoint as checkpoint
    from torch.distributed.checkpoint.state_dict_saver import AsyncCheckpointerType

    def fn(folder):
        by = AsyncCheckpointerType.PROCESS
        checkpoint.async_save({"w": torch.ones(4)}, checkpoint_id=folder, async_checkpointer_type=by).result()

    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.raises(RankRaised, match="would start a process for each rank"),
    ):
        virtual(fn, folder, ranks=2)


@pytest.mark.parametrize(
    ("act", "told"),
    [(lambda: dist.new_group([0, 1]), "makes a process group"), (lambda: dist.TCPStore("here", 0), "opens a store")],
)
def test_a_thread_that_makes_a_group_or_a_store_is_refused(act, told):
    with pytest.raises(RankRaised, match=told):
        virtual(lambda: in_thread(act), ranks=2)


class Sender(threading.Thread):
    """A class of threads with a ``run`` of its own: what it sent was in no trace."""

    def run(self):
        dist.send(torch.ones(1), 1)


def test_what_a_class_of_threads_sends_is_counted():
    def fn():
        if dist.get_rank() == 0:
            thread = Sender()
            thread.start()
            thread.join()
        else:
            dist.recv(torch.empty(1), 0)

    assert run(fn, ranks=2, on="processes").trace.sent(0).number == 1


@pytest.mark.parametrize("on", ["processes", "dgx-a100"])
def test_an_exception_in_a_thread_is_told_with_the_learners_lines_only(on):
    def fn():
        thread = threading.Thread(target=lambda: 1 / 0, name="divider")
        thread.start()
        thread.join()

    told = run(fn, ranks=1, on=on).printed
    assert "Exception in thread divider:" in told
    assert "thread = threading.Thread(target=lambda: 1 / 0" in told
    assert "ZeroDivisionError: division by zero" in told
    assert "lockstep" not in told.replace("test_threads", "")
    assert "threading.py" not in told
