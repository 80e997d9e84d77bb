"""The published models from their shapes, the notes' table of FLOPs, and Switch's Table 1."""

from __future__ import annotations

import pytest
import torch

from lockstep import run
from lockstep.experiments.mixture_of_experts.published import row, steps_speedup, switch_table
from lockstep.experts.flops import NOTES, OPT, OPT_CONTEXT, OPT_VOCABULARY, active_flops, dense_flops, opt_table
from lockstep.experts.gpt import MixtureGPT
from lockstep.experts.models_table import MODELS, find, models_table
from lockstep.models import GPT
from lockstep.tables import published


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_shapes_give_the_published_parameters(model) -> None:
    """Published to two digits, mostly; Switch-Base's "7B" is 7.4."""
    active = model.active - (model.embeddings // 2 if model.name == "gpt-oss-120b" else 0)  # see its source
    for counted, told in zip((model.total, active), model.published, strict=True):
        assert not told or counted == pytest.approx(told, rel=0.065)


def test_llama_4_has_17_active_and_14_without_one_of_its_two_experts() -> None:
    model = find("LLaMA-4 Maverick")
    assert model.active == pytest.approx(17.2e9, rel=0.002)
    assert model.active - model.with_experts * model.expert == pytest.approx(14.2e9, rel=0.003)


def test_the_table_agrees_with_the_data() -> None:
    by_name = {r["model"]: r for r in published("experts", "moe_models.csv")}
    for ours, theirs in (("Mixtral 8x7B", "Mixtral-8x7B"), ("DeepSeek-V3", "DeepSeek-V3"), ("Switch-C", "Switch-C")):
        assert find(ours).published[0] == float(by_name[theirs]["total_params_B"]) * 1e9
    assert len(models_table().rows) == len(MODELS)


# ---- FLOPs


def test_ffn_to_projections_is_two_to_one() -> None:
    for layers, width in OPT.values():
        counted = dense_flops(layers, width, OPT_CONTEXT, OPT_VOCABULARY)
        assert counted.ffn == 2 * counted.projections
    biggest = dense_flops(*OPT["175B"], OPT_CONTEXT, OPT_VOCABULARY)
    assert [round(share, 1) for share in biggest.shares] == [32.3, 64.6, 2.7, 0.3]
    assert NOTES["175B"] == (17, 80, 3.3, 0.3)
    assert [r[5] for r in opt_table().rows] == ["2 : 1"] * len(OPT)


def forward(experts: int, k: int) -> None:
    model = MixtureGPT(experts, k, layers=2) if experts else GPT()
    model(torch.zeros(1, 64, dtype=torch.int64))


@pytest.mark.parametrize(("experts", "k"), [(0, 0), (4, 1), (8, 2)])
def test_flops_are_those_of_a_trace(experts: int, k: int) -> None:
    trace = run(forward, experts, k, ranks=1, on="dgx-a100").trace
    shape = (2, 64, 64, 256)
    counted = active_flops(*shape, experts, k, 1) if experts else dense_flops(*shape)
    assert sum(e.flops for e in trace) == 64 * counted.total


# ---- Switch


def test_switch_is_slower_than_its_dense_twin_and_sooner_there_than_a_large_one() -> None:
    base, large, switch = row("T5-Base"), row("T5-Large"), row("Switch-Base", 1.0)
    assert switch.examples / base.examples == pytest.approx(0.625)
    assert large.hours / switch.hours == pytest.approx(2.09, abs=0.01)
    assert base.hours is None
    assert steps_speedup() == 7.5
    assert len(switch_table().rows) == 9
