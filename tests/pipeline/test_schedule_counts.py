"""Idle time, activations, versions of weights: what streams say is what the papers' formulas say."""

from __future__ import annotations

import pytest

from lockstep.cost import pipeline as formula
from lockstep.errors import UsageError
from lockstep.pipeline.instructions import Backward, BackwardInput, BackwardWeights, Forward, Recompute, Update
from lockstep.pipeline.schedule_costs import bubble, peak_activations, peak_inputs, staleness, weight_versions
from lockstep.pipeline.schedules import NAMES, streams
from lockstep.pipeline.simulate import Times, simulate

SIZES = [(1, 1), (1, 3), (2, 1), (2, 5), (3, 4), (4, 3), (4, 8), (8, 16), (5, 7)]


@pytest.mark.parametrize(("p", "m"), SIZES)
def test_gpipe_and_1f1b_are_idle_for_p_minus_1_of_m_plus_p_minus_1(p: int, m: int) -> None:
    """Whatever a backward pass takes: it is 1, 2 and 3 forward passes here."""
    for backward in (1, 2, 3):
        times = Times({Forward: 1, Backward: backward, Update: 0})
        for name in ("gpipe", "one_f_one_b", "pipedream"):
            assert bubble(streams(name, p, m), times) == pytest.approx((p - 1) / (m + p - 1))
            assert formula.bubble(p, m) == pytest.approx((p - 1) / (m + p - 1))
        assert bubble(streams("naive", p, m), times) == pytest.approx(1 - 1 / p)
        assert formula.naive_bubble(p) == pytest.approx(1 - 1 / p)


@pytest.mark.parametrize(("p", "m", "v"), [(2, 2, 2), (2, 6, 3), (4, 8, 2), (4, 12, 3), (8, 16, 4)])
def test_interleaving_divides_the_bubble_by_v(p: int, m: int, v: int) -> None:
    """Idle by ideal time is (p-1)/(v·m), the formula of Narayanan et al.; here as a share of the whole."""
    found = bubble(streams("interleaved", p, m, v))
    assert found == pytest.approx((p - 1) / (v * m + p - 1)) == pytest.approx(formula.bubble(p, m, v))
    assert found / (1 - found) == pytest.approx((p - 1) / (v * m))


@pytest.mark.parametrize(("p", "m"), [(2, 4), (3, 6), (4, 8), (8, 16)])
@pytest.mark.parametrize("f_b_w", [(1, 1, 1), (3, 3, 2), (2, 3, 2)])
def test_zb_h1_is_idle_for_p_minus_1_times_f_plus_b_minus_w(p: int, m: int, f_b_w: tuple[int, int, int]) -> None:
    f, b, w = f_b_w
    times = Times({Forward: f, BackwardInput: b, BackwardWeights: w, Update: 0})
    idle = formula.zb_h1_idle_seconds(p, f, b, w)
    assert idle == (p - 1) * (f + b - w)
    assert max(i.end for i in simulate(streams("zb_h1", p, m), times)) == pytest.approx(m * (f + b + w) + idle)
    assert formula.idle_seconds(p, f, b + w) == (p - 1) * (f + b + w)


@pytest.mark.parametrize(("p", "m"), SIZES)
def test_activations_that_wait(p: int, m: int) -> None:
    for name in ("naive", "gpipe", "one_f_one_b", "pipedream"):
        told = [formula.activations_in_flight(name, s, p, m) for s in range(p)]
        assert [peak_activations(stream) for stream in streams(name, p, m)] == told
    assert [peak_activations(s) for s in streams("one_f_one_b", p, m)] == [min(m, p - s) for s in range(p)]
    assert {peak_activations(s) for s in streams("gpipe", p, m)} == {m}
    again = streams("gpipe, re-materialised", p, m)
    assert {(peak_inputs(s), peak_activations(s)) for s in again} == {(m, 1)}


@pytest.mark.parametrize(("p", "m"), [(2, 4), (4, 8), (8, 16)])
def test_zb_h1_keeps_p_micro_batches_on_every_stage(p: int, m: int) -> None:
    assert {peak_activations(stream) for stream in streams("zb_h1", p, m)} == {p}
    assert {formula.activations_in_flight("zb_h1", s, p, m) for s in range(p)} == {p}


@pytest.mark.parametrize(("p", "m", "v"), [(1, 2, 2), (2, 2, 2), (2, 6, 3), (4, 4, 2), (4, 8, 2), (4, 12, 3)])
def test_interleaving_keeps_more(p: int, m: int, v: int) -> None:
    """In chunks: on stage 0 the first (v-1)·p + 2(p-1) + 1 forward passes come before any backward pass ends."""
    found = [peak_activations(stream) for stream in streams("interleaved", p, m, v)]
    assert found == [formula.activations_in_flight("interleaved", s, p, m, v) for s in range(p)]
    assert found[0] == min(m * v, (v - 1) * p + 2 * (p - 1) + 1)


@pytest.mark.parametrize(("p", "m"), [(1, 4), (2, 5), (4, 8), (8, 20)])
def test_pipedream_keeps_p_minus_s_versions_that_are_p_minus_s_minus_1_updates_old(p: int, m: int) -> None:
    for s, stream in enumerate(streams("pipedream", p, m)):
        assert weight_versions(stream) == formula.weight_versions("pipedream", s, p, m) == p - s
        assert max(staleness(stream).values()) == p - s - 1
        assert staleness(stream)[0, 0] == 0  # of the first minibatch nothing is old: no update came before


@pytest.mark.parametrize("p", [1, 2, 4, 8])
def test_few_minibatches_need_fewer_versions(p: int) -> None:
    """Found when memory was measured: with m = 3 on 4 stages all forward passes see the first version."""
    for m in range(1, 2 * p + 2):
        found = [weight_versions(stream) for stream in streams("pipedream", p, m)]
        assert found == [formula.weight_versions("pipedream", s, p, m) for s in range(p)]


@pytest.mark.parametrize("name", [n for n in NAMES if n != "pipedream"])
def test_a_flush_needs_one_version(name: str) -> None:
    for s, stream in enumerate(streams(name, 4, 8)):
        assert weight_versions(stream) == formula.weight_versions(name, s, 4, 8) == 1
        assert set(staleness(stream).values()) == {0}


def test_rematerialisation_costs_a_forward_pass_and_recomputes_while_it_waits() -> None:
    """Every stage but the last recomputes its first micro-batch while it waits; the last one sets the pace: m forward
    passes more."""
    times = Times({Forward: 1, Recompute: 1, Backward: 2, Update: 0})
    p, m = 4, 8
    plain, again = (
        max(i.end for i in simulate(streams(name, p, m), times)) for name in ("gpipe", "gpipe, re-materialised")
    )
    assert plain == (m + p - 1) * 3
    assert again == plain + m


def test_messages_make_the_bubble_larger() -> None:
    found = simulate(streams("one_f_one_b", 2, 2), Times({Forward: 1, Backward: 2, Update: 0}, message=0.5))
    assert max(i.end for i in found) == 3 * 3 + 2 * 0.5


def test_a_slow_stage_sets_the_pace() -> None:
    slow = Times({Forward: 1, Backward: 2, Update: 0}, scale=lambda stage: 2 if stage == 1 else 1)
    total = max(i.end for i in simulate(streams("one_f_one_b", 3, 50), slow))
    assert total == 1 + 50 * 6 + 1 + 2  # stage 0 comes first and last; stage 1 waits once, for its first gradient


@pytest.mark.parametrize("p", [1, 3, 5])
def test_formulas_hold_for_few_micro_batches_too(p: int) -> None:
    for m in range(1, 2 * p + 2):
        for name in NAMES:
            for v in (1, 2) if name == "interleaved" and m % p == 0 else (1,):
                made = streams(name, p, m, v)
                told = [formula.activations_in_flight(name, s, p, m, v) for s in range(p)]
                assert [peak_activations(stream) for stream in made] == told, (name, m, v)
                assert [weight_versions(stream) for stream in made] == [
                    formula.weight_versions(name, s, p, m) for s in range(p)
                ], (name, m, v)


def test_how_many_micro_batches_make_the_bubble_small() -> None:
    """GPipe: "negligible when M >= 4 K". It is 1/5 then, nearly."""
    assert formula.bubble(8, 32) == pytest.approx(7 / 39)
    for p in (1, 2, 4, 8, 64):
        m = formula.micro_batches_for(p, 0.1)
        assert m == max(1, 9 * (p - 1))
        assert formula.bubble(p, m) <= 0.1 * (1 + 1e-9)
    assert formula.micro_batches_for(8, 0.1, v=2) == 32
    assert formula.bubble_by_ideal(4, 3) == 1
    assert formula.speedup(4, 12) == 4 * 12 / 15


@pytest.mark.parametrize("wrong", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_no_pipeline_is_told(wrong: tuple[int, int, int]) -> None:
    with pytest.raises(UsageError, match="no pipeline of"):
        formula.bubble(*wrong)
    with pytest.raises(UsageError, match="between 0 and 1"):
        formula.micro_batches_for(2, 1.0)
    with pytest.raises(UsageError, match="no schedule 'gossip'"):
        formula.weight_versions("gossip", 0, 2, 2)


def test_an_order_that_waits_for_ever_is_told() -> None:
    streams_of_two = [[Forward(0), Backward(0), Forward(1), Backward(1)], [Forward(1), Forward(0), Backward(0)]]
    with pytest.raises(UsageError, match=r"stage 0 at Backward\(0\); stage 1 at Forward\(1\)"):
        simulate(streams_of_two)
