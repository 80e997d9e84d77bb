"""Tables of a learner's line of lesson 03, compared with what the warp machine counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import cuda, float32

from lockstep import machines
from lockstep.simt import launch
from lockstep.simt.coalescing_and_bank_conflicts import BANKS, sectors
from lockstep.simt.kernels import naive_matmul, reduction, tiled_matmul
from lockstep.simt.masks import LANES
from lockstep.simt.profile import LineCounts
from lockstep.tables import Table
from lockstep.this_machine.survey import survey

Array = Any
Element = Callable[[int, int, int], int]  # (thread, turn, threads) -> element
Bank = Callable[[int, int, int], int]  # (row, column, width) -> bank
Round = Callable[[Sequence[float], int], Sequence[float]]  # (values, offset) -> values

THREADS, TURNS = 128, 16
WIDTHS = (32, 33, 34, 36, 40, 48)
SIDE = 64  # of the matrices


# ---- a loop over more elements than threads


def loops_table(element: Element) -> Table:
    """The loads of a warp in a loop over 2,048 numbers with 128 threads: with the indices of ``element``, and with a
    contiguous piece for each thread."""
    ways = (("a piece each", lambda thread, turn, threads: thread * TURNS + turn), ("your line", element))
    return Table(
        f"{THREADS * TURNS:,} numbers, {THREADS} threads, {TURNS} turns each",
        ["way", "thread 0 takes", "thread 1 takes", "sectors a load of a warp", "bytes moved in all"],
        [[name, _begins(way, 0), _begins(way, 1), *_moved(way)] for name, way in ways],
    )


def _begins(way: Element, thread: int) -> str:
    return ", ".join(str(way(thread, turn, THREADS)) for turn in range(3)) + ", …"


def _moved(way: Element) -> tuple[str, str]:
    """Sectors a request, on average, and bytes in all."""
    requests = [
        np.array([way(first + lane, turn, THREADS) for lane in range(LANES)])
        for first in range(0, THREADS, LANES)
        for turn in range(TURNS)
    ]
    moved = sum(sectors(places, itemsize=4)[0] for places in requests)
    return f"{moved / len(requests):g}", f"{32 * moved:,}"


# ---- banks


def columns_table(bank: Bank) -> Table:
    """A warp reads a column of a tile with 32 rows: wavefronts by ``bank``, and as the warp machine counts them."""
    rows = []
    for width in WIDTHS:
        fullest = Counter(bank(row, 0, width) for row in range(LANES)).most_common(1)[0][1]
        rows.append([str(width), str(fullest), f"{column_wavefronts(width):g}"])
    return Table(
        "Wavefronts for a column of a tile",
        ["words in a row", "lanes in the fullest bank, by your line", "counted"],
        rows,
    )


def column_wavefronts(width: int) -> float:
    """The wavefronts of one read of a column, in a tile of 32 rows of ``width`` words."""

    def read(out: Array) -> None:
        tile = cuda.shared.array((BANKS, width), float32)
        lane = cuda.laneid
        for column in range(width):
            tile[lane, column] = column
        cuda.syncwarp()
        out[lane] = tile[lane, 0]

    return launch(read, 1, LANES, np.zeros(LANES, np.float32)).line("out[lane]").wavefronts_per_request


# ---- sums


def rounds_table(after_round: Round) -> Table:
    """The five rounds that sum a warp's numbers 1 to 32: by ``after_round``, and by the warp machine's shuffles."""
    mine: Sequence[float] = [float(n) for n in range(1, LANES + 1)]
    values, rows = np.array(mine, np.float32), []
    for offset in (16, 8, 4, 2, 1):
        mine = after_round(mine, offset)
        launch(one_round, 1, LANES, values, offset)
        rows.append([str(offset), *(f"{values_of[lane]:g}" for values_of in (mine, values) for lane in (0, 31))])
    head = ["offset", "lane 0, by your line", "lane 31, by your line", "lane 0, counted", "lane 31, counted"]
    return Table("Five rounds: 1 + 2 + … + 32 = 528", head, rows)


def one_round(values: Array, offset: int) -> None:
    value = values[cuda.laneid]
    values[cuda.laneid] = value + cuda.shfl_down_sync(0xFFFFFFFF, value, offset)


def sums_table() -> Table:
    """1,024 ones summed by 8 blocks of 128 threads, in four ways."""
    rows = []
    for kernel in (one_by_one, reduction.reduce_divergent, reduction.reduce_sequential, reduction.reduce_shuffle):
        out = np.zeros(1, np.float32)
        counted = launch(kernel, 8, reduction.THREADS, np.ones(1024, np.float32), out).total()
        rows.append([kernel.__name__, f"{out[0]:,g}", *_of_a_sum(counted)])
    head = ["kernel", "sum", "atomics", "instr", "lanes at work", "shared requests", "barriers"]
    return Table("1,024 ones, 8 blocks of 128 threads", head, rows)


def one_by_one(values: Array, out: Array) -> None:
    """Every thread adds its own number to the sum atomically."""
    cuda.atomic.add(out, 0, values[cuda.grid(1)])


def _of_a_sum(counted: LineCounts) -> list[str]:
    share = f"{counted.lane_efficiency:.0%}".replace("%", " %")
    return [
        f"{counted.atomics:,}", f"{counted.instructions:,}", share, f"{counted.shared_requests:,}",
        f"{counted.barriers:,}",
    ]  # fmt: skip


# ---- a product


def loaded(kernel: Callable[..., None]) -> LineCounts:
    """The counts of a product of two 64 x 64 matrices by blocks of 16 x 16 threads."""
    A, B = np.ones((2, SIDE, SIDE), np.float32)
    return launch(kernel, (SIDE // 16, SIDE // 16), (16, 16), A, B, np.zeros_like(A)).total()


def of_factors(counted: LineCounts) -> int:
    """Bytes that threads loaded of A and B: all that they requested, except for the store of C."""
    return counted.global_bytes - 4 * SIDE**2


def products_table(naive: LineCounts, tiled: LineCounts) -> Table:
    """The memory traffic of the two kernels."""
    rows = [
        [name, f"{of_factors(c):,}", f"{c.sectors:,}", f"{c.shared_requests:,}"]
        for name, c in (("naive_matmul", naive), ("tiled_matmul", tiled))
    ]
    head = ["kernel", "bytes loaded of A and B", "sectors moved, C too", "requests to shared memory"]
    return Table(f"A product of two {SIDE} x {SIDE} matrices", head, rows)


def products() -> tuple[LineCounts, LineCounts]:
    """The counts of the naive kernel and of the tiled one."""
    return loaded(naive_matmul), loaded(tiled_matmul)


# ---- how much arithmetic there is


def peaks_table() -> Table:
    """The float32, bfloat16 and memory rates of this machine's cores, as surveyed, and of two GPUs, as published."""
    here = survey()
    rows = [
        [f"{cores} of your cores, measured", _tera(cores * here.device.flops["float32"]), "", ""]
        for cores in sorted({1, here.cores or 1})
    ]
    for device in (machines.find(name).device for name in ("dgx-a100", "dgx-h100")):
        peaks = [_tera(device.flops[dtype]) for dtype in ("float32", "bfloat16")]
        rows.append([f"{device.name}, published", *peaks, _tera(device.memory_bandwidth)])
    head = ["", "float32, TFLOP/s", "bfloat16, TFLOP/s", "memory, TB/s"]
    return Table("How much arithmetic there is", head, rows)


def _tera(value: float) -> str:
    return f"{value / 1e12:,.2f}" if value < 1e13 else f"{value / 1e12:,.1f}"
