"""The data of local_sgd and topk_with_error_feedback: exact numbers, and cases that tell mistakes apart."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise, find
from lockstep.checks.observation import Seen
from lockstep.checks.seeds import seed
from lockstep.exercises.without_waiting import totals
from lockstep.exercises.without_waiting.local_sgd.exercise import examine as wrongly
from lockstep.exercises.without_waiting.local_sgd.exercise import inputs, path, wanted
from lockstep.exercises.without_waiting.own_steps import parted, repeated
from lockstep.exercises.without_waiting.recorded_gradient import MovingBowl
from lockstep.exercises.without_waiting.what_is_sent import examine

LOCAL, TOP_K = find("without_waiting.local_sgd"), find("without_waiting.topk_with_error_feedback")


def cases(exercise: Exercise) -> list[Case]:
    return [case for ranks in exercise.worlds for case in exercise.cases(ranks, seed(exercise.id, ranks))]


def exact(case: Case) -> list[Fraction]:
    """The mean of all models, computed without any rounding."""
    _, start, steps, rate, period = inputs(case, 0)
    models = [[Fraction(v) for v in start.flatten().tolist()]] * case.size
    for step in range(steps):
        for n, rank in enumerate(case.members):
            bowl = inputs(case, rank)[0]
            middle = [Fraction(v) * (step + 1) for v in bowl.middle.flatten().tolist()]
            factor = Fraction(rate) * Fraction(bowl.curvature)
            models[n] = [w - factor * (w - m) for w, m in zip(models[n], middle, strict=True)]
        if (step + 1) % period == 0 or step + 1 == steps:
            models = [[sum(of) / case.size for of in zip(*models, strict=True)]] * case.size
    return models[0]


@pytest.mark.parametrize("case", cases(LOCAL), ids=str)
def test_the_wanted_model_is_exact(case: Case) -> None:
    assert [Fraction(v) for v in wanted(case).flatten().tolist()] == exact(case)


@pytest.mark.parametrize("case", cases(TOP_K), ids=str)
def test_the_wanted_mean_is_exact_but_in_one_case_and_the_totals_are(case: Case) -> None:
    given = [totals.inputs(case, rank) for rank in case.members]
    for gradient, residual, _ in given:
        assert torch.equal((gradient + residual).double(), gradient.double() + residual.double())
    right = totals.wanted(case, [None] * case.size)
    sent = [g + r - left for (g, r, _), (_, left) in zip(given, right, strict=True)]
    by_place = zip(*(vector.tolist() for vector in sent), strict=True)
    unrounded = [sum(map(Fraction, of)) / case.size for of in by_place]
    assert right[0][0].tolist() == pytest.approx([float(v) for v in unrounded], rel=1e-12)
    rounded = [Fraction(v) for v in right[0][0].tolist()] != unrounded
    assert rounded == (case.settings["kind"] == totals.ALIKE)  # there the order of a sum shows


def test_where_it_is_told_so_the_ranks_send_the_same_places_and_elsewhere_others() -> None:
    for case in (c for c in cases(TOP_K) if c.size > 1 and c.settings["numel"] == 200):
        given = [totals.inputs(case, rank) for rank in case.members]
        places = {frozenset((g + r).abs().topk(k).indices.tolist()) for g, r, k in given}
        assert (len(places) == 1) == (case.settings["kind"] == totals.ALIKE) or case.settings["kind"] == totals.TIES


def answered(case: Case, first: bool) -> Seen:
    """An answer that takes the first of equally large elements, or the last."""
    left = []
    for gradient, residual, k in (totals.inputs(case, rank) for rank in case.members):
        total = gradient + residual
        order = sorted(range(len(total)), key=lambda i, t=total: (-abs(t[i].item()), i if first else -i))  # type: ignore[misc]
        left.append(total.index_fill(0, torch.tensor(order[:k]), 0.0))
    pairs = iter(totals.wanted(case, left))
    returned = [list(next(pairs)) if rank in case.members else None for rank in range(case.ranks)]
    return Seen(case, tuple(returned))


@pytest.mark.parametrize("first", [True, False])
def test_of_equally_large_elements_any_may_be_sent(first: bool) -> None:
    tied = [case for case in cases(TOP_K) if case.settings["kind"] == totals.TIES]
    assert len(tied) == 2
    for case in tied:
        assert examine(answered(case, first)) is None
    assert not torch.equal(answered(tied[1], True).returned[0][1], answered(tied[1], False).returned[0][1])


def test_a_mean_by_one_over_k_is_off_by_rounding_only() -> None:
    (case, *_) = (c for c in cases(TOP_K) if c.size == 3)
    seen = answered(case, True)
    off = tuple([mean * (1 + 1e-7), left] for mean, left in seen.returned)
    assert examine(Seen(case, off)) is None
    far = tuple([mean * (1 + 1e-5), left] for mean, left in seen.returned)
    assert "This is the mean." in getattr(examine(Seen(case, far)), "message", "")


@pytest.mark.parametrize(
    ("asked", "still", "told"), [([0, 1, 0, 1], [], "step-numbers"), ([0, 1, 2, 3], [1], "w-stands-still")]
)
def test_what_gradients_were_asked_for_says_why_values_are_wrong(asked: list[int], still: list[int], told: str) -> None:
    case = next(c for c in cases(LOCAL) if c.size == 2)
    found = {"rank": 0, "steps": [0, 1, 2, 3], "asked": asked, "still": still}
    right = wanted(case)
    wrong, fine = (Seen(case, ({"result": w, "found": found},) * 2) for w in (right + 1, right))
    assert getattr(wrongly(wrong), "misconception", "") == told
    assert wrongly(fine) is None


def test_a_gradient_notes_steps_and_a_w_that_stands_still() -> None:
    bowl = MovingBowl(2.0, torch.ones(2))
    w = torch.zeros(2)
    for step in range(2):
        bowl(w, step)
    w -= 0.5
    bowl(w, 2)
    assert (bowl.asked, bowl.still) == ([0, 1, 2], [1])


def test_a_gradient_that_is_asked_for_twice_costs_points_though_values_are_right() -> None:
    """The text says once for each step, and nobody looked where values were right."""
    case = next(c for c in cases(LOCAL) if c.size == 2)
    found = {"rank": 0, "steps": [0, 1], "asked": [0, 0, 1, 1], "still": []}
    (fault,) = repeated(Seen(case, ({"result": wanted(case), "found": found},) * 2))
    assert "each once" in fault.message


def test_it_is_told_before_which_step_the_models_part() -> None:
    """An answer with a wrong rate read "element 0 is 2.31, not 2.14", and no more."""
    case = next(c for c in cases(LOCAL) if c.size == 2 and c.settings["of"] == (8, 3))
    start = inputs(case, 0)[1]
    told = {
        n: parted(case, [given] * 2, path(case), 8) for n, given in enumerate([[start, start + 1], [start.float()]])
    }
    assert "Rank 0 begins step 1 with a w that is wrong, the first one" in told[0]
    assert "begins step 0 with a w of torch.float32" in told[1]
    assert "look at what comes after the last one" in parted(case, [[start]] * 2, path(case), 8)


def test_totals_need_their_dtype() -> None:
    """Values sent as float16, or as float32 in float64, were as good: totals were small whole numbers."""
    for case in (c for c in cases(TOP_K) if c.settings["numel"] == 200):
        gradient, residual, _ = totals.inputs(case, case.members[0])
        smaller = torch.float32 if gradient.dtype == torch.float64 else torch.bfloat16
        assert not torch.equal((gradient + residual).to(smaller).to(gradient.dtype), gradient + residual)


def test_a_wrong_element_of_top_k_comes_with_its_total_or_with_who_sends_it() -> None:
    case = next(c for c in cases(TOP_K) if c.size == 4 and not c.settings["kind"])
    returned = answered(case, True).returned
    stays = examine(Seen(case, tuple([mean, left + 1] for mean, left in returned)))
    assert stays is not None
    assert " plus " in stays.aside
    assert "by magnitude, so it " in stays.aside
    mean = examine(Seen(case, tuple([mean.abs() + 1, left] for mean, left in returned)))
    assert mean is not None
    assert "the mean is over 4 ranks" in mean.aside
