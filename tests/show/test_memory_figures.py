"""Stacks are the formula's and the runs' bytes; the course of a rank's bytes is what its samples say."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import torch
from drawn_traces import sawtooth
from torch import nn

from lockstep import run, show
from lockstep.cost.sharding import MIXED, STAGES, model_states
from lockstep.datasets import library_text, text_batch
from lockstep.errors import UsageError
from lockstep.models import gpt_layers, next_token_loss
from lockstep.sharded.fsdp import FullySharded
from lockstep.sharded.model_states import RANKS
from lockstep.show import memory_stacks, palette, quantities
from lockstep.show.memory_over_time import BOTTOM, LEFT, NOTCH, RIGHT, ROOM, TOP
from lockstep.show.memory_stacks import KINDS, MANY, MODELS, Stacks

# ---- stacks


def test_the_sliders_choose_among_all_settings() -> None:
    figure = memory_stacks("70B", 64, 2)
    model, ranks, stage = figure.sliders()
    assert (model.stops[model.at], ranks.stops[ranks.at], stage.stops[stage.at]) == ("70B", "64", "2")
    sheets = figure.sheets()
    assert len(sheets) == len(MODELS) * len(MANY) * len(STAGES)
    assert sheets[(model.at * len(MANY) + ranks.at) * len(STAGES) + stage.at].frames[0] == figure.svg()


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("ranks", RANKS)
def test_runs_and_formula_are_equally_high(ranks: int, stage: int) -> None:
    """To a thousandth: 3 ranks have some padding."""
    at = Stacks("7.5B", ranks, stage)
    assert at.predicted(stage) == model_states(7_500_000_000, ranks, stage, MIXED)
    assert at.measured(stage) == pytest.approx(at.predicted(stage), rel=1e-3)


def test_a_drawing_has_every_number() -> None:
    drawing = memory_stacks("7.5B", 16, 1).svg()
    for stage in STAGES:
        for kind, nbytes in zip(KINDS, Stacks("7.5B", 16, stage).predicted(stage), strict=True):
            for how in ("by the formula", "from a run"):
                assert f"<title>stage {stage}, {how}: {kind} {quantities.nbytes(nbytes)}</title>" in drawing
    assert "12Ψ/16" in drawing
    assert "80 GB: one GPU" in drawing
    assert "80 GB" not in memory_stacks("1.5B").svg()


def test_what_was_not_run_is_not_drawn() -> None:
    figure = memory_stacks("1T", 1024, 3)
    assert "from a run:" not in figure.svg()
    assert "no run on so many ranks" in figure.caption()
    assert "15.6 GB by the formula" in figure.caption()  # ZeRO's Table 1


def test_without_a_run_no_frame_is_promised_and_each_stack_stands_above_its_name() -> None:
    """Above 64 ranks the legend spoke of framed stacks on the right, where there were none."""
    drawing = memory_stacks("7.5B", 1024, 3).svg()
    assert "framed" not in drawing
    assert "On more than 64 ranks nothing was run." in drawing
    bars = re.findall(r'<rect[^>]* x="([\d.]+)"[^>]* width="46"', drawing)
    names = re.findall(r'<text[^>]* x="([\d.]+)"[^>]*>stage \d</text>', drawing)
    assert len(names) == 4
    assert {round(float(x) + 23, 1) for x in bars} == {round(float(x), 1) for x in names}


def test_sharding_parameters_sends_half_as_much_again() -> None:
    told = [memory_stacks("7.5B", 4, stage).svg() for stage in (2, 3)]
    assert "in a step: 22.5 GB" in told[0]
    assert "in a step: 33.8 GB" in told[1]


@pytest.mark.parametrize("bad", [{"model": "7B"}, {"ranks": 5}, {"stage": 4}], ids=str)
def test_a_setting_that_is_not_there_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="There are no stacks"):
        memory_stacks(**bad)


# ---- over time


def paths(drawing: str) -> dict[str, str]:
    return {name: way for way, name in re.findall(r'<path d="([^"]+)"[^>]*><title>([^<]+)</title>', drawing)}


def test_the_course_is_drawn_to_scale() -> None:
    figure = show.memory_over_time(sawtooth(layers=3))
    ways = paths(figure.svg())
    assert list(ways) == ["activations", "optimizer state", "parameters"]  # what there is, the highest first
    heights = [float(y) for y in re.findall(r"V([\d.]+)", ways["parameters"])][:-1]
    per_byte = (BOTTOM - TOP) / (ROOM * 122)
    teeth = {round((BOTTOM - y) / per_byte) for y in heights}
    assert teeth == {20, 80}
    assert len(heights) == 1 + 2 * 3
    thirds = [LEFT + (RIGHT - LEFT) * third / 3 for third in (1, 2, 3)]
    across = [float(x) for x in re.findall(r"H([\d.]+)", ways["parameters"])]
    notched = [thirds[0], thirds[0] + NOTCH, thirds[1], thirds[1] + NOTCH, thirds[2]]
    assert across == pytest.approx(notched, abs=0.1), "a unit goes and the next one comes at once: two teeth, not one"


def test_collectives_stand_below_and_peaks_are_told() -> None:
    figure = show.memory_over_time(sawtooth(layers=3), rank=1)
    assert figure.svg().count("<title>all_gather, 60 bytes, 2 s</title>") == 3
    assert "The peak is 122 bytes at 20 s: parameters 80 bytes, optimizer state 40 bytes" in figure.caption()
    assert "parameters 20 bytes to 80 bytes" in figure.caption()


def test_a_part_of_a_run() -> None:
    figure = show.memory_over_time(sawtooth(layers=3), since=5.0, until=15.0)
    assert figure.svg().count("<title>all_gather") == 1
    assert "from 5 s to 15 s. The peak is 121 bytes at 10 s" in figure.caption()


def test_a_run_without_collectives_has_no_lanes() -> None:
    alone = sawtooth()
    quiet = replace(alone, trace=replace(alone.trace, events=alone.trace.of_kind("compute")))
    assert "Each bar" not in show.memory_over_time(quiet).svg()


def test_times_and_ranks_that_are_not_there_are_refused() -> None:
    for bad in ({"rank": 2}, {"rank": -1}, {"since": 99.0}, {"since": 3.0, "until": 2.0}):
        with pytest.raises(UsageError):
            show.memory_over_time(sawtooth(), **bad)


def test_a_sharded_gpt_is_a_sawtooth() -> None:
    """Parameters rise by a unit and fall back to the shards, in forward and backward pass."""
    x, y = text_batch(library_text(5_000), 1, 8)

    def train() -> list[int]:
        model = FullySharded(gpt_layers(layers=3, context=8), prefetch=False)
        next_token_loss(model(x), y).backward()
        return [shard.nbytes for shard in model.shards]

    result = run(train, ranks=4, on="dgx-a100")
    begin = next(e.posted for e in result.trace.of_rank(0) if e.kind == "all_gather")
    shards = result.values[0]
    held = [nbytes[0] for seconds, nbytes in result.memory[0].samples if seconds >= begin]
    tops = [a for before, a, after in zip(held, held[1:], held[2:], strict=False) if before < a >= after]
    assert min(held) == sum(shards)
    assert max(held) == sum(shards) + 4 * max(shards)
    assert len(tops) >= 2 * len(shards) - 2
    assert "parameters" in paths(show.memory_over_time(result, since=begin).svg())


def trained() -> None:
    model = nn.Linear(256, 256)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        model(torch.ones(64, 256)).square().mean().backward()
        optimizer.step()


def test_the_phases_stand_above_the_bytes() -> None:
    """A learner was asked in which pass the sum is highest, and the figure did not say where one begins."""
    result = run(trained, ranks=1, on="dgx-a100")
    second = [seconds for seconds, phase in result.memory[0].phases if phase == "forward"][1]
    figure = show.memory_over_time(result, since=second)
    bands = re.findall(r'data-value[^>]*fill="(#\w+)"><title>(\w+): ', figure.svg())
    assert [name for _, name in bands] == ["forward", "backward", "update"]
    assert all(fill == palette.ROLES[name] for fill, name in bands)
    assert re.search(r"The peak is [^:]*, in the (forward pass|backward pass|update):", figure.caption())
