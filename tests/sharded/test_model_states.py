"""What a rank holds under each stage is what the formula says, to the byte; and ZeRO's Table 1 follows from it."""

import csv
import io

import pytest
import torch

from lockstep.cost.sharding import MIXED, STAGES, booked, bytes_a_parameter, model_states, sent
from lockstep.experiments.fsdp.small_runs import held
from lockstep.experiments.fsdp.table import by_trace, fits, notes_table, table_1
from lockstep.models import GPT, parameters_of
from lockstep.sharded.mixed_precision import MixedAdam
from lockstep.sharded.model_states import FILE, NUMBERS, RANKS, SIZES, recorded, written
from lockstep.tables import published


def units(stage: int) -> tuple[int, ...]:
    """Zero's bucket of 25 MB holds the whole GPT."""
    return SIZES if stage == 3 else (NUMBERS,)


def test_the_model_is_as_large_as_its_name() -> None:
    model = GPT()
    assert [parameters_of(layer) for layer in model] == list(SIZES)
    assert parameters_of(model) == sum(SIZES) == NUMBERS


@pytest.mark.parametrize("run", recorded(), ids=lambda run: f"{run.stage}-{run.ranks}")
def test_every_recorded_run_is_the_formula_s(run) -> None:
    sizes = units(run.stage)
    assert run[2:5] == model_states(sizes, run.ranks, run.stage, MIXED)
    assert run.sent == round(2 * sent(sizes, run.ranks, run.stage))
    assert run.other < 200


def test_all_stages_and_ranks_are_recorded() -> None:
    assert [(run.stage, run.ranks) for run in recorded()] == [(stage, ranks) for stage in STAGES for ranks in RANKS]
    text = written(recorded())
    assert list(csv.DictReader(io.StringIO(text.split("anew.\n")[1]))) == published("sharded", FILE)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("stage", STAGES)
def test_a_run_gives_what_is_recorded(stage: int) -> None:
    assert held(stage, 3) == next(run for run in recorded() if (run.stage, run.ranks) == (stage, 3))


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("ranks", [1, 2, 8, 16])
def test_all_runs_give_what_is_recorded(stage: int, ranks: int) -> None:
    assert held(stage, ranks) == next(run for run in recorded() if (run.stage, run.ranks) == (stage, ranks))


def test_formula_and_trace_agree_where_nothing_is_padded() -> None:
    traced = by_trace()
    for (stage, ranks), each in traced.items():
        assert each == pytest.approx(bytes_a_parameter(stage, ranks), rel=1e-4)
    assert [bytes_a_parameter(stage, 4) for stage in STAGES] == [16, 7, 5.5, 4]


def test_table_1_has_published_line_and_traces() -> None:
    rows = table_1().rows
    assert len(rows) == 18
    assert rows[1] == ["7.5B", "4", "52.5", "52.5", "41.3", "41.25", "30", "30", "0 %"]
    assert [row[-1] for row in rows[3:6]] == ["0 %", "not run", "not run"]
    wrong = table_1(lambda stage, ranks: 16).rows[1]  # a learner who shards nothing
    assert (wrong[3], wrong[-1]) == ("120", "300 %")


def test_the_notes_beside_counts() -> None:
    told = [" ".join(row) for row in notes_table().rows]
    assert "9 of the 12 bytes" in told[2]
    assert "1.5 times" in told[5]
    assert "100 % of the model whole at once; in two units, without prefetching, 50 %" in told[6]
    assert fits(175 * 10**9, 80e9) == 35
    assert booked(SIZES, 4, 3)["all_gather"].number == 8


def test_mixed_adam_does_what_torch_s_adam_does_in_float32() -> None:
    torch.manual_seed(0)
    ours, theirs = (torch.nn.Parameter(torch.arange(6.0) / 5) for _ in range(2))
    mixed, adam = MixedAdam([ours], lr=0.1), torch.optim.Adam([theirs], lr=0.1)
    for _ in range(5):
        gradient = torch.randn(6)
        ours.grad, theirs.grad = gradient.clone(), gradient.clone()
        mixed.step()
        adam.step()
    assert torch.allclose(ours, theirs, rtol=1e-6)


def test_small_steps_add_up_in_the_master() -> None:
    """In bfloat16, 1 + 0.001 is 1."""
    p = torch.nn.Parameter(torch.ones(3, dtype=torch.bfloat16))
    adam = MixedAdam([p], lr=1e-3)
    seen = []
    for _ in range(8):
        p.grad = torch.ones_like(p)
        adam.step()
        seen.append(p[0].item())
    assert seen[0] == 1
    assert seen[-1] == pytest.approx(1 - 8e-3, abs=2e-3)
    assert adam.state[p]["master"].dtype == torch.float32
    adam.zero_grad()
    adam.step()  # without a gradient nothing moves
    assert p[0].item() == seen[-1]
