"""What may be the size of an array: as numba has it, which was asked case by case; and the sentences for the rest."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from numba import cuda, float32

from lockstep.simt import KernelError, launch

TILE = 8
SHAPE = (4, 8)
OF_NUMPY = np.int64(8)


def one_local(a):
    N = 32
    s = cuda.shared.array(N, float32)
    s[cuda.grid(1)] = 1


def literals_worked_out(a):
    N = 64 // 2 + 2**3
    s = cuda.local.array(N, float32)
    s[0] = 1


def a_copy_of_a_copy(a):
    N = TILE
    M = N
    s = cuda.shared.array((M, N), float32)
    s[0, 0] = 1


def two_at_once(a):
    N, M = 4, TILE
    shape = (N, M)
    s = cuda.local.array(shape, float32)
    t = cuda.local.array(shape=(M, 2), dtype=float32)
    s[0, 0] = 1
    t[0, 0] = 1


def the_last_one_before(a):
    N = 4
    s = cuda.local.array(N, float32)
    N = 8
    t = cuda.local.array(N, float32)
    s[3] = 1
    t[7] = 1


def the_same_on_both_ways(a):
    if a[0] > 0:  # noqa: SIM108
        N = 8
    else:
        N = 8
    s = cuda.local.array(N, float32)
    s[0] = 1


def in_a_loop(a):
    N = 8
    for _k in range(2):
        s = cuda.local.array(N, float32)
        s[0] = 1


def again_in_the_turn(a):
    k = 0
    while k < 2:
        N = 8
        s = cuda.local.array(N, float32)
        s[0] = 1
        N = 5
        k += N


def from_outside(a):
    s = cuda.local.array(SHAPE, float32)
    t = cuda.local.array(SHAPE[1], float32)
    s[0, 0] = 1
    t[7] = 1


@pytest.mark.parametrize(
    "kernel",
    [
        one_local,
        literals_worked_out,
        a_copy_of_a_copy,
        two_at_once,
        the_last_one_before,
        the_same_on_both_ways,
        in_a_loop,
        again_in_the_turn,
        from_outside,
    ],
)
def test_a_variable_with_one_literal_value_is_a_size(kernel: Callable[..., None]) -> None:
    """``N = 32`` in the kernel was refused as "known only at run time"."""
    assert launch(kernel, 1, 32, np.ones(32)).findings == ()


def arithmetic_with_a_local(a):
    N = 32
    s = cuda.shared.array(N + 1, float32)
    s[0] = 1


def local_made_of_a_name(a):
    N = TILE * 4
    s = cuda.shared.array(N, float32)
    s[0] = 1


def arithmetic_with_a_name(a):
    s = cuda.shared.array((TILE, TILE + 1), float32)
    s[0, 0] = 1


def different_on_two_ways(a):
    N = 8
    if a[0] > 0:
        N = 16
    s = cuda.shared.array(N, float32)
    s[0] = 1


def counted_up(a):
    N = 8
    N += 1
    s = cuda.shared.array(N, float32)
    s[0] = 1


def of_the_loop(a):
    for n in (1, 2):
        s = cuda.local.array(n, float32)
        s[0] = 1


def changed_by_the_turn_before(a):
    N = 8
    for _k in range(2):
        s = cuda.local.array(N, float32)
        s[0] = 1
        N = 9


def of_a_float(a):
    N = 8.0
    s = cuda.local.array(N, float32)
    s[0] = 1


def of_numpy(a):
    s = cuda.local.array(OF_NUMPY, float32)
    s[0] = 1


@pytest.mark.parametrize(
    ("kernel", "told"),
    [
        (arithmetic_with_a_local, "N + 1 is known only at run time"),
        (local_made_of_a_name, "N is known only at run time"),
        (different_on_two_ways, "N is known only at run time"),
        (counted_up, "N is known only at run time"),
        (of_the_loop, "n is known only at run time"),
        (changed_by_the_turn_before, "N is known only at run time"),
        (of_a_float, "N is known only at run time"),
        (arithmetic_with_a_name, "TILE + 1 is arithmetic, and numba refuses it on a GPU.\nWrite 9, or name it outside"),
        (of_numpy, "OF_NUMPY is no shape: whole numbers are.\nWrite a Python int"),
    ],
)
def test_what_numba_refuses_is_refused_here(kernel: Callable[..., None], told: str) -> None:
    """numba's simulator takes ``TILE + 1``, and the machine did; the compiler for GPUs does not."""
    with pytest.raises(KernelError, match=re.escape(told)):
        launch(kernel, 1, 32, np.ones(32))


def waits_for_the_grid(a):
    g = cuda.cg.this_grid()
    g.sync()
    a[0] = 1


def waits_at_once(a):
    cuda.cg.this_grid().sync()
    a[0] = 1


def not_even_called(a):
    g = cuda.cg.this_grid
    a[0] = g


def copies_to_the_device(a):
    b = cuda.to_device(a)
    a[0] = b[0]


def sums_by_numpy(a):
    a[0] = np.sum(a)


@pytest.mark.parametrize(
    ("kernel", "told"),
    [
        (waits_for_the_grid, "has no cooperative groups.\nTo wait for all blocks, let the kernel end"),
        (waits_at_once, "has no cooperative groups.\nTo wait for all blocks, let the kernel end"),
        (not_even_called, "has no cooperative groups.\nTo wait for all blocks, let the kernel end"),
        (copies_to_the_device, "the warp machine has no cuda.to_device."),
        (sums_by_numpy, "np.sum"),
    ],
)
def test_advice_can_be_followed(kernel: Callable[..., None], told: str) -> None:
    """Who called cuda.cg.this_grid was told to put @cuda.jit(device=True) above its def, which is numba's."""
    with pytest.raises(KernelError, match=re.escape(told)) as caught:
        launch(kernel, 1, 32, np.ones(32))
    assert "above its def" not in str(caught.value)


def bits_of_one_number(out):
    out[0] = cuda.ffs(8)
    out[1] = cuda.popc(7)
    out[2] = cuda.clz(np.int32(1))
    out[3] = cuda.brev(np.uint32(6))
    out[4] = cuda.ffs(0)
    out[5] = cuda.ffs(cuda.ballot_sync(0xFFFFFFFF, cuda.laneid > 4))
    out[6] = cuda.selp(cuda.blockDim.x > 3, 1, 2)
    n = cuda.ffs(4)
    if n == 3:
        out[7] = max(n, cuda.popc(1)) + out.shape[0]
    out[8] = cuda.popc(-1)


def test_bits_of_a_number_that_all_lanes_share() -> None:
    """``cuda.ffs(8)`` was a TypeError: "len() of unsized object"."""
    out = np.zeros(9, np.int64)
    launch(bits_of_one_number, 1, 32, out)
    assert out.tolist() == [4, 3, 31, 6 << 28, 0, 6, 1, 12, 64]
