"""Which experts a token has, what they weigh, and who finds no place."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from lockstep.checks import find
from lockstep.checks.case import Case
from lockstep.checks.load import load
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.errors import UsageError
from lockstep.exercises.mixture_of_experts import observed_gate
from lockstep.experts.balance import importance_loss, load_balancing_loss, loads, z_loss
from lockstep.experts.gate import TopKGate, capacity, limited, top_k_gate, within_capacity
from lockstep.experts.serial import Expert, NotesMixture, SerialMoE, dense_mixture, rows_computed, sparse_mixture

SCORES = torch.tensor([[2.0, 1.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 3.0, 3.0]])


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3))


def test_the_best_experts_in_order_and_of_equal_ones_the_first() -> None:
    experts, _ = top_k_gate(SCORES, 2)
    assert experts.tolist() == [[0, 1], [0, 1], [1, 2]]


def test_softmax_after_adds_up_to_one_and_before_to_less() -> None:
    _, after = top_k_gate(SCORES, 2, "after")
    _, before = top_k_gate(SCORES, 2, "before")
    assert after.sum(1).tolist() == pytest.approx([1, 1, 1])
    assert [round(w, 2) for w in after[0].tolist()] == [0.73, 0.27]
    assert [round(w, 2) for w in before[0].tolist()] == [0.67, 0.24]
    torch.testing.assert_close(before / before.sum(1, keepdim=True), after), "they differ by the share that is left out"


def test_with_one_expert_a_softmax_after_gives_the_gate_no_gradient() -> None:
    for softmax, learns in (("after", False), ("before", True)):
        mixture = SerialMoE(TopKGate(6, 4, 1, softmax, dtype=torch.float64), 8)
        mixture(drawn(9, 6)).square().sum().backward()
        assert (mixture.gate.weight.grad.abs().max() > 0) == learns


def test_what_cannot_be_chosen() -> None:
    for k, softmax in ((0, "after"), (4, "after"), (2, "later")):
        with pytest.raises(UsageError, match="A token has 1 to 3 experts"):
            top_k_gate(SCORES, k, softmax)


def test_noise_moves_the_choice_and_not_the_scores_and_only_in_training() -> None:
    gate = TopKGate(6, 4, 1, "before", noisy=True, dtype=torch.float64)
    x, normal = drawn(50, 6), drawn(50, 4)
    noisy, quiet = gate(x, normal), gate.eval()(x, normal)
    torch.testing.assert_close(noisy.scores, quiet.scores)
    assert (noisy.experts != quiet.experts).any()
    deviation = F.softplus(x @ gate.noise.T)
    torch.testing.assert_close(noisy.weights, top_k_gate(quiet.scores + normal * deviation, 1, "before")[1])


def test_an_expert_has_its_numbers_wherever_it_stands() -> None:
    six = Expert(4, 8, 6, layer=2)
    assert torch.equal(six.up, SerialMoE(TopKGate(4, 8, layer=2), 8, layer=2).experts[6].up)
    assert not torch.equal(six.up, Expert(4, 8, 6, layer=3).up)


# ---- losses


def test_the_balancing_loss_is_one_if_all_is_even_and_E_if_one_has_everything() -> None:
    E = 8
    sure = 50.0 * torch.eye(E)
    assert load_balancing_loss(sure, torch.arange(E).unsqueeze(1)).item() == pytest.approx(1)
    assert load_balancing_loss(sure[:1].expand(5, E), torch.zeros(5, 1, dtype=torch.int64)).item() == pytest.approx(E)


def test_its_gradient_pushes_down_who_has_most() -> None:
    scores = drawn(40, 4).requires_grad_()
    experts = top_k_gate(scores + torch.tensor([3.0, 0, 0, 0]), 1, "before")[0]
    load_balancing_loss(scores, experts).backward()
    assert loads(experts, 4).argmax() == scores.grad.sum(0).argmax() == 0


def test_the_other_losses() -> None:
    assert z_loss(torch.zeros(3, 4)).item() == pytest.approx(torch.tensor(4.0).log().item() ** 2)
    experts = torch.tensor([[0], [1], [1], [1]])
    assert importance_loss(torch.ones(4, 1), experts, 2).item() == pytest.approx((1 / 2) ** 2), "1 and 3: 2 ± 1"
    assert importance_loss(torch.tensor([[3.0], [1], [1], [1]]), experts, 2).item() == 0


# ---- capacity


def test_places() -> None:
    assert capacity(1.0, 12, 1, 4) == 3
    assert capacity(1.25, 12, 2, 5) == 6
    assert capacity(1.0, 13, 1, 4) == 4, "rounded up"


def test_the_drawing_of_the_docstring() -> None:
    experts = torch.tensor([[0, 1], [0, 1], [1, 0]])
    assert within_capacity(experts, 2, 2).tolist() == [[True, True], [True, False], [True, False]]


def test_high_weights_may_come_first() -> None:
    experts, weights = torch.tensor([[0], [0], [0]]), torch.tensor([[0.5], [0.9], [0.7]])
    assert within_capacity(experts, 2, 2).flatten().tolist() == [True, True, False]
    assert within_capacity(experts, 2, 2, weights).flatten().tolist() == [False, True, True]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_no_expert_takes_more_than_its_places(k: int) -> None:
    experts, weights = top_k_gate(drawn(57, 5), k)
    C = capacity(0.8, 57, k, 5)
    for kept in (within_capacity(experts, 5, C), within_capacity(experts, 5, C, weights)):
        taken = loads(experts[kept], 5)
        assert taken.tolist() == loads(experts, 5).clamp(max=C).tolist()


def test_a_dropped_token_leaves_as_zeros() -> None:
    mixture = SerialMoE(TopKGate(6, 4, 1, "before", dtype=torch.float64), 8, capacity_factor=0.5)
    y = mixture(drawn(40, 6))
    dropped = ~mixture.routing.kept.any(1)
    assert 0 < dropped.sum() < 40
    assert (y[dropped] == 0).all()
    assert (y[~dropped] != 0).all()


# ---- one rank


def test_sparse_and_dense_are_equal() -> None:
    gate = TopKGate(6, 5, 2, dtype=torch.float64)
    experts = [Expert(6, 8, i, dtype=torch.float64) for i in range(5)]
    x = drawn(31, 6)
    for factor in (None, 0.7):
        routing = limited(gate(x), factor)
        torch.testing.assert_close(sparse_mixture(x, routing, experts), dense_mixture(x, routing, experts))


def test_the_notes_mixture_computes_every_expert_for_every_token() -> None:
    mixture, rows = NotesMixture(16, 4), list[int]()
    for expert in mixture.experts:
        expert.register_forward_hook(lambda module, given, out: rows.append(len(given[0])))
    mixture(torch.ones(10, 16))
    assert rows == [10] * 4
    assert rows_computed(4, 1, 10) == {"sparse": 10, "dense": sum(rows)}


def test_a_softmax_by_logarithms_is_right_whatever_is_drawn() -> None:
    """Scores of up to 1,000 round it by 6e-5. With one secret of many, a right answer was told that a gradient of
    2e-5 should be one of 4e-6."""
    exercise = find("mixture_of_experts.top_k_gate")
    answer = load(exercise.right / "k_times_the_best.py", "top_k_gate")
    told = set()
    for seed in range(60):
        case = Case(1, seed, None, {"told": "scores of up to 1,000", "trivial": False})
        evidence = [observed_gate.observed(answer, call) for call in exercise.inputs(case, 0)]
        assert exercise.values.examine
        told.add(exercise.values.examine(Seen(case, ([{**e, "result": plain(e["result"])} for e in evidence],))))
    assert told == {None}
