"""What the check of diloco tries: each sentence of its text, and where an answer leaves the right path."""

from __future__ import annotations

from fractions import Fraction

import pytest

from lockstep.checks.case import Case
from lockstep.checks.exercise import find
from lockstep.checks.observation import Seen
from lockstep.checks.seeds import seed
from lockstep.exercises.without_waiting.diloco.exercise import examine, inputs, path, rounds, wanted
from lockstep.exercises.without_waiting.own_steps import parted

DILOCO = find("without_waiting.diloco")
CASES = [case for ranks in DILOCO.worlds for case in DILOCO.cases(ranks, seed(DILOCO.id, ranks))]


def of(size: int, settings: tuple[float, ...]) -> Case:
    return next(case for case in CASES if case.size == case.ranks == size and case.settings["of"] == settings)


def by_fractions(case: Case) -> list[Fraction]:
    """The common w by the text's formula, computed without any rounding."""
    _, start, steps, rate, period, outer_rate, momentum = inputs(case, 0)
    eta, mu = Fraction(outer_rate), Fraction(momentum)
    w = [Fraction(x) for x in start.flatten().tolist()]
    v = [Fraction(0)] * len(w)
    for begin in range(0, steps, period):
        moved = [Fraction(0)] * len(w)
        for rank in case.members:
            bowl, own = inputs(case, rank)[0], list(w)
            middle = [Fraction(m) for m in bowl.middle.flatten().tolist()]
            factor = Fraction(rate) * Fraction(bowl.curvature)
            for step in range(begin, min(begin + period, steps)):
                own = [x - factor * (x - (step + 1) * m) for x, m in zip(own, middle, strict=True)]
            moved = [d + (x - o) / case.size for d, x, o in zip(moved, w, own, strict=True)]
        v = [mu * a + d for a, d in zip(v, moved, strict=True)]
        w = [x - eta * (d + mu * a) for x, d, a in zip(w, moved, v, strict=True)]
    return w


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_wanted_w_is_the_formulas(case: Case) -> None:
    exact = [float(x) for x in by_fractions(case)]
    assert wanted(case).flatten().tolist() == pytest.approx(exact, rel=1e-13, abs=1e-13)


def test_each_sentence_of_the_text_has_its_case() -> None:
    tried = {case.settings["of"] for case in CASES}
    assert any(steps % period for steps, period, *_ in tried), "a last round that is shorter"
    assert any(steps < period for steps, period, *_ in tried if steps), "no round is full"
    assert any(momentum == 0 and outer_rate != 1 for *_, outer_rate, momentum in tried)
    assert any(steps == 0 for steps, *_ in tried)
    assert any(rounds(case) >= 3 and case.settings["of"][3] for case in CASES), "v goes on for more than two rounds"
    assert {case.size for case in CASES} >= {1, 2, 3, 4, 8}
    assert any(case.group for case in CASES)
    assert {inputs(case, 0)[1].is_contiguous() for case in CASES} == {True, False}


def test_it_is_told_in_which_round_the_common_model_is_wrong_for_the_first_time() -> None:
    case = of(2, (8, 3, 0.75, 0.5))
    right = [own for _, own in path(case)]
    mine, others = ([w[n] for w in right] for n in range(2))
    said = parted(case, [[*mine[:6], mine[6] + 1, *mine[7:]], others], path(case), 8)
    assert "Rank 0 begins step 6 with a w that is wrong" in said
    assert "before it comes outer step 2" in said


def test_an_answer_that_is_off_by_rounding_is_right() -> None:
    case = of(3, (8, 3, 0.75, 0.5))
    found = {"rank": 0, "steps": list(range(8)), "asked": list(range(8)), "still": []}
    near, far = (Seen(case, ({"result": wanted(case) * off, "found": found},) * 3) for off in (1 + 1e-14, 1 + 1e-9))
    assert examine(near) is None
    assert getattr(examine(far), "misconception", "") == "wrong-values"
