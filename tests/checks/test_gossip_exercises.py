"""The exercises about gossip: what their cases try, and what the judge of a mixing matrix says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch

from lockstep.checks import find
from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.seeds import seed
from lockstep.dye import dye, find_flaw, told
from lockstep.exercises.without_waiting.averaging import MIXINGS, mixing, tensor
from lockstep.exercises.without_waiting.best_mixing.exercise import case, shortcoming
from lockstep.exercises.without_waiting.gossip_step.exercise import mixed
from lockstep.exercises.without_waiting.mixing_matrix_faults import slowest
from lockstep.exercises.without_waiting.one_way_links import LINKS
from lockstep.without_waiting.gossip import best_mixing, gossip_step, spectral_gap

GOSSIP, PUSH_SUM, BEST = (find(f"without_waiting.{name}") for name in ("gossip_step", "push_sum", "best_mixing"))


def cases_of(exercise: Exercise) -> list[Case]:
    return [case for ranks in exercise.worlds for case in exercise.cases(ranks, seed(exercise.id, ranks))]


@pytest.mark.parametrize("case", cases_of(GOSSIP), ids=str)
def test_the_wanted_sums_are_exact(case: Case) -> None:
    own = [[Fraction(v) for v in tensor(case, rank).flatten().tolist()] for rank in case.members]
    rows = [[Fraction(w) for w in row] for row in mixing(case).tolist()]
    for row, want in zip(rows, GOSSIP.values.wanted(case), strict=True):
        assert want.dtype == tensor(case, 0).dtype
        exact = [sum(w * x[e] for w, x in zip(row, own, strict=True)) for e in range(len(own[0]))]
        assert [Fraction(v) for v in want.flatten().tolist()] == exact


def test_each_sentence_of_the_text_has_a_case() -> None:
    tried = cases_of(GOSSIP)
    matrices = [mixing(case) for case in tried]
    assert {case.settings["dtype"] for case in tried} == {"float32", "float64"}
    assert any(not tensor(case, 0).is_contiguous() for case in tried)
    assert any(not torch.equal(W != 0, (W != 0).T) for W in matrices), "one-way links"
    assert any(not W.diagonal().all() for W in matrices), "no weight of its own"
    assert any(W.sum(1).ne(1).any() for W in matrices), "rows that do not sum to 1"
    assert any((W < 0).any() and (W.diagonal() < 0).any() for W in matrices), "negative weights"
    off = [W.clone().fill_diagonal_(0) for W in matrices if len(W) > 1]
    assert any((~W.any(0) & ~W.any(1)).any() for W in off), "a rank without neighbours"
    assert any(case.group for case in tried)


@pytest.mark.parametrize("name", LINKS)
def test_all_are_reached_from_all_along_the_links(name: str) -> None:
    reach = torch.eye(len(LINKS[name])).bool()
    for _ in LINKS[name]:
        for i, row in enumerate(LINKS[name]):
            assert i not in row
            reach[:, list(row)] |= reach[:, [i]]
    assert reach.all()


def test_push_sum_is_tried_where_weights_differ_and_without_rounds() -> None:
    tried = cases_of(PUSH_SUM)
    assert any(case.settings["rounds"] == 0 for case in tried)
    assert {case.settings["graph"] for case in tried} == set(LINKS)
    assert any(case.group for case in tried)
    assert any(not tensor(case, 0).is_contiguous() for case in tried)


def test_the_dye_of_weights_is_read_by_their_denominator() -> None:
    """Eighths are no fourths: with the number of ranks alone as denominator nothing could be said of a ring of four."""
    case = next(c for c in cases_of(GOSSIP) if c.settings["graph"] == "a ring")
    assert case.settings["weights"] == MIXINGS["a ring"][0] == 8
    W = mixing(case)
    dyed = dye(gossip_step, ranks=4, extra=(W,), weights=8)
    assert dyed.certain
    assert find_flaw(dyed, mixed(dyed, case)) is None
    wrong = dye(gossip_step, ranks=4, extra=(W.clone().fill_diagonal_(0.125),), weights=8)
    assert "it should hold 1/2 of rank 0's, 1/4 of rank 1's and 1/4 of rank 3's" in told(wrong, mixed(wrong, case))


# ---- the judge of a mixing matrix

RING = [[0.5, 0.25, 0.0, 0.25], [0.25, 0.5, 0.25, 0.0], [0.0, 0.25, 0.5, 0.25], [0.25, 0.0, 0.25, 0.5]]
SWAP = [[0.0, 0.5, 0.0, 0.5], [0.5, 0.0, 0.5, 0.0]] * 2


def judged(answer: object, ranks: int = 4, degree: int = 2) -> Fault | None:
    return shortcoming(seen(answer, ranks, degree))


def seen(answer: object, ranks: int = 4, degree: int = 2) -> Seen:
    return Seen(case(ranks, degree), returned=([plain(answer)],))


@pytest.mark.parametrize(
    ("answer", "misconception"),
    [
        (None, "wrong-type"),
        (RING[:3], "wrong-type"),
        ([[1.0]] * 4, "wrong-type"),
        ([["a"] * 4] * 4, "wrong-type"),
        ([[float("nan")] * 4] * 4, "not-finite"),
        ([[1.5, -0.5, 0, 0], [-0.5, 1.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], "negative-weight"),
        ([[0.3] * 4] * 4, "rows-do-not-sum-to-1"),
        ([[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], "columns-do-not-sum-to-1"),
        ([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]], "not-symmetric"),
        ([[0.25] * 4] * 4, "too-many-neighbours"),
        (torch.eye(4).tolist(), "not-connected"),
        (SWAP, "swaps-for-ever"),
        (RING, "wrong-values"),
        (best_mixing(4, 2), ""),
    ],
)
def test_what_is_said_of_a_matrix(answer: object, misconception: str) -> None:
    fault = judged(answer)
    assert (fault.misconception if fault else "") == misconception
    assert BEST.comparison.alike(seen(answer))[0] == misconception


def test_a_gap_earns_its_share_of_the_reference() -> None:
    ring, swap = judged(RING), judged(SWAP)
    assert ring is not None
    assert ring.earned == pytest.approx(0.5 / (2 / 3))
    assert swap is not None
    assert swap.earned == 0.0


def test_more_than_the_reference_is_right() -> None:
    """On a ring of five, unequal weights beat equal ones: nobody is told off for a larger gap."""
    own = 0.2763932
    W = [[own if i == j else (1 - own) / 2 if (i - j) % 5 in (1, 4) else 0.0 for j in range(5)] for i in range(5)]
    assert spectral_gap(torch.tensor(W)) > spectral_gap(torch.tensor(best_mixing(5, 2)))
    assert judged(W, 5, 2) is None


def test_the_reference_is_right_and_reaches_the_judge_as_an_array_too() -> None:
    for tried in BEST.cases(1, 0):
        ranks, degree = tried.settings["asked"]
        assert judged(np.array(best_mixing(ranks, degree)), ranks, degree) is None


@pytest.mark.parametrize(
    "odd",
    [0, "1", True, [], [[]], [[1.0]], {}, [None] * 8, [[10**400] * 8] * 8, torch.ones(8, 8), torch.ones(3)],
    ids=str,
)
def test_nothing_that_is_returned_breaks_the_judge(odd: object) -> None:
    assert judged(odd, 8, 3) is not None
    assert BEST.comparison.alike(seen(odd, 8, 3))[0]


def test_tuples_and_tensors_are_matrices() -> None:
    for answer in (torch.tensor(best_mixing(4, 2)).double(), tuple(map(tuple, best_mixing(4, 2)))):
        assert judged(answer) is None


def test_a_small_gap_comes_with_the_way_out() -> None:
    """Of two ranks λ₂ is the only other eigenvalue, and may be negative."""
    assert "ranks overshoot" in slowest(torch.tensor([[1 / 3, 2 / 3], [2 / 3, 1 / 3]]))
    assert "hear too little" in slowest(torch.tensor([[0.9, 0.1], [0.1, 0.9]]))


def test_a_wrong_mean_of_push_sum_comes_with_value_and_weight_of_each_round() -> None:
    tried = next(case for case in cases_of(PUSH_SUM) if case.settings["rounds"] == 3 and case.size == 4)
    right = list(PUSH_SUM.values.wanted(tried))
    assert PUSH_SUM.values.examine is not None
    assert PUSH_SUM.values.examine(Seen(tried, tuple(right))) is None
    fault = PUSH_SUM.values.examine(Seen(tried, tuple(x + 1 for x in right)))
    assert fault is not None
    assert fault.aside.count("/") == 5
