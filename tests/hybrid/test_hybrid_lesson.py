"""What the lesson on hybrid parallelism says in sentences, and the tables into which it puts the learner's lines."""

from __future__ import annotations

import pytest

from lockstep.errors import UsageError
from lockstep.experiments.hybrid import (
    axes,
    by_hand,
    context,
    halo,
    lasting,
    lecture_notes,
    pipeline_and_fsdp,
    placed,
    precision,
    torchs_own,
    two_kinds,
)
from lockstep.hybrid.grid import Grid


def seat(rank: int, tp: int, dp: int) -> tuple[int, int, int]:
    return rank % tp, rank // tp % dp, rank // (tp * dp)


# ---- sections 1 and 2


def test_a_seats_groups_are_the_grids() -> None:
    grid = Grid(tp=2, dp=3, pp=4)
    for rank in range(grid.ranks):
        for axis in axes.AXES:
            assert axes.by_line(seat, grid, axis, rank) == grid.group(axis, rank)
    assert axes.number_of_groups(Grid(tp=8, dp=16, pp=8)) == 320
    assert axes.folded(axes.GRID, 4, 5) == (4, 5, 6, 7)


def test_torchs_mesh_has_the_same_groups() -> None:
    for row in axes.groups_table(seat).rows[:3]:
        assert row[1] == row[2] == row[3]


@pytest.mark.parametrize("across", placed.AXES)
def test_the_last_axis_joins_the_nodes_and_the_others_lie_inside(across: str) -> None:
    for axis, groups in placed.groups_in(placed.order(across)).items():
        assert sorted(rank for ranks in groups for rank in ranks) == list(range(8))
        for a, b in groups:
            assert (placed.NODES.node(a) != placed.NODES.node(b)) == (axis == across)
    with pytest.raises(UsageError, match="none of the three axes"):
        placed.order("ep")


def test_what_is_said_of_the_recorded_placements() -> None:
    many, heavy = placed.JOBS[0], placed.JOBS[-1]
    assert [(p.job, p.across) for p in placed.recorded()] == [
        (job, axis) for job in placed.JOBS for axis in placed.AXES
    ]
    for job in placed.JOBS:
        seconds = {axis: placed.find_recorded(job, axis).seconds for axis in placed.AXES}
        assert min(seconds, key=lambda axis: seconds[axis]) == "pp", "pp across is the fastest of all three"
    dp, tp, pp = (placed.find_recorded(many, axis).seconds for axis in placed.AXES)
    assert dp < 1.05 * pp, "nearly as fast"
    assert tp > 1.5 * dp
    dp, tp, _ = (placed.find_recorded(heavy, axis).seconds for axis in placed.AXES)
    assert dp > tp
    sent = placed.find_recorded(heavy, "pp").sent
    assert sent["dp"] / sent["tp"] == pytest.approx(10.2, abs=0.05)
    assert 12 * heavy.hidden / (32 * heavy.tokens) == 12, "the reason's sum"


@pytest.mark.slow
def test_a_recorded_placement_is_what_a_run_gives() -> None:
    again, kept = placed.placed(placed.JOBS[0], "tp"), placed.find_recorded(placed.JOBS[0], "tp")
    assert again.seconds == pytest.approx(kept.seconds, rel=1e-6)
    assert again.sent == pytest.approx(kept.sent)
    assert again.parts == pytest.approx(kept.parts, rel=1e-6, abs=1e-9)
    assert sum(kept.parts.values()) == pytest.approx(kept.seconds)


# ---- section 3


def test_torchs_fsdp_and_tp_send_half_as_much_again_over_dp() -> None:
    ours, theirs = (torchs_own.traffic(which) for which in ("ours", "torch's"))
    assert ours.nbytes["tp", "all_reduce"] == theirs.nbytes["tp", "all_reduce"]
    over_dp = sum(n for (axis, _), n in theirs.nbytes.items() if axis == "dp")
    assert over_dp / ours.nbytes["dp", "all_reduce"] == pytest.approx(1.5, rel=0.01)
    assert max(ours.apart, theirs.apart) < 1e-6


@pytest.mark.slow
def test_sharded_weights_in_a_pipeline_send_half_as_much_again_for_each_micro_batch() -> None:
    for m in (2, 4):
        times = pipeline_and_fsdp.times_as_many(3, m)
        assert 0.97 * 1.5 * m < times < 1.5 * m, "the embedding is gathered once"
    assert times == pytest.approx(5.9, abs=0.05)
    assert pipeline_and_fsdp.times_as_many(1) == pytest.approx(1, rel=0.01)
    nothing, optimizer, weights = (pipeline_and_fsdp.sharded(zero).peak for zero in pipeline_and_fsdp.STAGES)
    assert weights < optimizer < nothing


# ---- sections 4 and 5


def test_who_has_how_many_pairs() -> None:
    assert context.unevenness() == pytest.approx(15, abs=0.05)
    assert context.unevenness(lambda r, K: [r, 2 * K - 1 - r]) == 1


def test_a_ring_and_ulysses_have_the_numbers_of_one_rank() -> None:
    assert context.apart("ring", 13, 4, context.Heads(4, 2)) < 1e-13


def test_what_is_said_of_the_recorded_sweep() -> None:
    found = {(r.way, r.link, r.positions, r.heads.keys): r for r in context.recorded()}
    assert len(found) == 16
    assert all(r.sent == pytest.approx(r.by_formula) for r in found.values())
    few, many = context.LENGTHS
    ratio = {key[1:]: r.seconds / found["ulysses", *key[1:]].seconds for key, r in found.items() if key[0] == "ring"}
    assert ratio["network", many, 64] < 1 < ratio["network", few, 64], "more bytes and faster; and slower"
    assert ratio["network", few, 8] < 1
    assert all(0.95 < ratio["NVLink", many, heads] < 1.05 for heads in (8, 64)), "nearly alike"


@pytest.mark.slow
def test_a_row_of_the_sweep_is_what_a_run_gives() -> None:
    (kept,) = (r for r in context.recorded() if r[:3] == ("ring", "network", 4096) and r.heads.keys == 64)
    again = context.ran(*kept[:4])
    assert (again.seconds, again.sent) == pytest.approx((kept.seconds, kept.sent), rel=1e-4)


# ---- section 6


def test_precision_changes_memory_messages_and_products_apart() -> None:
    wide, narrow, eight = ([float(cell.split()[0]) for cell in row[1:]] for row in precision.planned_table().rows)
    step, dp, gradients, _, memory, mfu = range(6)
    assert wide[memory] > 86 > max(narrow[memory], eight[memory]), "one of the three does not fit"
    assert wide[gradients] == 2 * narrow[gradients]
    assert wide[dp] > narrow[dp]
    assert wide[step] == pytest.approx(narrow[step], rel=0.01)
    assert 1 < wide[step] / eight[step] < 2
    assert eight[mfu] < wide[mfu]


@pytest.mark.slow
def test_fewer_bits_halve_each_piece() -> None:
    for name in precision.PIECES:
        piece = precision.piece(name)
        assert piece.nbytes[0] == 2 * piece.nbytes[1]
        assert piece.seconds[0] / piece.seconds[1] == pytest.approx(2, rel=0.1)


@pytest.mark.slow
def test_fp8_dispatch_by_plan_and_simulated() -> None:
    (wide, waited), (low, less) = map(precision.dispatched_step, precision.DISPATCHED)
    assert low.communication["ep"] / wide.communication["ep"] == pytest.approx(0.76, abs=0.01)
    assert less / waited == pytest.approx(0.78, abs=0.03)
    assert wide.step_time - low.step_time == pytest.approx(2.8, abs=0.1)


# ---- section 7


def test_the_plan_by_hand() -> None:
    hand = by_hand.by_hand()
    assert hand.computing == pytest.approx(2.35, abs=0.01)
    assert hand.seconds == pytest.approx(3.9, abs=0.05)
    assert by_hand.published_seconds(by_hand.of_figure()) == pytest.approx(6.7, abs=0.05)
    assert hand.parameters * by_hand.GPUS == pytest.approx(175e9, rel=0.005)
    assert by_hand.planned().step_time == pytest.approx(6.7, rel=0.05)


def test_errors_are_shown_whole() -> None:
    found = by_hand.errors()
    assert sum(len(e.own) for e in found) == len(by_hand.scored())
    assert {e.part for e in found} == {"calibration", "other releases", "held back"}
    assert any(by_hand.middle(e.own) > by_hand.middle(e.constant) for e in found), "it loses to a constant somewhere"
    assert 0.8 < by_hand.within_bars() < 0.9


@pytest.mark.slow
def test_the_simulated_step_and_a_slow_gpu() -> None:
    step = by_hand.simulated()
    assert step.time == pytest.approx(6.16, abs=0.01)
    assert by_hand.held(step) == pytest.approx(by_hand.by_hand().states, rel=0.1)
    assert lasting.slower() == pytest.approx(1.49, abs=0.01)


@pytest.mark.slow
def test_why_a_slow_gpu_costs_so_much() -> None:
    """The reason's sum: what the slow stage has to do, and the five stages before it."""
    parts = by_hand.simulated().parts
    own = 2 * parts["compute"] + parts["tp"]
    assert (parts["compute"], parts["tp"]) == pytest.approx((3.7, 0.46), abs=0.01)
    filled = 5 / 24 * (parts["compute"] + parts["tp"])
    assert (own + filled) / by_hand.simulated().time == pytest.approx(1.42, abs=0.01)


# ---- sections 8 and 9, and more


def test_what_two_kinds_of_gpu_cost_and_what_mends_it() -> None:
    found = two_kinds.recorded()
    assert list(found) == [way.name for way in two_kinds.ways()]
    slow, equal, by_speed, pipelines, fast = found.values()
    assert fast < by_speed < equal < slow
    assert equal > 0.85 * slow, "half of the GPUs are twice as fast, and it hardly helps"
    both = 2 / (1 / slow + 1 / fast)  # at the mean of their rates
    assert both < by_speed
    assert (equal - by_speed) > 0.8 * (equal - both), "mends most of that"
    assert pipelines < 1.05 * by_speed
    for way in two_kinds.ways():
        assert sum(way.layout) * len(way.shares) == two_kinds.LAYERS * len(way.shares)
        assert sum(way.shares) == two_kinds.BATCH
        if len(way.shares) == 1:
            assert two_kinds.planned(way) == pytest.approx(found[way.name], rel=0.1)


@pytest.mark.slow
def test_a_recorded_mixture_of_gpus_is_what_a_run_gives() -> None:
    way = next(way for way in two_kinds.ways() if "by speed" in way.name)
    assert two_kinds.simulated(way) == pytest.approx(two_kinds.recorded()[way.name], rel=1e-4)


def test_an_interval_is_best_and_lived_through_as_computed() -> None:
    for setting in lasting.SETTINGS:
        d, M = setting.writing, setting.between
        t = lasting.best(d, M)
        assert lasting.loss(t, d, M) < min(lasting.loss(t / 1.1, d, M), lasting.loss(1.1 * t, d, M))
        assert lasting.lived_through(t, d, M) == pytest.approx(lasting.loss(t, d, M), rel=0.1)


def test_more_gpus_on_an_nvlink_make_a_mixtures_ep_wider() -> None:
    eight, many = (lasting.on_domains("deepseek-v3", domain) for domain in lasting.DOMAINS)
    assert many.plan.ep > eight.plan.ep
    assert many.step_time < eight.step_time


def test_claims_stand_beside_counts() -> None:
    assert lecture_notes.days_of_one_gpu() == pytest.approx(143.8, abs=0.1)
    rows = lecture_notes.corrections_table().rows
    assert "6,144 chips" in rows[1][1]
    assert "31%" in rows[6][2]
    assert len(rows) == 8


def test_blocks_compute_what_one_rank_does() -> None:
    assert halo.apart(2, 2, 2) == 0
    (strips, _, squares) = halo.SHAPES
    assert halo.simulated(*strips, 1)[0] < halo.simulated(*squares, 1)[0], "two messages beat four"
    assert halo.simulated(*strips, 1)[2] > 1.9 * halo.simulated(*squares, 1)[2]
