"""What labs 08 and 09 said of answers: each of these sentences was false, or helped nobody."""

from __future__ import annotations

from random import Random

import pytest
import torch
from torch import Tensor

from lockstep.checks import find
from lockstep.checks.closer_look import Closer
from lockstep.checks.observe import observe
from lockstep.checks.verdict import Score, score_of
from lockstep.cost.fsdp_units import Model, forward_seconds, step_seconds
from lockstep.deadlock_report import way_out
from lockstep.errors import RankState
from lockstep.exercises.fsdp.clipped import LONG, Clipping
from lockstep.exercises.fsdp.prefetch.exercise import EXAMPLES, LAYERS
from lockstep.exercises.fsdp.recorded_reads import observed
from lockstep.exercises.fsdp.unit_choices import beside_the_best, networks
from lockstep.exercises.fsdp.whole_numbers import WIDEST
from lockstep.pipeline.drawn_schedule import drawing, illegal, slots
from lockstep.pipeline.schedules_as_pairs import not_interleaved, not_one_f_one_b, one_f_one_b
from lockstep.pipeline.wasted_slots import Wasted, wasted


def told(id: str, fn, ranks: int) -> Score:
    exercise = find(id)
    seen = observe(exercise, fn, cases=exercise.cases(ranks, 1))
    return score_of(exercise, seen, Closer(exercise, fn, known=[]))


def without_pairs(stage: int, stages: int, micro_batches: int):
    return ["F0"] * 2 * micro_batches


def test_who_returns_no_pairs_is_not_told_that_this_is_what_is_wanted() -> None:
    """A loop's variable had the name of the sentence's: "['F0', ...] is wanted", the learner's own answer."""
    first = told("pipeline.one_f_one_b", without_pairs, 1).findings[0].message
    assert first.endswith("with 'F0' as entry 0, counted from 0; a list of pairs such as ('F', 0) is wanted.")


def test_a_slow_stage_is_named_with_the_slot_that_it_wastes() -> None:
    """It said of stage 0 that all take 28 slots, whichever stage it was."""
    right = [one_f_one_b(stage, 4, 6) for stage in range(4)]
    late = [("F", 0), *((kind, i + (kind == "F")) for i in range(5) for kind in "BF"), ("B", 5)]
    assert not_one_f_one_b([*right[:2], late, right[3]], 6) == (
        2,
        "and the others take 28 slots; 18 are enough. In slot 3 stage 2 does nothing, and could do F1 there.",
    )


@pytest.mark.parametrize("size", [(3, 4, 2), (4, 6, 3)])
def test_a_pass_that_could_stand_in_a_wasted_slot_stands_there_legally(size: tuple[int, int, int]) -> None:
    stages, micro_batches, cap = size
    rows = [[c for cell in row for c in (cell, "..")] for row in drawing(*size)]
    for _ in range(40):
        found = wasted(rows, [cap] * stages)
        if found is None or found.instead:
            break
        row = [".." if cell == found.cell else cell for cell in rows[found.stage]]
        row[found.slot] = found.cell
        rows[found.stage] = row
        assert illegal(rows, micro_batches, cap) is None
    assert slots(rows) < 2 * slots(drawing(*size))


def test_a_forward_pass_before_a_backward_pass_that_could_go_is_named() -> None:
    rows = [["F0", "F1", "B0", "B1"]]
    assert wasted(rows, [2]) == Wasted(0, 1, "B0", "F1")


def test_a_wrong_warm_up_is_told_the_rule_with_its_numbers() -> None:
    stream = [("F", 0, 0), ("B", 0, 0)]
    assert not_interleaved(stream, 0, 2, 4, 2).startswith("has 1 F; there are 8")
    right = [*((("F", i, c)) for g in (0, 2) for c in (0, 1) for i in (g, g + 1))]
    back = [("B", i, c) for g in (0, 2) for c in (1, 0) for i in (g, g + 1)]
    assert not_interleaved([*right, *back], 0, 2, 4, 2) == (
        "has 8 F before its first B; 5 are wanted: w is 2·(2−0−1) + (2−1)·2 = 4 there, and one more comes before the "
        "first B."
    )


def test_clipping_by_another_norm_is_told_which_one() -> None:
    """It said "element 0 of rank 0 is -0.39, not -1.57", and no more."""
    clipping = Clipping.drawn(LONG, [torch.Generator().manual_seed(n) for n in range(4)])

    def multiplied(factor: float) -> list[list[Tensor]]:
        return [[shard * factor for shard in own] for own in clipping.shards]

    assert "as if the norm were" not in clipping.beside(multiplied(2.0))
    assert clipping.beside(multiplied(clipping.scale / 4)).endswith(": K times the right one.")
    assert clipping.beside(multiplied(clipping.scale * 0.9)).endswith(f"{clipping.norm / 0.9:.6g}.")
    one_by_one = [[shard.clamp(-1, 1) for shard in own] for own in clipping.shards]
    assert clipping.beside(one_by_one).endswith("Rank 0 does not multiply all its numbers by one factor.")


def test_units_that_are_slow_or_large_are_told_of_what_that_consists() -> None:
    call = networks(8, 1.0, Random(3))[0]
    model, alone = Model.of(*call), [(i, i + 1) for i in range(8)]
    assert 0 < forward_seconds(model, alone) < step_seconds(model, alone)
    slow = beside_the_best(call, [[i] for i in range(8)])[1]
    assert " s forward and " in slow
    assert " s backward; " in slow
    ratio, large = beside_the_best(call, [[*range(8)]])
    assert ratio == float("inf")
    assert large.endswith(" for the whole unit.")


def test_a_number_that_is_needed_and_never_read_is_named() -> None:
    """It said "shard[5] is 0, not 21"."""

    def one_short(read, numel, old, new, rank):
        return torch.cat([read(0, 0, 5), torch.zeros(1), read(1, 0, 6)])

    facts = observed(one_short, 24, 4, 2, 0, 1)
    assert (facts["missing"], facts["holder"], facts["at"]) == (5, 0, 5)


def test_who_keeps_inputs_of_layers_holds_no_third_layer() -> None:
    """Outputs of earlier layers were taken for a third layer, of which the text said nothing."""
    most = max(max(LAYERS[ranks]) for ranks in LAYERS)
    assert 4 * EXAMPLES * (most + 3) * WIDEST < 4 * 30 * 31  # the smallest layer


def lazy(parameters, gradients, host, step, rate):
    """Where a number's gradient is zero, that number and its m and v stay as they are."""
    for i, (w, g) in enumerate(zip(parameters, gradients, strict=True)):
        m, v = host.load(i)
        at = g != 0
        m[at] = 0.9 * m[at] + 0.1 * g[at]
        v[at] = 0.999 * v[at] + 0.001 * g[at] ** 2
        w[at] -= rate * m[at] / (1 - 0.9**step) / ((v[at] / (1 - 0.999**step)).sqrt() + 1e-8)
        host.store(i, m, v)
        del m, v


def test_adam_goes_on_where_a_gradient_is_zero() -> None:
    """No gradient was ever zero, so who skipped such a layer was right."""
    [finding] = told("fsdp.offload", lazy, 1).findings
    assert "after step 3 number 0 of layer 1's parameters" in finding.message
    assert "Its gradient is 0 in this step, but the old m still moves w" in finding.message


@pytest.mark.parametrize(("queue", "advice"), [("", "isend and irecv."), ("pair", "with batch_isend_irecv.")])
def test_where_messages_go_in_order_a_send_and_a_receive_that_do_not_fit_are_not_told_to_use_isend(queue, advice):
    waits = [RankState(0, "waiting", kind="send", queue=queue), RankState(1, "waiting", kind="recv", queue=queue)]
    assert way_out(waits).endswith(advice)
