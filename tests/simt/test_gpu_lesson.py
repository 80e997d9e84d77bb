"""Lesson 03's lines at work: what its tables count beside a learner's line, and its figures."""

from __future__ import annotations

import numpy as np
import pytest

from lockstep import show
from lockstep.errors import UsageError
from lockstep.experiments.gpu import your_line
from lockstep.show.tensor_core import holders
from lockstep.simt import launch, tensor_core
from lockstep.simt.kernels import private_histogram


def test_neighbours_move_an_eighth_of_what_pieces_move() -> None:
    rows = your_line.loops_table(lambda thread, turn, threads: thread + turn * threads).rows
    assert [row[3] for row in rows] == ["32", "4"]
    assert [row[4] for row in rows] == ["65,536", f"{4 * your_line.THREADS * your_line.TURNS:,}"]


def test_the_line_for_banks_agrees_with_what_is_counted() -> None:
    rows = your_line.columns_table(lambda row, column, width: (row * width + column) % 32).rows
    assert [row[1] for row in rows] == [row[2] for row in rows]
    assert [int(row[1]) for row in rows] == [int(np.gcd(width, 32)) for width in your_line.WIDTHS]


def test_a_wrong_line_for_banks_stands_beside_another_count() -> None:
    rows = your_line.columns_table(lambda row, column, width: row % 32).rows
    assert [row[1] for row in rows] != [row[2] for row in rows]


def test_five_rounds_sum_a_warp_as_the_line_says() -> None:
    def after_round(v: list[int], offset: int) -> list[int]:
        return [x + v[min(k + offset, 31)] if k + offset < 32 else 2 * x for k, x in enumerate(v)]

    rows = your_line.rounds_table(after_round).rows
    assert [row[1:3] for row in rows] == [row[3:] for row in rows]
    assert rows[-1][1] == str(sum(range(1, 33)))


def test_four_sums_agree_and_differ_in_cost() -> None:
    rows = {row[0]: row[1:] for row in your_line.sums_table().rows}
    assert {row[0] for row in rows.values()} == {"1,024"}
    assert [rows[name][1] for name in ("one_by_one", "reduce_divergent", "reduce_shuffle")] == ["1,024", "8", "32"]


@pytest.mark.slow
def test_tiles_load_a_sixteenth() -> None:
    naive, tiled = your_line.products()
    assert your_line.of_factors(naive) == 16 * your_line.of_factors(tiled) == 4 * 2 * your_line.SIDE**3
    assert naive.sectors > tiled.sectors


def test_sixty_thousand_ones_stand_still_in_half_precision() -> None:
    """What the lesson derives: from 32,768 on, adding 16 falls half-way, and goes to the even neighbour."""
    ones = np.ones(60_000, np.float16)
    assert tensor_core.dot(ones, ones, np.float16) == 2**15
    assert tensor_core.dot(ones, ones, np.float32) == 60_000


def test_peaks_are_of_this_machine_and_of_two_gpus() -> None:
    rows = your_line.peaks_table().rows
    assert [row[0] for row in rows[-2:]] == ["A100 SXM 80GB, published", "H100 SXM 80GB, published"]
    assert rows[0][0].endswith("your cores, measured")


@pytest.mark.parametrize(("blocks", "rounds", "idle"), [(10, 3, 2), (8, 2, 0), (1, 1, 3)])
def test_blocks_in_rounds(blocks: int, rounds: int, idle: int) -> None:
    drawn = show.blocks_on_sms(blocks, 4)
    assert drawn.rounds == rounds
    assert drawn.svg().count(">idle<") == idle
    assert all(f"block {n}<" in drawn.svg() for n in range(blocks))


def test_too_many_blocks_are_refused() -> None:
    with pytest.raises(UsageError, match="no room for 100 blocks"):
        show.blocks_on_sms(100, 4)


def test_each_number_of_the_tensor_core_has_its_lane() -> None:
    held = np.array(holders(tensor_core.A_PLACES))
    assert held.shape == (16, 16)
    assert np.bincount(held.ravel()).tolist() == [8] * 32
    assert [tuple(at) for at in np.argwhere(held == 0)] == [(r, c) for r in (0, 8) for c in (0, 1, 8, 9)]
    assert "lane 31" in show.tensor_core().svg()


def test_a_product_by_tiles_ends_with_its_store() -> None:
    drawn = show.product_by_tiles()
    assert len(drawn.frames) == 5
    assert "writes its element" in drawn.captions[-1]
    assert "tile (1, 3) of A and tile (3, 2) of B" in drawn.captions[3]


@pytest.mark.parametrize(("blocks", "threads"), [(1, 64), (3, 128), (2, 96)])
def test_the_private_histogram_counts_for_any_grid(blocks: int, threads: int) -> None:
    values = np.random.default_rng(3).integers(0, 64, 777).astype(np.int32)
    counts = np.zeros(64, np.int32)
    ran = launch(private_histogram, blocks, threads, values, counts)
    assert ran.findings == ()
    assert counts.tolist() == np.bincount(values, minlength=64).tolist()
    assert ran.counts()["atomics"] == 777 + 64 * blocks
