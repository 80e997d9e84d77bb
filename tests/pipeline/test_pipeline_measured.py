"""What the unit says of pipelines beside data parallelism, of old weights and of the notes' sample: measured."""

from __future__ import annotations

import pytest

from lockstep import run
from lockstep.cost.pipeline import bubble, sent_bytes
from lockstep.errors import UsageError
from lockstep.experiments.pipeline import data_or_model, notes_sample, placement, training
from lockstep.experiments.pipeline.training import Flat, pipelined, step
from lockstep.pipeline import pipedream_staleness


def test_the_notes_first_pipeline_is_serial() -> None:
    result = run(notes_sample.model_parallel, 4096, ranks=2, on="dgx-a100")
    assert notes_sample.at_once(result.trace) == 0
    assert result.values[1].shape == (4096, 10)


def test_training_it_is_serial_too_and_micro_batches_change_that() -> None:
    serial = run(notes_sample.trained, "naive", 1, 16384, ranks=2, on="dgx-a100", fake=True)
    piped = run(notes_sample.trained, "gpipe", 8, 16384, ranks=2, on="dgx-a100", fake=True)
    assert notes_sample.at_once(serial.trace) == 0
    assert notes_sample.at_once(piped.trace) > 0.2 * piped.time
    assert piped.time < serial.time


@pytest.mark.slow
def test_the_notes_table_of_data_and_model_parallelism() -> None:
    rows = {row.way: row for row in data_or_model.measured(8)}
    alone, data, naive, pipe = (rows[way] for way in ("one rank", "data parallelism", "naive", "one_f_one_b"))
    assert naive.speedup < alone.speedup == 1 < pipe.speedup < data.speedup
    assert pipe.speedup < 8 * (1 - bubble(8, Flat().micro_batches))
    assert alone.memory / 8 < pipe.memory < alone.memory / 6 < alone.memory < data.memory
    assert pipe.sent == 2 * Flat().micro_batches * Flat().activation_bytes < data.sent
    assert data.code < 50 < 200 < pipe.code < 400
    with pytest.raises(UsageError, match="two ranks"):
        data_or_model.measured(1)


@pytest.mark.slow
def test_inside_a_machine_goes_what_sends_more() -> None:
    """With many weights that is data parallelism, the opposite of what the notes say. With few weights and a large
    batch it is the pipeline."""
    notes_way, other = placement.measured()
    assert notes_way.gradients > notes_way.activations
    assert other.seconds < 0.9 * notes_way.seconds
    notes_way, other = placement.measured(placement.FEW_WEIGHTS)
    assert notes_way.gradients < notes_way.activations
    assert notes_way.seconds < 0.9 * other.seconds


@pytest.mark.slow
def test_the_bytes_of_a_placement_are_the_formulas() -> None:
    flat = Flat(layers=8, width=256, batch=64, micro_batches=4)
    for placed in placement.measured(flat):
        assert placed.activations == sent_bytes(1, 4, 4, flat.activation_bytes)
        assert placed.gradients == 2 * 3 / 4 * (flat.parameter_bytes / 4 + 4)  # and the number of examples


@pytest.mark.slow
def test_what_is_measured_twice_runs_once() -> None:
    """A cache counts a call with a default left out as another one: the lesson's tables ran all of it twice."""
    assert pipedream_staleness.losses("flush", 2) is pipedream_staleness.losses(
        "flush", 2, pipedream_staleness.RATE, pipedream_staleness.MOMENTUM
    )
    assert training.executed("naive", 2) is training.executed("naive", 2, Flat())
    assert placement.measured() is placement.measured(placement.MANY_WEIGHTS)


@pytest.mark.slow
def test_old_weights_cost_loss() -> None:
    flush, stashed, unstashed = pipedream_staleness.staleness([2])
    assert (flush.oldest, stashed.oldest) == (0, 1)
    assert flush.loss < 1.0 < 1.5 < stashed.loss
    assert stashed.loss != unstashed.loss


@pytest.mark.slow
def test_the_older_the_worse() -> None:
    found = {(f.p, f.way): f.loss for f in pipedream_staleness.staleness((2, 4, 8))}
    assert found[2, "flush"] == pytest.approx(found[8, "flush"], rel=1e-3)
    assert found[2, "PipeDream"] < found[4, "PipeDream"] < found[8, "PipeDream"]
    assert all(found[p, "PipeDream"] < found[p, "PipeDream without stashing"] for p in (2, 4, 8))


@pytest.mark.slow
def test_small_steps_forgive_old_weights() -> None:
    flush, stashed = (pipedream_staleness.trained(way, 2, rate=0.002) for way in ("flush", "PipeDream"))
    assert stashed < 1.2 * flush


@pytest.mark.slow
def test_interleaving_pays_where_the_bubble_is_large() -> None:
    """The same worker, at a size that no test could compute: 8 stages, 4,096 wide, without data."""
    flat = Flat(layers=16, micro_batches=8)
    plain = run(step, "one_f_one_b", flat, ranks=8, on="dgx-a100", fake=True)
    halves = run(pipelined, "interleaved", flat, None, 2, ranks=8, on="dgx-a100", fake=True)
    assert halves.time < plain.time
    assert halves.trace.sent(1).nbytes == 2 * plain.trace.sent(1).nbytes


@pytest.mark.slow
def test_tables_are_told() -> None:
    small = Flat(layers=8, width=64, batch=64, micro_batches=4)
    assert "naive" in repr(data_or_model.data_or_model_table(2, small))
    assert "data inside, pipeline across" in repr(placement.placement_table(small))
