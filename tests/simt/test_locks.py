"""Threads that fences and atomic operations order, as people write it; and each time with one thing left out."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numba import cuda, float32, int32

from lockstep.simt import Finding, Launch, launch


def zeros(count: int = 1) -> np.ndarray:
    return np.zeros(count, np.int32)


def run(kernel: Callable[..., None], grid: int, block: int, *arrays: Any) -> tuple[Finding, ...]:
    return launch(kernel, grid, block, *arrays).findings


def kinds(kernel: Callable[..., None], grid: int, block: int, *arrays: Any) -> set[tuple[str, str]]:
    return {(finding.kind, finding.array) for finding in run(kernel, grid, block, *arrays)}


# A lock, by compare and swap.


@cuda.jit(device=True)
def lock(mutex):
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
        pass
    cuda.threadfence()


@cuda.jit(device=True)
def unlock(mutex):
    cuda.threadfence()
    cuda.atomic.exch(mutex, 0, 0)


def one_thread_of_a_block_locks(mutex, total):
    if cuda.threadIdx.x == 0:
        lock(mutex)
        total[0] = total[0] + 1
        unlock(mutex)


def one_lane_of_a_warp_locks(mutex, total):
    if cuda.laneid == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            cuda.nanosleep(100)
        cuda.threadfence()
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(mutex, 0, 0)


def every_thread_locks_inside_of_the_loop(mutex, total):
    """The form that runs on any GPU: work and release stand in the loop."""
    done = False
    while not done:
        if cuda.atomic.cas(mutex, 0, 0, 1) == 0:
            cuda.threadfence()
            total[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(mutex, 0, 0)
            done = True


def with_a_ticket(next_ticket, serving, total):
    if cuda.threadIdx.x % 32 == 0:
        mine = cuda.atomic.add(next_ticket, 0, 1)
        while cuda.atomic.add(serving, 0, 0) != mine:
            pass
        cuda.threadfence()
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.add(serving, 0, 1)


def a_lock_for_each_bucket(keys, locks, sums):
    i = cuda.grid(1)
    bucket, waiting = keys[i], True
    while waiting:
        if cuda.atomic.cas(locks, bucket, 0, 1) == 0:
            cuda.threadfence()
            sums[bucket] = sums[bucket] + i
            cuda.threadfence()
            cuda.atomic.exch(locks, bucket, 0)
            waiting = False


def a_lock_in_shared_memory(out):
    mutex = cuda.shared.array(1, int32)
    total = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        mutex[0] = 0
        total[0] = 0
    cuda.syncthreads()
    waiting = True
    while waiting:
        if cuda.atomic.cas(mutex, 0, 0, 1) == 0:
            cuda.threadfence_block()
            total[0] += 1
            cuda.threadfence_block()
            cuda.atomic.exch(mutex, 0, 0)
            waiting = False
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = total[0]


@pytest.mark.parametrize(
    ("kernel", "count"),
    [(one_thread_of_a_block_locks, 6), (one_lane_of_a_warp_locks, 12), (every_thread_locks_inside_of_the_loop, 6 * 64)],
)
def test_a_correct_lock_is_no_race(kernel: Callable[..., None], count: int) -> None:
    """It was told as one: only a barrier counted between threads of a block, and one fence between blocks."""
    total = zeros()
    assert run(kernel, 6, 64, zeros(), total) == ()
    assert total[0] == count


def test_a_ticket_lock_is_no_race() -> None:
    total = zeros()
    assert run(with_a_ticket, 4, 96, zeros(), zeros(), total) == ()
    assert total[0] == 12


def test_buckets_have_locks_of_their_own() -> None:
    keys, sums = np.random.default_rng(0).integers(0, 5, 128), np.zeros(5, np.int64)
    assert run(a_lock_for_each_bucket, 2, 64, keys, zeros(5), sums) == ()
    assert sums.tolist() == [int(np.flatnonzero(keys == bucket).sum()) for bucket in range(5)]


def test_a_lock_in_shared_memory_needs_fences_of_the_block_only() -> None:
    out = zeros(3)
    assert run(a_lock_in_shared_memory, 3, 64, out) == ()
    assert out.tolist() == [64] * 3


def no_fence_in_front_of_the_release(mutex, total):
    if cuda.laneid == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        total[0] += 1
        cuda.atomic.exch(mutex, 0, 0)


def no_fence_behind_the_acquire(mutex, total):
    if cuda.laneid == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(mutex, 0, 0)


def no_fence_at_all(mutex, total):
    if cuda.laneid == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        total[0] += 1
        cuda.atomic.exch(mutex, 0, 0)


def written_behind_the_fence(mutex, total):
    if cuda.laneid == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        cuda.threadfence()
        total[0] += 1
        cuda.atomic.exch(mutex, 0, 0)


def fences_of_the_block_only(mutex, total):
    if cuda.laneid == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        cuda.threadfence_block()
        total[0] += 1
        cuda.threadfence_block()
        cuda.atomic.exch(mutex, 0, 0)


@pytest.mark.parametrize(
    "kernel",
    [
        no_fence_in_front_of_the_release,
        no_fence_behind_the_acquire,
        no_fence_at_all,
        written_behind_the_fence,
        fences_of_the_block_only,
    ],
)
def test_a_lock_without_its_fences_is_a_race_between_blocks(kernel: Callable[..., None]) -> None:
    """Found on GPUs, too: the lock of "CUDA by Example" had no fences (Alglave et al., ASPLOS 2015)."""
    (race,) = run(kernel, 3, 32, zeros(), zeros())
    assert (race.kind, race.array) == ("race", "total")
    assert "the first behind a threadfence, the second in front of one" in race.message


@pytest.mark.parametrize("kernel", [no_fence_in_front_of_the_release, no_fence_behind_the_acquire, no_fence_at_all])
def test_a_lock_without_its_fences_is_a_race_between_warps(kernel: Callable[..., None]) -> None:
    assert kinds(kernel, 1, 96, zeros(), zeros()) == {("race", "total")}


def test_fences_of_the_block_are_enough_for_warps_of_a_block() -> None:
    assert run(fences_of_the_block_only, 1, 96, zeros(), zeros()) == ()


def released_by_a_plain_store(mutex, total):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        total[0] += 1
        cuda.threadfence()
        mutex[0] = 0


def two_locks_for_one_sum(mutexes, total):
    if cuda.threadIdx.x == 0:
        mine = cuda.blockIdx.x % 2
        while cuda.atomic.cas(mutexes, mine, 0, 1) != 0:
            pass
        cuda.threadfence()
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(mutexes, mine, 0)


def test_a_release_by_a_plain_store_is_a_race() -> None:
    """Another block may be at the same word with an atomic operation; and what it reads was released by nobody."""
    assert kinds(released_by_a_plain_store, 3, 32, zeros(), zeros()) == {("race", "mutex"), ("race", "total")}


def test_two_locks_order_nothing() -> None:
    assert kinds(two_locks_for_one_sum, 4, 32, zeros(2), zeros()) == {("race", "total")}


# The last block adds up what all have found.


def thread_fence_reduction(a, partial, count, out):
    """As in NVIDIA's sample threadFenceReduction: a fence, a ticket, a barrier; no fence behind the ticket."""
    s = cuda.shared.array(64, float32)
    last = cuda.shared.array(1, int32)
    t, blocks = cuda.threadIdx.x, cuda.gridDim.x
    s[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    half = 32
    while half > 0:
        if t < half:
            s[t] += s[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        partial[cuda.blockIdx.x] = s[0]
        cuda.threadfence()
        ticket = cuda.atomic.inc(count, 0, blocks)
        last[0] = ticket == blocks - 1
    cuda.syncthreads()
    if last[0]:
        s[t] = 0
        i = t
        while i < blocks:
            s[t] += partial[i]
            i += 64
        cuda.syncthreads()
        if t == 0:
            total = float32(0)
            for k in range(64):
                total += s[k]
            out[0] = total
            count[0] = 0


def all_threads_write_and_fence(a, partial, count, out):
    """Each thread fences what it wrote; behind the barrier one of them takes the ticket for all."""
    last = cuda.shared.array(1, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    partial[b * 64 + t] = 2 * a[cuda.grid(1)]
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        last[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0] and t == 0:
        for k in range(partial.size):
            out[0] += partial[k]


def all_threads_write_and_one_fences(a, partial, count, out):
    last = cuda.shared.array(1, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    partial[b * 64 + t] = 2 * a[cuda.grid(1)]
    if t == 0:
        cuda.threadfence()
        last[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0] and t == 0:
        for k in range(partial.size):
            out[0] += partial[k]


def test_the_last_block_of_nvidias_sample_is_no_race() -> None:
    a, out, count = np.arange(320, dtype=np.float32), np.zeros(1, np.float32), zeros()
    for _ in range(2):  # it leaves its count at 0, for the next launch
        assert run(thread_fence_reduction, 5, 64, a, np.zeros(5, np.float32), count, out) == ()
        assert (out[0], count[0]) == (a.sum(), 0)


def test_a_fence_of_all_threads_and_a_barrier_release_what_all_have_written() -> None:
    a, out = np.arange(192, dtype=np.float32), np.zeros(1, np.float32)
    assert run(all_threads_write_and_fence, 3, 64, a, np.zeros(192, np.float32), zeros(), out) == ()
    assert out[0] == 2 * a.sum()


def test_a_fence_of_one_thread_releases_what_that_one_has_written() -> None:
    a, out = np.arange(192, dtype=np.float32), np.zeros(1, np.float32)
    (race,) = run(all_threads_write_and_one_fences, 3, 64, a, np.zeros(192, np.float32), zeros(), out)
    assert (race.kind, race.array, race.times) == ("race", "partial", 2 * 63)


# A producer, a flag and a consumer.


def through_a_flag(data, flag, out):
    """Block 0 waits for block 1, and every thread of it reads."""
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 1:
        data[t] = t * t
        cuda.threadfence()
        cuda.syncthreads()
        if t == 0:
            cuda.atomic.exch(flag, 0, 1)
    else:
        if t == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        out[t] = data[t]


def from_warp_to_warp(data, flag, out):
    t = cuda.threadIdx.x
    if t == 0:
        while cuda.atomic.cas(flag, 0, 1, 1) != 1:
            pass
        cuda.threadfence_block()
        out[0] = data[0]
    if t == 32:
        data[0] = 42
        cuda.threadfence_block()
        cuda.atomic.exch(flag, 0, 1)


def read_too_early(data, flag, out):
    t = cuda.threadIdx.x
    if t == 0:
        early = data[0]
        while cuda.atomic.cas(flag, 0, 1, 1) != 1:
            pass
        cuda.threadfence_block()
        out[0] = data[0] + early
    if t == 32:
        data[0] = 42
        cuda.threadfence_block()
        cuda.atomic.exch(flag, 0, 1)


def checked_twice_without_a_fence(flag, mutex, data, out):
    """Double-checked: the first look is a plain read."""
    if cuda.threadIdx.x == 0:
        if flag[0] == 0:
            lock(mutex)
            if flag[0] == 0:
                data[0] = 42
                flag[0] = 1
            unlock(mutex)
        out[cuda.blockIdx.x] = data[0]


def checked_twice_with_fences(flag, mutex, data, out):
    if cuda.threadIdx.x == 0:
        ready = cuda.atomic.add(flag, 0, 0)
        cuda.threadfence()
        if ready == 0:
            lock(mutex)
            if cuda.atomic.add(flag, 0, 0) == 0:
                data[0] = 42
                cuda.threadfence()
                cuda.atomic.exch(flag, 0, 1)
            unlock(mutex)
        out[cuda.blockIdx.x] = data[0]


def test_a_consumer_waits_for_its_producer() -> None:
    """A warp that waited for another one was stopped: nobody else ran meanwhile."""
    out = zeros(64)
    assert run(through_a_flag, 2, 64, zeros(64), zeros(), out) == ()
    assert out.tolist() == [t * t for t in range(64)]
    assert run(from_warp_to_warp, 1, 64, zeros(), zeros(), out) == ()
    assert out[0] == 42


def test_what_is_read_before_the_flag_is_a_race() -> None:
    assert kinds(read_too_early, 1, 64, zeros(), zeros(), zeros()) == {("race", "data")}


def test_a_double_check_needs_atomics_and_fences() -> None:
    out = zeros(3)
    plain = kinds(checked_twice_without_a_fence, 3, 32, zeros(), zeros(), zeros(), out)
    assert plain == {("race", "flag"), ("race", "data")}
    assert run(checked_twice_with_fences, 3, 32, zeros(), zeros(), zeros(), out) == ()
    assert out.tolist() == [42] * 3


def barrier_of_the_grid(arrived, data, out):
    """By hand: all blocks are there, or all wait."""
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    data[b * 32 + t] = b
    cuda.syncthreads()
    if t == 0:
        cuda.threadfence()
        cuda.atomic.add(arrived, 0, 1)
        while cuda.atomic.add(arrived, 0, 0) < cuda.gridDim.x:
            pass
        cuda.threadfence()
    cuda.syncthreads()
    out[b * 32 + t] = data[(b * 32 + t + 32) % data.size]


def test_blocks_may_wait_for_each_other() -> None:
    out = zeros(5 * 32)
    assert run(barrier_of_the_grid, 5, 32, zeros(), zeros(5 * 32), out) == ()
    assert out.reshape(5, 32)[:, 0].tolist() == [1, 2, 3, 4, 0]


def lanes_hand_over_by_syncwarp(mutex, data, out):
    """Lane 5 writes, lane 0 releases for its warp; lane 0 of the other block acquires, lane 7 of it reads."""
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if b == 0 and t == 5:
        data[0] = 42
    cuda.syncwarp()
    if t == 0:
        cuda.threadfence()
        cuda.atomic.add(mutex, 0, 1)
        cuda.threadfence()
    cuda.syncwarp()
    if b == 1 and t == 7:
        out[0] = data[0]


def lanes_without_syncwarp(mutex, data, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if b == 0 and t == 5:
        data[0] = 42
    if t == 0:
        cuda.threadfence()
        cuda.atomic.add(mutex, 0, 1)
        cuda.threadfence()
    if b == 1 and t == 7:
        out[0] = data[0]


def test_a_lane_releases_what_its_warp_has_done_before_a_syncwarp() -> None:
    assert run(lanes_hand_over_by_syncwarp, 2, 32, zeros(), zeros(), zeros()) == ()
    assert kinds(lanes_without_syncwarp, 2, 32, zeros(), zeros(), zeros()) == {("race", "data")}


def test_counts_are_those_of_a_kernel_with_atomics() -> None:
    found: Launch = launch(one_thread_of_a_block_locks, 2, 32, zeros(), zeros())
    assert found.line("atomic.cas").atomics == 2
    assert found.counts()["races"] == 0


def test_a_long_chain_of_owners_is_ordered_throughout() -> None:
    """Each owner knows all that came before it, not only the owner before."""
    order = zeros(40)
    assert run(writes_its_turn, 40, 32, zeros(), zeros(), order) == ()
    assert all(a < b for a, b in pairwise(order))


def writes_its_turn(mutex, turn, order):
    if cuda.threadIdx.x == 0:
        lock(mutex)
        order[turn[0]] = turn[0]
        turn[0] += 1
        total = 0
        for k in range(turn[0]):
            total += order[k]
        unlock(mutex)
