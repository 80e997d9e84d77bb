"""What the lesson on pipelines says in sentences, and the tables into which it puts the learner's lines."""

from __future__ import annotations

import pytest

from lockstep.errors import Deadlock
from lockstep.experiments.pipeline import (
    branched_runs,
    gpt_stages,
    lecture_notes,
    plans,
    published,
    training,
    your_line,
)
from lockstep.experiments.pipeline.equality import gradients_table
from lockstep.pipeline import blocking_messages
from lockstep.pipeline.drawn_schedule import best_slots
from lockstep.pipeline.pipedream_staleness import rates_table


@pytest.mark.slow
def test_naive_stages_are_as_fast_as_one_gpu_and_micro_batches_have_a_best_number() -> None:
    assert training.speedup("naive", 4, 1) == pytest.approx(1.01, abs=0.01)
    assert training.speedup("naive", 4, 16) < 1
    eight, sixteen, more = (training.speedup("gpipe", 8, m) for m in (8, 16, 32))
    assert eight < more < sixteen
    half, whole = (
        sum(e.end - e.start for e in training.executed("gpipe", 8, training.Flat(micro_batches=m)).trace.of_rank(3)
            if e.kind == "compute") / m
        for m in (32, 16)
    )  # fmt: skip
    assert half > 0.55 * whole


@pytest.mark.slow
def test_lines_stand_beside_what_is_counted() -> None:
    bubbles = your_line.bubble_table(lambda p, m: (p - 1) / (m + p - 1), counts=(1, 8))
    assert [row[1] for row in bubbles.rows] == [row[2] for row in bubbles.rows]
    kept = your_line.kept_table(lambda s, p, m: min(m, p - s))
    assert [row[1] for row in kept.rows] == [row[2] for row in kept.rows] == ["4", "3", "2", "1"]
    assert {row[4] for row in kept.rows} == {"8"}
    ages = your_line.delay_table(lambda s, p: p - s - 1)
    assert [row[1] for row in ages.rows] == [row[2] for row in ages.rows]
    assert [row[3] for row in ages.rows] == ["4", "3", "2", "1"]


def test_plain_sends_get_through_as_long_as_they_are_short() -> None:
    plain, mended = your_line.exchange_table().rows
    assert [cell == "waits for ever" for cell in plain[1:]] == [False, False, True]
    assert "waits for ever" not in mended
    with pytest.raises(Deadlock, match="rank 1 waits for rank 2, rank 2 waits for rank 1"):
        your_line.exchanged(blocking_messages.one_f_one_b_exchange, 1_000_000)


def test_what_the_board_asks_for() -> None:
    assert (best_slots(3, 3, 3), best_slots(3, 3, 2)) == (10, 12)


def test_gpipes_transformers() -> None:
    found = [p for p in published.throughputs() if p.model.startswith("Transformer")]
    errors = [p.error for p in found if p.M == 32 and p.predicted != p.published]
    assert 0.02 < min(errors) < max(errors) < 0.085
    assert len(published.throughput_table("Transformer").rows) == len(found)


@pytest.mark.slow
def test_the_notes_beside_our_count() -> None:
    told = {(row[0], row[1]): row[2] for row in lecture_notes.data_or_model_table().rows}
    assert len(told) == 8
    assert told["", "Model parallel: High"] == "67 MB"
    assert lecture_notes.in_turn() == 0
    assert not lecture_notes.installed("torch.distributed.pipeline")
    assert lecture_notes.installed("torch.distributed.pipelining")
    rows = lecture_notes.corrections_table().rows
    assert "not there" in rows[2][1]
    assert rows[3][1] == "19.5 ms; the other way round 15.5 ms"


@pytest.mark.slow
def test_a_gpt_has_the_losses_of_one_rank_under_every_schedule_with_a_flush() -> None:
    wanted = gpt_stages.training("GPipe", ranks=1).losses
    for method in gpt_stages.METHODS:
        found = gpt_stages.training(method).losses
        assert (found == pytest.approx(wanted, rel=1e-5)) == (method != "PipeDream"), method
    head, *rows = gpt_stages.methods_table().rows
    assert head[0] == "one rank"
    assert [row[1:3] for row in rows[:-1]] == [head[1:3]] * (len(rows) - 1)


@pytest.mark.slow
def test_pipedreams_plan_for_vgg_16() -> None:
    """By Ethernet it is the published one; where links are fast, data parallelism is as good."""
    assert [row[1] for row in plans.plans_table().rows] == ["15-1", "15-1", "16"]


@pytest.mark.slow
def test_branches_run_at_once() -> None:
    (row,) = branched_runs.branches_table((2,)).rows
    assert 1.5 < float(row[3]) < 2
    assert row[4] == "2 broadcast, 2 reduce"


@pytest.mark.slow
def test_no_training_differs_from_one_rank() -> None:
    for row in gradients_table((3,)).rows:
        assert row[2] == "–" or float(row[2]) < 1e-15


@pytest.mark.slow
def test_small_rates_forgive_old_weights_and_stashing_does_not_help_there() -> None:
    for _, flush, stashed, unstashed in rates_table(rates=(0.002, 0.005)).rows:
        assert float(stashed) < 1.1 * float(flush)
        assert float(unstashed) <= float(stashed)
