"""Loops that wait for ever are told by what they are, not by how long they took; long loops are left alone."""

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import cuda

from lockstep.simt import KernelError, launch, schedule
from lockstep.simt.interpreter import loops
from lockstep.simt.race_detection.spinning import deciding


def zeros(count: int = 1) -> np.ndarray:
    return np.zeros(count, np.int32)


@pytest.fixture(autouse=True)
def few_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no test can pass by the limit of turns."""
    monkeypatch.setattr(loops, "TURNS", 10**9)


def every_lane_takes_the_lock(mutex, total):
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
        pass
    cuda.threadfence()
    total[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(mutex, 0, 0)


def never_released(mutex, total):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            cuda.nanosleep(20)
        total[0] += 1


@cuda.jit(device=True)
def acquire(mutex):
    tries = 0
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
        tries += 1
    return tries


def by_a_function(mutex, total):
    if cuda.threadIdx.x == 0:
        acquire(mutex)
        total[0] += 1


def flag_that_nobody_sets(flag, out):
    t = cuda.threadIdx.x
    if t == 0:
        while flag[0] == 0:
            out[0] = 7
    cuda.syncthreads()


def forgets_to_count(a, out):
    i = 0
    total = 0
    while i < 10:
        total += a[0] + 1
    out[0] = total


def two_locks_crosswise(locks, total):
    if cuda.threadIdx.x == 0:
        mine = cuda.blockIdx.x
        while cuda.atomic.cas(locks, mine, 0, 1) != 0:
            pass
        cuda.atomic.add(total, 0, 1)
        while cuda.atomic.add(total, 0, 0) < 2:
            pass
        while cuda.atomic.cas(locks, 1 - mine, 0, 1) != 0:
            pass


@pytest.mark.parametrize(
    ("kernel", "text", "told"),
    [
        (
            every_lane_takes_the_lock,
            "cas(mutex",
            "and thread 0 of block 0, which has left it, waits behind it for the rest",
        ),
        (never_released, "cas(mutex", "All other threads have ended, or wait, too"),
        (flag_that_nobody_sets, "flag[0] == 0", "Other warps of block 0 wait at the barrier in line"),
        (forgets_to_count, "i < 10", "nothing on which its end depends changes"),
        (two_locks_crosswise, "1 - mine", "All other threads have ended, or wait, too"),
    ],
)
def test_a_loop_that_waits_for_ever_is_told_with_its_line(kernel: Callable[..., None], text: str, told: str) -> None:
    """A spin lock took 20 seconds until it had turned 30,000 times."""
    with pytest.raises(KernelError, match=told) as caught:
        launch(kernel, 2, 64, zeros(2), zeros())
    with open(__file__) as file:
        assert text in file.read().splitlines()[caught.value.line - 1]


def test_a_loop_in_a_function_is_told_with_its_name() -> None:
    with pytest.raises(KernelError, match=r"of acquire: thread 0 of block 1 turns in this loop for ever"):
        launch(by_a_function, 2, 32, zeros(), zeros())


def test_few_turns_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many tries a loop counts does not matter, if it asks for nothing but the lock."""
    monkeypatch.setattr(loops, "TURNS", 20)
    with pytest.raises(KernelError, match="turns in this loop for ever"):
        launch(by_a_function, 2, 32, zeros(), zeros())
    with pytest.raises(KernelError, match="has turned 20 times"):
        launch(gives_up_after_many_tries, 1, 32, zeros(), zeros())


def gives_up_after_many_tries(mutex, total):
    tries = 0
    mutex[0] = 1
    while cuda.atomic.cas(mutex, 0, 0, 1) != 0 and tries < 1000:
        tries += 1
    total[0] = tries


def expression_that_waits(mutex, total):
    if cuda.threadIdx.x == 0:
        total[0] += acquire(mutex) + 1


def test_a_function_that_waits_inside_of_an_expression_is_told_to_stand_alone() -> None:
    with pytest.raises(KernelError, match=r"acquire waits in a loop .*\nLet it stand alone.* x = acquire\(mutex\)"):
        launch(expression_that_waits, 2, 32, zeros(), zeros())


def collatz(start, out):
    n = start[0]
    turns = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        turns += 1
    out[0] = turns


def walks_through_memory(chain, out):
    at = 0
    while chain[at] != at:
        at = chain[at]
    out[0] = at


def counts_in_memory(a, out):
    while out[0] < 5000:
        out[0] += 1


def waits_for_its_own_body(a, out):
    """Nothing changes for a while that its condition asks for; the body ends it."""
    turns = 0
    ready = False
    while not ready:
        turns += 1
        if turns == 3000:
            ready = True
    out[0] = turns


def counts_in_local_memory(a, out):
    mine = cuda.local.array(1, np.int32)
    mine[0] = 0
    while mine[0] < 2000:
        mine[0] += 1
    out[0] = mine[0]


def random_walk(seed, out):
    x = seed[0]
    turns = 0
    while x % 1024 != 17:
        x = (1103515245 * x + 12345) % 2147483648
        turns += 1
    out[0] = turns


@pytest.mark.slow
def test_a_long_loop_that_ends_is_left_alone() -> None:
    out = zeros()
    launch(collatz, 1, 32, np.array([837799]), out)
    assert out[0] == 524
    chain = np.minimum(np.arange(1, 4001), 3999)
    launch(walks_through_memory, 1, 32, chain, out)
    assert out[0] == 3999
    for kernel, turns in ((waits_for_its_own_body, 3000), (counts_in_local_memory, 2000)):
        launch(kernel, 1, 32, zeros(), out)
        assert out[0] == turns
    out[0] = 0
    launch(counts_in_memory, 1, 1, zeros(), out)
    assert out[0] == 5000
    launch(random_walk, 1, 1, np.array([1]), out)
    assert out[0] > 4


def all_wait_for_the_last(flag, out):
    if cuda.blockIdx.x == cuda.gridDim.x - 1:
        cuda.atomic.exch(flag, 0, 1)
    elif cuda.threadIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.atomic.add(out, 0, 1)


def test_only_so_many_blocks_are_there_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU begins a block when there is room: blocks that wait for one that has not begun leave it none."""
    monkeypatch.setattr(schedule, "RESIDENT", 4)
    out = zeros()
    launch(all_wait_for_the_last, 4, 32, zeros(), out)
    assert out[0] == 3
    with pytest.raises(KernelError, match="Further blocks begin when one of these 4 has ended"):
        launch(all_wait_for_the_last, 5, 32, zeros(), out)


def names(text: str) -> set[str]:
    loop: Any = ast.parse(text).body[0]
    return set(deciding(loop))


def test_a_counter_that_nothing_asks_for_decides_nothing() -> None:
    assert names("while cas(m, 0) != 0:\n    tries += 1") == {"cas", "m"}
    assert names("while x < n:\n    total += y\n    x = step + x") == {"x", "n", "step"}
    assert names("while go:\n    n += 1\n    if n > 5:\n        out[k] = 1") == {"go", "n", "out", "k"}
    assert names("while go:\n    a, b = b, c\n    f(a)") == {"go", "f", "a", "b", "c"}
