"""The roofline's arithmetic, the five kernels' counts, and that the roofs of this machine are roofs."""

from __future__ import annotations

import math

import pytest

from lockstep import machines
from lockstep.cost.operations import op_time, ridge_point
from lockstep.cpu.roofline import intensity, roofline
from lockstep.cpu.roofline_points import KERNELS, place_kernels
from lockstep.experiments.cpu.roofs import measure_roofs

A100 = machines.find("dgx-a100").device


def test_the_two_roofs_meet_at_the_ridge() -> None:
    ridge = ridge_point(A100)
    assert roofline(ridge * 100, 100, A100)[0] == pytest.approx(A100.peak("float32"))
    assert roofline(ridge * 50, 100, A100) == (pytest.approx(A100.peak("float32") / 2), "memory")
    assert roofline(ridge * 200, 100, A100) == (A100.peak("float32"), "compute")


def test_nothing_computed_and_nothing_moved() -> None:
    assert roofline(0, 100, A100) == (0.0, "memory")
    assert roofline(100, 0, A100) == (A100.peak("float32"), "compute")
    assert intensity(1, 0) == math.inf


@pytest.mark.parametrize("name", KERNELS)
def test_it_agrees_with_the_time_of_an_operation(name: str) -> None:
    flops, nbytes = KERNELS[name](1000)
    seconds = op_time(A100, flops, nbytes) - A100.launch_overhead
    assert flops / roofline(flops, nbytes, A100)[0] == pytest.approx(seconds)


def test_a_matrix_product_changes_sides_as_it_grows() -> None:
    assert [place_kernels(n, A100)["matmul"][1] for n in (32, 512)] == ["memory", "compute"]
    assert place_kernels(1000, A100)["saxpy"] == (pytest.approx(1 / 6), "memory")


def test_the_roofs_of_this_machine() -> None:
    """No number is asked of them: a cache may be a neighbour's just now. But a roof is there, and above one flop."""
    roofs = measure_roofs(seconds=0.02)
    assert roofs.peak > 1e8
    assert list(roofs.bandwidths)[-1] == "memory"
    assert min(roofs.bandwidths.values()) > 1e7
    assert roofs.device.memory_bandwidth == min(roofs.bandwidths.values())
