"""Each mistake is found at its line, with its threads; and a kernel without it is not blamed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import cuda, float32, int32

from lockstep.simt import Finding, Thread, launch


def found(kernel: Callable[..., None], grid: Any, block: Any, *arrays: Any) -> list[Finding]:
    return list(launch(kernel, grid, block, *arrays).findings)


def line_of(kernel: Callable[..., None], text: str) -> int:
    return launch(kernel, 1, 1, np.zeros(64, np.float32)).line(text).number


def ones(count: int) -> np.ndarray:
    return np.ones(count, np.float32)


def no_barrier(a):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    a[t] = s[63 - t]  # of another warp


def test_a_missing_barrier_is_a_race_with_both_lines() -> None:
    (race,) = found(no_barrier, 1, 64, ones(64))
    assert race.kind == "race"
    assert race.array == "s"
    assert (race.line, race.other_line) == (line_of(no_barrier, "s[t] = a[t]"), line_of(no_barrier, "63 - t"))
    assert {thread.thread[0] for thread in race.threads} == {0, 63}
    assert race.times == 64
    assert "writes s[0]" in race.message
    assert "with no syncthreads in between" in race.message


def second_barrier_missing(a):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    for k in range(2):
        s[t] = a[t] + k
        cuda.syncthreads()
        a[t] = s[63 - t]


def test_a_tile_that_is_overwritten_while_others_read_is_a_race() -> None:
    """The barrier at the end of a loop's body, which is forgotten most."""
    kinds = {(f.kind, f.array) for f in found(second_barrier_missing, 1, 64, ones(64))}
    assert ("race", "s") in kinds


def within_a_warp(a):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    a[t] = s[31 - t]


def within_a_warp_with_syncwarp(a):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncwarp()
    a[t] = s[31 - t]


def test_lanes_of_a_warp_need_a_syncwarp() -> None:
    (race,) = found(within_a_warp, 1, 32, ones(32))
    assert "no syncthreads or syncwarp" in race.message
    assert found(within_a_warp_with_syncwarp, 1, 32, ones(32)) == []


def counter(out):
    out[0] += 1


def atomic_counter(out):
    cuda.atomic.add(out, 0, 1)


def mixed_counter(out):
    cuda.atomic.add(out, 0, 1)
    out[1] = out[0]


def test_a_counter_without_atomics_loses_increments() -> None:
    out = np.zeros(1, np.float32)
    races = found(counter, 1, 1024, out)
    assert out[0] == 32  # each warp reads once and writes once
    assert {race.kind for race in races} == {"race"}
    out[0] = 0
    assert found(atomic_counter, 4, 256, out) == []
    assert out[0] == 1024
    assert {race.kind for race in found(mixed_counter, 1, 64, np.zeros(2, np.float32))} == {"race"}


def blocks_meet(a, out):
    out[cuda.threadIdx.x] = a[cuda.grid(1)]


def blocks_read_what_others_write(a):
    i = cuda.grid(1)
    a[i] = a[(i + 32) % a.size] + 1


def blocks_agree(out):
    out[0] = 1


def test_blocks_that_meet_are_a_race_and_no_barrier_helps() -> None:
    (race,) = found(blocks_meet, 2, 32, np.arange(64.0, dtype=np.float32), np.zeros(32, np.float32))
    assert "block 0 writes out[0]" in race.message
    assert "no barrier holds between them" in race.message
    assert {thread.block[0] for thread in race.threads} == {0, 1}
    assert {race.kind for race in found(blocks_read_what_others_write, 3, 32, ones(96))} == {"race"}
    assert found(blocks_read_what_others_write, 1, 32, ones(96)) == []


def test_threads_that_write_the_same_do_no_harm() -> None:
    assert found(blocks_agree, 4, 64, np.zeros(1, np.float32)) == []


def through_a_row(a, b):
    i = cuda.grid(1)
    row = a[0]
    row[(i + 1) % 64] = b[0, i]


def through_a_device_function(a, b):
    i = cuda.grid(1)
    put(a, (i + 1) % 64, b[0, i])


@cuda.jit(device=True)
def put(a, i, value):
    a[0, i] = value


def through_another_name(a, b):
    i = cuda.grid(1)
    c = a
    c[0, (i + 1) % 64] = b[0, i]


def in_brackets(a, b):
    i = cuda.grid(1)
    a[0][(i + 1) % 64] = b[0][i]


@pytest.mark.parametrize("kernel", [through_a_row, through_a_device_function, through_another_name, in_brackets])
def test_a_write_is_seen_however_it_is_written(kernel: Callable[..., None]) -> None:
    """Arrays that a kernel only reads are not watched. One that it writes in a roundabout way is."""
    a = np.zeros((1, 64), np.float32)
    assert {race.kind for race in found(kernel, 1, 64, a, a)} == {"race"}
    assert found(kernel, 1, 64, a, a.copy()) == []


def last_block_adds_up(a, partial, tickets, out):
    """CUDA's threadFenceReduction, for blocks of one warp."""
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    value = a[cuda.grid(1)]
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if t == 0:
        partial[b] = value
        cuda.threadfence()
        if cuda.atomic.add(tickets, 0, 1) == cuda.gridDim.x - 1:
            cuda.threadfence()
            for k in range(cuda.gridDim.x):
                out[0] += partial[k]


def last_block_without_a_fence(a, partial, tickets, out):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        partial[b] = a[b]
        if cuda.atomic.add(tickets, 0, 1) == cuda.gridDim.x - 1:
            for k in range(cuda.gridDim.x):
                out[0] += partial[k]


def test_a_fence_and_an_atomic_order_blocks_and_an_atomic_alone_does_not() -> None:
    a, out = ones(128), np.zeros(1, np.float32)
    assert found(last_block_adds_up, 4, 32, a, np.zeros(4, np.float32), np.zeros(1, np.int32), out) == []
    assert out[0] == 128
    (race,) = found(last_block_without_a_fence, 4, 32, a, np.zeros(4, np.float32), np.zeros(1, np.int32), out)
    assert (race.kind, race.array) == ("race", "partial")


def half_a_warp_waits(a):
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncthreads()
    a[t] = t


def one_warp_waits(a):
    t = cuda.threadIdx.x
    if t < 32:
        cuda.syncthreads()
    a[t] = t


def gone_before_the_barrier(a):
    t = cuda.threadIdx.x
    if t >= 40:
        return
    cuda.syncthreads()
    a[t] = t


def different_barriers(a):
    t = cuda.threadIdx.x
    if t < 32:
        cuda.syncthreads()
    else:
        cuda.syncthreads()
    a[t] = t


@pytest.mark.parametrize(
    ("kernel", "told"),
    [
        (half_a_warp_waits, "16 of warp 0's threads"),
        (one_warp_waits, "warp 1 has ended"),
        (gone_before_the_barrier, "24 of warp 1's threads"),
        (different_barriers, "others wait at the barrier in line"),
    ],
)
def test_a_barrier_that_not_all_threads_come_to(kernel: Callable[..., None], told: str) -> None:
    findings = [f for f in found(kernel, 1, 64, ones(64)) if f.kind == "divergent_barrier"]
    assert any(told in finding.message for finding in findings)
    assert all(finding.line for finding in findings)


def past_the_end(a):
    i = cuda.grid(1)
    a[i + 1] = a[i]


def two_axes(a):
    x, y = cuda.grid(2)
    a[y, x] = 1


def test_out_of_bounds_names_index_size_and_thread_and_writes_nothing() -> None:
    a = np.arange(64, dtype=np.float32)
    (finding,) = (f for f in found(past_the_end, 1, 64, a) if f.kind == "out_of_bounds")
    assert finding.message.endswith("thread 63 of block 0 uses index 64 of a, which has 64 items.")
    assert finding.threads == (Thread((0, 0, 0), (63, 0, 0)),)
    assert finding.times == 1
    (finding,) = found(two_axes, 1, (8, 8), np.zeros((8, 6), np.float32))
    assert "index 6 of a along axis 1" in finding.message
    assert finding.times == 16


def test_a_whole_array_beside_a_view_is_not_touched_out_of_bounds() -> None:
    """An index may be outside of a view and inside of the memory that the view is of."""
    whole = np.zeros(64, np.float32)
    launch(past_the_end, 1, 32, whole[:32])
    assert not whole.any()
    launch(two_axes, 1, (8, 8), whole.reshape(8, 8)[:, :6])
    assert whole.reshape(8, 8)[:, 6:].sum() == 0
    assert whole.sum() == 48


def empty_tile(a):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < 60:
        s[t] = a[t]
    cuda.syncthreads()
    a[t] = s[t]


def empty_local(a):
    mine = cuda.local.array(2, int32)
    mine[0] = 1
    a[cuda.grid(1)] = mine[0] + mine[1]


def empty_variable(a):
    i = cuda.grid(1)
    if i < 10:
        value = 1.0
    a[i] = value


@pytest.mark.parametrize(
    ("kernel", "told", "times"), [(empty_tile, "s[60]", 4), (empty_local, "mine[1]", 64), (empty_variable, "value", 54)]
)
def test_what_was_never_written_is_no_value(kernel: Callable[..., None], told: str, times: int) -> None:
    a = ones(64)
    findings = found(kernel, 1, 64, a)
    assert {f.kind for f in findings} == {"uninitialised_read"}
    assert told in findings[0].message
    assert sum(f.times for f in findings) == times or findings[0].times == times


def test_shared_memory_does_not_begin_with_zeros() -> None:
    a = ones(64)
    launch(empty_tile, 1, 64, a)
    assert np.isnan(a[60:]).all()


def summed_in_shared(a):
    s = cuda.shared.array(1, float32)
    if cuda.threadIdx.x == 0:
        s[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, 0, a[cuda.grid(1)])
    cuda.syncthreads()
    a[cuda.grid(1)] = s[0]


def test_healthy_kernels_are_not_blamed() -> None:
    a = ones(128)
    assert found(summed_in_shared, 2, 64, a) == []
    assert (a == 64).all()


def shuffles_with_half_a_warp(a):
    i = cuda.grid(1)
    if i < 16:
        a[i] = cuda.shfl_down_sync(0xFFFFFFFF, a[i], 8)


def test_a_shuffle_needs_the_lanes_that_it_reads() -> None:
    findings = found(shuffles_with_half_a_warp, 1, 32, ones(32))
    assert {f.kind for f in findings} == {"inactive_lane"}
    assert any("lane 16 does not take part" in f.message or "0xffff" in f.message for f in findings)


def test_a_writer_that_is_a_turn_ahead_is_told_as_that() -> None:
    """A learner saw the barrier that stands between the write and the read, and did not believe the finding."""

    def kernel(values, out):
        tile = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        total = float32(0)
        for turn in range(2):
            tile[t] = values[turn * 64 + t]
            cuda.syncthreads()
            total += tile[63 - t]
        out[t] = total

    (race,) = launch(kernel, 1, 64, ones(128), ones(64)).findings
    assert "overwrites" in race.message
    assert "in the next turn of the loop" in race.message


def test_no_loop_is_told_where_there_is_none() -> None:
    def reads_first(values):
        tile = cuda.shared.array(65, float32)
        t = cuda.threadIdx.x
        tile[t] = values[t]
        if t == 0:
            tile[64] = 0
        cuda.syncthreads()
        right = tile[t + 1]
        tile[t] = right

    (race,) = launch(reads_first, 1, 64, ones(64)).findings
    assert "overwrites tile[32], and thread 31 may still read it in line" in race.message
    assert "turn" not in race.message


def test_reading_and_writing_in_one_line_is_no_turn_of_a_loop() -> None:
    """Each warp reads out[0] before it writes it, in the same line."""

    def every_warp_adds(out):
        if cuda.threadIdx.x % 32 == 0:
            out[0] += cuda.threadIdx.x + 1

    (race,) = launch(every_warp_adds, 1, 64, ones(1)).findings
    assert "writes out[0], and thread" in race.message
    assert "turn" not in race.message
