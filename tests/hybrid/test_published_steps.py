"""Steps that were published, simulated: nothing is fitted to a row."""

from __future__ import annotations

import pytest

from lockstep.bench.step import formula_memory, row, simulated_here
from lockstep.cost.reached_devices import as_reached
from lockstep.hybrid.published_steps import KORTHIKANTI, SC21, hardware_flops, model_flops, steps
from lockstep.hybrid.simulated_step import simulate_step
from lockstep.machines import find

STEPS = {(step.source, step.name, step.grid.ranks): step for step in steps()}


def test_all_rows_are_there():
    assert sum(step.source == KORTHIKANTI for step in steps()) == 9
    assert sum(step.source == SC21 for step in steps()) == 10
    assert all(step.grid.ranks * step.micro_batches > 0 for step in steps())


def test_the_papers_formulas_are_those_of_the_papers():
    """175B: 13.75 s on 64 GPUs are 51.4 % of the peak (Table 5); 145.6B on 1,536 at 148 TFLOP/s are 24.8 s."""
    gpt3 = STEPS[KORTHIKANTI, "175B selective", 64]
    assert model_flops(gpt3.model, 64) / 64 / 13.75 / 312e12 == pytest.approx(0.514, abs=0.0005)
    assert hardware_flops(gpt3.model, 64) / model_flops(gpt3.model, 64) == pytest.approx(4 / 3, rel=0.01)
    assert STEPS[SC21, "145.6B full", 1536].seconds == pytest.approx(24.82, abs=0.01)


def test_what_a_device_reaches_is_less_than_its_data_sheet_says():
    for name in ("dgx-a100", "dgx-h100", "h200", "dgx-b200", "mi300x"):
        sheet, reached = find(name), as_reached(find(name))
        assert 0.5 < reached.device.peak("float16") / sheet.device.peak("float16") < 0.9
        assert reached.device.memory_bandwidth < sheet.device.memory_bandwidth
        assert reached.between.bandwidth < sheet.between.bandwidth
    assert as_reached(find("dgx-a100")).device.peak("bfloat16") == pytest.approx(271.2e12)
    assert as_reached(find("commodity-10g")) == find("commodity-10g")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["175B full", "175B selective"])
def test_gpt_3_on_64_gpus_takes_as_long_as_published(name: str):
    step = STEPS[KORTHIKANTI, name, 64]
    told = row(step, *simulated_here(step))
    assert abs(told["differs by [%]"]) < 10
    assert told["memory [GB]"] == pytest.approx(formula_memory(step) / 1e9, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["3.6B full", "76.1B full"])
def test_steps_of_2021_take_as_long_as_published(name: str):
    (step,) = (s for s in steps() if s.source == SC21 and s.name == name)
    told = row(step, *simulated_here(step))
    assert abs(told["differs by [%]"]) < 15
    assert told["memory [GB]"] == pytest.approx(formula_memory(step) / 1e9, rel=0.1)


@pytest.mark.slow
def test_its_flops_are_those_of_the_papers():
    step = STEPS[KORTHIKANTI, "175B full", 64]
    found = simulate_step(step.model, step.grid, step.chunks, step.micro_batches)
    assert found.flops == pytest.approx(hardware_flops(step.model, 64), rel=1e-3)
