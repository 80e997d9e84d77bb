"""Where time goes: chunks hide all-reduces, nodes make them long, and the published layer's times."""

from __future__ import annotations

import pytest

from lockstep.cost.tensor_parallel import booked_block
from lockstep.experiments.tensor_parallel.scaling import weak_scaling, weak_scaling_table
from lockstep.tensor_parallel.across_nodes import DGX, Size, across_table, figure_13, nodes_of, spent
from lockstep.tensor_parallel.overlapped import chunk_table, measured
from lockstep.tensor_parallel.published import activations_table, times_table

SMALL = Size(1, 512, 4096, 32)


@pytest.mark.slow
def test_the_same_step_stands_still_longer_between_nodes() -> None:
    inside, across = spent(8, size=SMALL), spent(1, size=SMALL)
    bytes_of_a_step = booked_block(1, 512, 4096, e=2)["all_reduce"].nbytes
    assert inside.nbytes == across.nbytes == bytes_of_a_step
    assert inside.seconds - inside.waiting == pytest.approx(across.seconds - across.waiting, rel=1e-6)
    assert across.waiting > 3 * inside.waiting


@pytest.mark.slow
def test_chunks_hide_until_they_cost_more_than_they_hide() -> None:
    plain, one, four, many = (measured(chunks, DGX) for chunks in (0, 1, 4, 32))
    assert four.forward < one.forward < plain.forward
    assert four.forward < many.forward
    assert one.backward < plain.backward
    assert [found.all_reduces for found in (plain, one, four, many)] == [2, 2, 5, 33]


def test_figure_13_is_best_where_tensor_parallelism_fills_a_node() -> None:
    rows = {row[0]: [float(cell) for cell in row[2:]] for row in figure_13().rows}
    assert set(rows) == {"2", "4", "8", "16", "32"}
    assert all(max(rows, key=lambda ranks: rows[ranks][batch]) == "8" for batch in (0, 1))


@pytest.mark.slow
def test_tables_are_told() -> None:
    speedups = [float(row[-1]) for row in across_table().rows]
    assert speedups[0] == 1 < speedups[-1] < speedups[1] < 8
    assert len(chunk_table().rows) == 7
    assert all(abs(float(row[-1].rstrip(" %"))) < 1 for row in activations_table().rows)
    for row in times_table().rows:
        assert float(row[2]) == pytest.approx(float(row[1]), rel=0.2)
        assert float(row[4]) == pytest.approx(float(row[3]), rel=0.2)


def test_nodes_of_differ_in_size_only() -> None:
    assert nodes_of(8) == DGX
    assert nodes_of(1).device == DGX.device


@pytest.mark.slow
def test_weak_scaling_is_near_the_published_one() -> None:
    found = weak_scaling()
    assert [s.K for s in found] == [1, 2, 4, 8]
    assert all(abs(s.simulated_percent / s.percent - 1) < 0.12 for s in found)
    assert len(weak_scaling_table().rows) == 4
