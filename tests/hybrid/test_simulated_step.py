"""A simulated step costs what the step costs in full, and who stands for whom."""

from __future__ import annotations

from dataclasses import replace

import pytest
from steps_compared import compare

from lockstep.errors import Deadlock, UsageError
from lockstep.hybrid import instructions
from lockstep.hybrid.grid import GPTSize, Grid
from lockstep.hybrid.simulated_step import record, simulate_step, stands_for
from lockstep.machines import find
from lockstep.pipeline import schedules

GPUS = find("dgx-a100")
PAIRS, FOURS, THREES = (replace(GPUS, ranks_per_node=n) for n in (2, 4, 3))
TINY = GPTSize(layers=2, hidden=64, heads=2, seq=16, vocab=64)
SMALL = GPTSize(layers=4, hidden=256, heads=8, seq=128, vocab=1024)
WIDE = GPTSize(layers=4, hidden=12288, heads=96)  # GPT-3's width: 37 GB a rank that are never there
CUBE = Grid(dp=2, tp=2, pp=2)
FULL, SELECTIVE = {"recompute": "full"}, {"recompute": "selective", "sequence_parallel": True}


def test_a_step_of_four_ranks():
    played = compare(TINY, Grid(tp=2, pp=2, **SELECTIVE), 1, 2, PAIRS)
    assert sum(played.parts.values()) == pytest.approx(played.time)
    assert played.stands_for == [0, 0, 2, 2]
    lanes = played.of_players()
    assert lanes.ranks == 2
    assert {e.rank for e in lanes} == {0, 1}
    assert len(lanes) == len(played.trace)
    assert "rank 1" in played.show().svg()


def test_its_timeline_speaks_of_passes_chunks_and_micro_batches():
    """Bars were called mm, gelu and native_layer_norm."""
    played = simulate_step(replace(TINY, layers=4), Grid(tp=2, pp=2), chunks=2, micro_batches=2, on=PAIRS)
    lanes = played.show().lanes.trace
    first = [(e.kind, e.name) for e in lanes.of_rank(0) if e.kind in ("forward", "backward", "update")]
    assert {kind for kind, _ in first} == {"forward", "backward", "update"}
    order = list(dict.fromkeys(first))
    forwards = [name for kind, name in order if kind == "forward"]
    assert forwards == [f"chunk {c}, micro-batch {m}" for c in range(2) for m in range(2)]
    assert [name for kind, name in order if kind == "update"] == ["chunk 0", "chunk 1"]
    computed = sum(e.duration for e in lanes.of_rank(1) if e.kind != "compute" and not e.group)
    whole = sum(e.duration for e in played.of_players().of_rank(1) if e.kind == "compute")
    assert 0 < computed <= whole * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grid", "chunks", "micro_batches", "cluster"),
    [
        (replace(CUBE, **FULL), 1, 4, PAIRS),
        (replace(CUBE, **FULL), 2, 6, FOURS),
        (CUBE, 2, 4, PAIRS),
        (replace(CUBE, **SELECTIVE), 2, 4, PAIRS),
        (replace(CUBE, micro_batch=3, **FULL), 1, 5, PAIRS),
        (Grid(tp=2, pp=4, **FULL), 1, 6, PAIRS),
        (replace(CUBE, zero=1, **SELECTIVE), 2, 4, PAIRS),
        (replace(CUBE, zero=2, **FULL), 2, 4, PAIRS),
        (Grid(dp=4, tp=2, zero=2, **SELECTIVE), 1, 3, FOURS),
        (replace(CUBE, zero=3), 1, 4, PAIRS),
        (replace(CUBE, zero=3, overlap=True, **FULL), 2, 4, FOURS),
        (Grid(dp=4, tp=2, zero=3, overlap=True, **SELECTIVE), 1, 3, PAIRS),
        (Grid(dp=2, cp=2, pp=2, zero=3, overlap=True), 1, 4, PAIRS.with_rank(3, speed=0.5)),
        (replace(CUBE, overlap=True, **FULL), 1, 5, PAIRS),
        (replace(CUBE, overlap=True, zero=1, **SELECTIVE), 2, 4, FOURS),
        (Grid(dp=4, tp=2, overlap=True), 1, 1, PAIRS),
        (replace(CUBE, **FULL), 2, 4, PAIRS.with_rank(3, speed=0.5)),
        (replace(CUBE, overlap=True, **SELECTIVE), 2, 4, FOURS.with_rank(6, speed=0.7)),
        (replace(CUBE, **FULL), 2, 4, PAIRS.with_link(1, 5, bandwidth=1e9)),
        (replace(CUBE, **SELECTIVE), 2, 4, THREES),
        (Grid(tp=2, cp=2, pp=2, **SELECTIVE), 2, 4, PAIRS),
        (Grid(cp=2, dp=2, pp=2, overlap=True, **FULL), 1, 4, PAIRS.with_rank(3, speed=0.5)),
        (replace(CUBE, layout=(1, 3)), 1, 4, PAIRS),
        (replace(CUBE, pp=3, **FULL), 1, 4, FOURS),
    ],
    ids=lambda value: value.name if hasattr(value, "ranks_per_node") else None,
)
def test_a_step_of_eight_ranks(grid: Grid, chunks: int, micro_batches: int, cluster):
    compare(SMALL, grid, chunks, micro_batches, cluster)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grid", "chunks"),
    [(CUBE, 1), (replace(CUBE, zero=1), 2), (Grid(dp=2, pp=3, zero=3, overlap=True), 1), (Grid(dp=2, zero=3), 1)],
)
def test_a_tied_embedding(grid: Grid, chunks: int):
    """The sum over the first and the last stage is simulated as it is executed."""
    played = compare(replace(SMALL, tied=True), grid, chunks, 4, PAIRS)
    sums = [e for e in played.trace.of_kind("all_reduce") if len(e.group) == 2 and e.group[1] - e.group[0] >= 4]
    assert bool(sums) == (grid.pp > 1)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["gpipe", "gpipe, re-materialised", "zb_h1"])
def test_other_schedules(schedule: str):
    compare(SMALL, CUBE, 1, 4, PAIRS, schedule)


@pytest.mark.slow
def test_a_step_of_eight_ranks_at_the_width_of_gpt_3():
    assert max(compare(WIDE, replace(CUBE, **FULL), 2, 4, FOURS).peak_memory) > 30e9


@pytest.mark.slow
@pytest.mark.parametrize("grid", [replace(CUBE, **FULL), Grid(tp=2, cp=2, pp=2, zero=1)])
def test_flash_attention(grid: Grid):
    compare(replace(SMALL, attention="flash"), grid, 1, 4, PAIRS)


def test_a_step_of_two_ranks_whose_weights_are_sharded():
    """Each of four layers (two blocks, embedding, scores) is gathered for every micro-batch, ahead or not; all but the
    embedding once more in the backward pass."""
    for overlap in (False, True):
        played = compare(TINY, Grid(dp=2, zero=3, overlap=overlap), 1, 3, PAIRS)
        names = [e.kind for e in played.trace.of_rank(0) if e.kind != "compute"]
        assert names.count("all_gather") == 3 * (4 + 3) + 1  # and positions and the last norm after the update
        assert names.count("reduce_scatter") == 3 * 4 + 1


@pytest.mark.slow
def test_with_sharded_weights_a_rank_keeps_16_bytes_of_its_share():
    """ZeRO, arXiv:1910.02054, section 3.1; and two of 24 layers are whole while one computes: 2 bytes of weights each,
    and 2 of gradients."""
    model, dp = GPTSize(24, 2048, 16, seq=256, vocab=1024, dropout=0.0, attention="flash"), 16
    grid = Grid(dp=dp, zero=3, recompute="full", overlap=True)
    step = simulate_step(model, grid, on=GPUS)
    layer = 12 * model.hidden**2
    parameters = 24 * layer + 2 * model.vocab * model.hidden
    kept = 16 * parameters / dp
    activations = 24 * 2 * model.seq * model.hidden + 34 * model.seq * model.hidden  # the inputs; and one layer's
    assert max(step.peak_memory) == pytest.approx(kept + (2 * 2 + 2) * layer + activations, rel=0.1)
    whole = simulate_step(model, replace(grid, zero=2), on=GPUS)
    assert max(whole.peak_memory) - max(step.peak_memory) > 0.8 * 2 * parameters * (1 - 1 / dp) - 2 * 2 * layer


def test_the_comparison_can_fail():
    """One per cent of a link's latency is seen."""
    case = TINY, Grid(tp=2, pp=2, **FULL), 1, 2
    one, other = (simulate_step(*case, on=on) for on in (PAIRS, replace(PAIRS, between=slower(PAIRS.between))))
    assert other.time > one.time * (1 + 1e-6)


def slower(link):
    return replace(link, alpha=1.01 * link.alpha)


# ---- who stands for whom


def test_a_stage_has_one_player_where_all_are_alike():
    assert stands_for(CUBE, PAIRS) == [0, 0, 0, 0, 4, 4, 4, 4]
    assert len(set(stands_for(Grid(dp=16, tp=8, pp=8), GPUS))) == 8


def test_a_slow_rank_its_row_and_its_column_play_for_themselves():
    """With one slow rank of a stage's 64: itself; those that differ from it in one seat; all others."""
    players = stands_for(Grid(dp=8, tp=8, pp=2), GPUS.with_rank(10, speed=0.5))
    assert len(set(players)) == 2 * 4
    assert players[10] == 10
    assert players[9] == 8


def test_nobody_stands_for_another_where_all_times_vary():
    assert stands_for(CUBE, PAIRS.with_jitter(compute=0.1)) == list(range(8))


def test_a_tensor_group_on_two_nodes_plays_for_itself():
    assert len(set(stands_for(CUBE, THREES))) > 2


# ---- a pipeline's traps, found by the players


def exchanged_after_each_pass(name, stage, stages, micro_batches, chunks=1):
    order = [[step] for tick in schedules.ticks(name, stage, stages, micro_batches, chunks) for step in tick]
    return schedules.with_messages(order, stage, stages, chunks)


@pytest.mark.slow
def test_interleaving_that_exchanges_after_each_pass_deadlocks(monkeypatch):
    monkeypatch.setattr("lockstep.hybrid.simulated_step.stream", exchanged_after_each_pass)
    with pytest.raises(Deadlock, match="rank"):
        simulate_step(replace(TINY, layers=12), Grid(pp=4, **FULL), 3, 8, on=PAIRS)


# ---- what is refused


@pytest.mark.parametrize(
    ("model", "grid", "chunks", "micro_batches", "told"),
    [
        (TINY, Grid(tp=4), 1, 1, "tp = 4 does not divide heads = 2"),
        (TINY, Grid(pp=4), 1, 4, "pp times chunks = 4 is more than layers = 2"),
        (TINY, Grid(pp=2, layout=(2, 1)), 1, 4, "layout has 3 layers in 2 chunks, and the model 2"),
        (TINY, Grid(pp=2, layout=(2,)), 1, 4, "layout has 2 layers in 1 chunks"),
        (TINY, Grid(), 2, 1, "chunks need a pipeline"),
        (TINY, Grid(dp=10**6), 1, 1, "1,000,000 ranks are more than can be simulated"),
        (TINY, Grid(), 0, 1, "chunks is a whole number"),
        (TINY, Grid(pp=2), 1, 0, "micro_batches is a whole number"),
        (replace(TINY, vocab=65), Grid(tp=2), 1, 1, "does not divide vocab = 65"),
        (replace(TINY, seq=15), Grid(tp=2, sequence_parallel=True), 1, 1, "does not divide seq = 15"),
        (replace(TINY, seq=15), Grid(cp=2), 1, 1, "cp = 2 does not divide seq = 15"),
    ],
)
def test_what_cannot_be_divided_is_refused(model, grid, chunks, micro_batches, told):
    with pytest.raises(UsageError, match=told):
        simulate_step(model, grid, chunks, micro_batches)


def test_grids_that_make_no_sense_are_refused():
    for wrong in ({"tp": 0}, {"dp": -1}, {"zero": 4}, {"recompute": "some"}, {"pp": 1.5}, {"layout": (1, 0)}):
        with pytest.raises(UsageError):
            Grid(**wrong)
    for wrong in ({"heads": 3}, {"attention": "linear"}, {"layers": 0}):
        with pytest.raises(UsageError):
            GPTSize(**{"layers": 2, "hidden": 64, "heads": 2} | wrong)


def test_a_schedule_that_updates_in_the_middle_is_refused():
    with pytest.raises(UsageError, match="in the middle of a step"):
        instructions.program(schedules.stream("pipedream", 0, 2, 3), 1)


def test_a_backward_pass_in_two_parts_has_no_sharded_weights():
    with pytest.raises(UsageError, match="zb_h1 splits the backward pass"):
        simulate_step(TINY, Grid(dp=2, pp=2, zero=3), 1, 2, on=PAIRS, schedule="zb_h1")


def test_interleaving_needs_micro_batches_in_multiples_of_the_stages():
    with pytest.raises(UsageError, match="no multiple of 2"):
        simulate_step(replace(TINY, layers=4), Grid(pp=2), 2, 3)


def test_what_does_not_fit_is_told_and_simulated_all_the_same():
    small = replace(PAIRS, device=replace(PAIRS.device, memory=10**6))
    found = simulate_step(TINY, Grid(tp=2), 1, 1, on=small)
    assert found.time > 0
    assert "Stage 0 needs" in found.warnings[0]


def test_the_tape_does_not_depend_on_the_depth_of_the_pipeline():
    """Two layers a stage, on two stages or on four: the same segments."""
    a, b = (record(replace(TINY, layers=2 * pp), Grid(pp=pp, tp=2, **FULL), 1, 4, GPUS) for pp in (4, 8))
    assert a.keys() == b.keys()
    assert all(a[key].actions == b[key].actions for key in a)


def test_a_program_zeroes_computes_sums_and_updates_each_chunk():
    acts = instructions.program(schedules.stream("interleaved", 0, 2, 2, 2), 2)
    names = [type(act).__name__ for act in acts]
    assert names[:2] == ["ZeroGradients"] * 2
    assert names[-4:] == ["ReduceGradients"] * 2 + ["UpdateWeights"] * 2
    assert names.count("Post") == names.count("Await")
