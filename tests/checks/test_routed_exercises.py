"""The data of dispatch_and_combine and expert_parallel_moe: each sentence of the texts has its case, for any seed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise, find
from lockstep.checks.observe import observe
from lockstep.checks.run_faults import spent
from lockstep.exercises.mixture_of_experts.dispatch_and_combine import exercise as there_and_back
from lockstep.exercises.mixture_of_experts.expert_parallel_moe import exercise as training
from lockstep.exercises.mixture_of_experts.noted_experts import Noted, coefficients, observed
from lockstep.exercises.mixture_of_experts.routed import Tried, count
from lockstep.experts.gate import within_capacity

PLACES, TRAINING = (find(f"mixture_of_experts.{name}") for name in ("dispatch_and_combine", "expert_parallel_moe"))


def cases_of(tried: Tried, exercise: Exercise, seed: int) -> Iterator[Case]:
    for ranks in tried:
        yield from exercise.cases(ranks, seed)


def choices(case: Case) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Of each rank: where it wants to go, and what is kept."""
    for rank, (_, kept) in zip(case.members, there_and_back.wanted(case), strict=True):
        yield there_and_back.inputs(case, rank)[1], kept


@pytest.mark.parametrize("seed", range(3))
def test_places_are_those_of_the_library(seed: int) -> None:
    for case in cases_of(there_and_back.TRIED, PLACES, seed):
        for experts, kept in choices(case):
            assert torch.equal(kept, within_capacity(experts, count(case), case.settings["capacity"]))
            assert all(len(set(row)) == len(row) for row in experts.tolist())


@pytest.mark.parametrize("seed", range(3))
def test_first_choices_are_dropped_where_second_ones_are_kept_and_the_other_way_round(seed: int) -> None:
    rows = [kept for case in cases_of(there_and_back.TRIED, PLACES, seed) for _, kept in choices(case)]
    pairs = {tuple(row[:2]) for kept in rows if kept.shape[1] > 1 for row in kept.tolist()}
    assert pairs == {(True, True), (True, False), (False, True), (False, False)}


@pytest.mark.parametrize("seed", range(3))
def test_some_ranks_have_no_tokens_some_get_no_rows_and_once_all_goes_to_one_expert(seed: int) -> None:
    for exercise, data in ((PLACES, there_and_back), (TRAINING, training)):
        tables = [(case, data.loads(case)) for case in cases_of(data.TRIED, exercise, seed)]
        assert any(sum(of_rank) == 0 for _, n in tables for of_rank in n)
        assert any(sum(sum(row[r * len(row) // len(n) : (r + 1) * len(row) // len(n)]) for row in n) == 0
                   for _, n in tables for r in range(len(n)) if len(n) > 1)  # fmt: skip
        assert any(sum(map(bool, map(sum, zip(*n, strict=True)))) == 1 for _, n in tables)
        assert any(case.group and case.size < case.ranks for case, _ in tables)
        assert any(sum(map(sum, n)) == case.settings["k"] * sum(case.settings["tokens"]) for case, n in tables)


def test_of_one_choice_the_gate_learns_nothing_and_experts_without_rows_have_zeros() -> None:
    (case,) = (case for case in TRAINING.cases(2, 0) if case.settings["k"] == 1)
    for rank, (dx, dgate, dup, ddown) in enumerate(training.wanted(case)):
        x, gate, up, down, *_ = training.inputs(case, rank)
        assert [t.shape for t in (dx, dgate, dup, ddown)] == [t.shape for t in (x, gate, up, down)]
        assert not dgate.any()
        assert bool(dup.any()) == bool(ddown.any()) == (rank == 1)  # nobody chooses the expert of rank 0


@pytest.mark.parametrize("seed", range(3))
def test_no_token_has_equal_scores_in_training_as_its_text_says(seed: int) -> None:
    for case in cases_of(training.TRIED, TRAINING, seed):
        for rank in case.members:
            x, gate, *_ = training.inputs(case, rank)
            assert all(len(set(row)) == len(row) for row in (x @ gate.T).tolist())


def test_no_two_experts_do_the_same_and_a_call_is_told_where_it_cannot_be() -> None:
    assert len({coefficients(e) for e in range(24)}) == 24
    noted = Noted(3, 2, 3)
    rows = torch.ones(2, 3)
    assert torch.equal(noted(1, rows), torch.full((2, 3), -5.0 + 5)), "expert 4: -5 times, and 5 more"
    with pytest.raises(ValueError, match="0 to 1, and this is i = 3"):
        noted(3, rows)
    with pytest.raises(ValueError, match=r"shape \(n, 3\), and these have \(3,\)"):
        noted(0, rows[0])
    assert observed(lambda x, compute: compute(0, x).sum().item(), (rows, Noted(0, 1, 3)))[1] == [[0, 2]]


@pytest.mark.parametrize("exercise", [PLACES, TRAINING], ids=["places", "training"])
def test_the_reference_carries_as_much_as_is_needed_and_no_more(exercise: Exercise) -> None:
    """Budgets are no looser than that: all bytes are told as needed, and zeros are not told."""
    (seen, _) = observe(exercise, exercise.reference_function(), cases=exercise.cases(4, 0), guarded=False)
    for budget in exercise.costs.budgets:
        have, need = budget.measured.count(seen), budget.need(seen.case)
        assert have == (0 if budget.measure == "messages" else need)
    told = spent(exercise, seen).split(": ")[1]
    assert told.startswith(f"{exercise.costs.budgets[1].need(seen.case)} collectives; ")
    assert " 0 " not in told
    assert seen.changes[0] == ()
