"""What the exercises of unit 11 are drawn from and judged by: each trap is there, and each mistake is seen."""

from collections import Counter
from importlib.resources import files
from random import Random

import pytest
import torch

from lockstep.checks import check
from lockstep.checks.calls import told_call
from lockstep.checks.exercise import find
from lockstep.cost.experts import rows
from lockstep.exercises.mixture_of_experts import (
    drawn_experts,
    drawn_loads,
    observed_depths,
    observed_gate,
    observed_loss,
)
from lockstep.exercises.mixture_of_experts.observed_calls import Called, gradients, leaves, off, rounded
from lockstep.experiments.mixture_of_experts import assigned
from lockstep.experts.functional import name_the_expert
from lockstep.experts.gate import top_k_gate
from lockstep.experts.training import Trained, kind_of


def names(call: drawn_experts.Call) -> list[str]:
    return name_the_expert(*call)


def test_the_recorded_experts_are_the_file_and_without_the_loss_one_has_all() -> None:
    recorded = assigned.recorded()
    assert (
        assigned.written(recorded)
        == files("lockstep").joinpath("experiments/mixture_of_experts", "data", assigned.FILE).read_text()
    )
    assert sorted(counts.total() > 0 for counts in recorded["without"]) == [False, False, False, True]
    assert all(counts.total() > 100 for counts in recorded["with"])


def test_shares_are_told_for_some_steps_together() -> None:
    run = Trained(None, [], [[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]])  # type: ignore[arg-type]
    rows = assigned.shares_table({"with": run}, every=2).rows
    assert rows == [["with", "1 to 2", "75 %", "25 %"], ["with", "3 to 3", "0 %", "100 %"]]


@pytest.mark.parametrize("seed", range(3))
def test_each_kind_names_an_expert_that_gets_more_of_another_one(seed: int) -> None:
    dice = Random(seed)
    call = drawn_experts.call(dice, drawn_experts.parted(dice), 5)
    assert sorted(names(call)) == ["blanks", "consonants", "digits", "signs", "vowels"]
    frequent = [
        Counter(kind_of(b) for b, e in zip(*call[:2], strict=True) if e == i).most_common(1)[0][0] for i in range(5)
    ]
    assert sum(a != b for a, b in zip(frequent, names(call), strict=True)) >= 2


def test_rare_kinds_equal_parts_and_bounds_are_tried() -> None:
    assert names(drawn_experts.rare(Random(0))[0]) == ["signs", "digits"]
    assert names(drawn_experts.equal(Random(0))[0]) == ["vowels", "vowels", "blanks"]
    assert [names(call) for call in drawn_experts.bounds(Random(0))] == [
        ["everything", "consonants", "idle"], ["vowels", "consonants", "digits"],
        ["everything", "consonants", "idle"], ["vowels", "consonants", "idle"],
    ]  # fmt: skip
    assert names(drawn_experts.unused(Random(0))[0])[5:] == ["idle"] * 3
    assert [set(names(call)) >= {"everything"} for call in drawn_experts.real(Random(0))] == [False, True]


def test_who_sends_most_is_not_always_who_receives_most() -> None:
    for loads, *_ in drawn_loads.one_sends(Random(0)):
        sent, received = ([getattr(r, way) for r in rows(loads)] for way in ("sent", "received"))
        assert max(sent) > max(received)


def test_a_list_of_lists_is_told_in_a_call() -> None:
    call = ([[0, 40], [0, 9]], 4096, 2e-5, 4e-11, 5e-7)
    told = told_call(find("mixture_of_experts.step_time_of_loads"), call)
    assert told == "step_time_of_loads([[0, 40], [0, 9]], 4096, 2e-05, 4e-11, 5e-07)"


def test_gradients_that_flow_that_do_not_and_that_cannot() -> None:
    (x,) = leaves([torch.ones(3)])
    assert gradients(2 * x, [x])[0] is not None
    assert gradients(x.detach(), [x]) == [None]
    y = x.exp()
    y += 1
    assert "inplace" in gradients(y, [x])
    assert not off(torch.tensor(1.0), torch.tensor(1.0 + 1e-6))
    assert rounded(torch.ones(1))[0] != rounded(torch.ones(1, dtype=torch.float64))[0]


def test_a_loop_calls_torch_more_often_and_a_list_counts_its_numbers() -> None:
    for make, times in ((lambda t: t.tolist(), 6), (lambda t: t + 1, 1)):
        six = torch.zeros(2, 3)
        with Called() as called:
            make(six)
        assert called.times == times
    assert observed_gate.grown([5, 5, 9, 5, 5, 5, 7, 7]) == (5, 9, "64 tokens")
    assert observed_gate.grown([5, 5, 5, 5, 5, 8, 7, 7]) == (5, 8, "32 experts")
    assert observed_gate.grown([5, 6, 5, 6, 5, 6, 9, 9])[2] == ""


def test_a_wrong_gate_is_told_by_its_first_token() -> None:
    call = observed_gate.calls("equal scores", 0)[0]
    experts, weights = top_k_gate(*call)
    assert observed_gate.astray(call, (experts, weights), (experts, weights)) == {}
    wrong = observed_gate.astray(call, (experts + 1, weights), (experts, weights))
    assert (wrong["wrong"], wrong["scores"]) == ("choices", "[1, 1, 1, 1, 1, 1]")
    assert "lower number" in wrong["equal"]


def a_loop(scores, k, softmax):  # type: ignore[no-untyped-def]
    choices, weights = [], []
    for row in scores:
        choices.append(torch.argsort(row, descending=True, stable=True)[:k])
        weights.append(row[choices[-1]].softmax(0) if softmax == "after" else row.softmax(0)[choices[-1]])
    if not choices:
        return torch.empty(0, k, dtype=torch.int64), torch.empty(0, k)
    return torch.stack(choices), torch.stack(weights)


@pytest.mark.slow
def test_no_gradient_is_asked_for_where_there_is_no_token() -> None:
    """Of a loop over tokens, whose result has no gradient then, that was told, and not the loop."""
    (finding,) = check("mixture_of_experts.top_k_gate", a_loop).findings
    assert finding.misconception == "too-many-calls", finding.message


def test_scores_that_are_changed_are_told() -> None:
    """Of what came of it, weights that are no numbers, more was told than of the change."""

    def best_then_out(scores, k, softmax):  # type: ignore[no-untyped-def]
        own, choices = scores.detach(), []
        for _ in range(k):
            choices.append(own.argmax(1))
            own.scatter_(1, choices[-1].unsqueeze(1), -torch.inf)
        return torch.stack(choices, 1), scores.gather(1, torch.stack(choices, 1)).softmax(1)

    (finding,) = check("mixture_of_experts.top_k_gate", best_then_out).findings
    assert (finding.misconception, "changes its argument scores" in finding.message) == ("changes-arguments", True)


def test_the_observed_sequence_and_block() -> None:
    for name in observed_depths.TRIED:
        for call in observed_depths.calls(name, 0):
            seen = observed_depths.right(call)
            assert seen["rows"] == [call[3]]
    assert all((call[0] @ call[1]).max() < 0 for call in observed_depths.calls("tokens with scores below 0", 0))


def test_what_is_wrong_with_parts_of_a_loss() -> None:
    task = observed_loss.Task((0, 4), 3, 1)
    own = [observed_loss.inputs(task, r, torch.Generator().manual_seed(r)) for r in range(2)]
    zeros = [{"part": torch.tensor(part), "flows": [None]} for part in (1.0, 0.0)]
    assert [(w.what, w.rank) for w in observed_loss.wrong(zeros, own)] == [("empty", 0), ("sum", 0), ("flows", 1)]


def test_a_sum_of_parts_that_is_off_by_a_known_number_is_told_by_its_name() -> None:
    """Who forgot E, or k, or the mean was told two sums that differ."""
    task = observed_loss.Task((5, 1, 7, 12), 6, 2)
    assert observed_loss.factor(task, 1.1 / 6, 1.1) == " It is 6 times too small: that is E."
    assert observed_loss.factor(task, 25 * 1.1, 1.1) == " It is 25 times too large: that is N."
    assert observed_loss.factor(task._replace(k=4), 4.4, 1.1) == " It is 4 times too large: that is K or k."
    assert observed_loss.factor(task, 1.2, 1.1) == ""


def test_a_softmax_in_float32_is_no_softmax_of_float64_scores() -> None:
    """What is forgiven was as much as float32 rounds: such weights had all points."""
    call = observed_gate.calls("float64 scores", 1)[0]
    held = [t.detach() for t in observed_gate.right(call)["result"]]
    assert observed_gate.astray(call, held, held) == {}
    rounded_weights = [held[0], held[1].float().double()]
    assert observed_gate.astray(call, rounded_weights, held)["wrong"] == "weights"
