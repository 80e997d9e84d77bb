"""The data of negotiate: each sentence of its text has a case, and what is counted as control is what the text says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist

from lockstep.checks.case import Case
from lockstep.checks.exercise import find
from lockstep.checks.judge import Fault
from lockstep.checks.observe import observe
from lockstep.checks.run_faults import economise, examine
from lockstep.checks.seeds import seed
from lockstep.exercises.horovod.coordinated import SMALLEST, complete, inputs, names_of, sums, tensor
from lockstep.experiments.horovod.control_messages import FLAGS

EXERCISE = find("horovod.negotiate")


@cache
def cases() -> list[Case]:
    return [case for ranks in EXERCISE.worlds for case in EXERCISE.cases(ranks, seed(EXERCISE.id, ranks))]


def cycles(case: Case) -> list[list[list[str]]]:
    found: list[list[list[str]]] = case.settings["cycles"]
    return found


def several() -> list[Case]:
    return [case for case in cases() if case.size > 1]


@pytest.mark.parametrize("case", cases(), ids=str)
def test_every_rank_has_each_name_once(case: Case) -> None:
    for of_rank in cycles(case):
        assert sorted(name for cycle in of_rank for name in cycle) == names_of(case)
    for rank in case.members:
        (given,) = inputs(case, rank)
        assert [list(cycle) for cycle in given] == cycles(case)[case.members.index(rank)]


@pytest.mark.parametrize("case", several(), ids=str)
def test_ranks_differ_in_order_and_in_numbers_of_cycles(case: Case) -> None:
    orders = [[name for cycle in of_rank for name in cycle] for of_rank in cycles(case)]
    assert any(order != orders[0] for order in orders)
    assert len(cycles(case)[0]) < max(map(len, cycles(case))), "rank 0 has no more cycles, and goes on"
    assert any([] in of_rank for of_rank in cycles(case)), "a cycle may be empty"


def test_a_name_is_ready_in_the_same_cycle_on_all_ranks_or_first_on_one_and_last_on_another() -> None:
    same, far = 0, 0
    for case in several():
        for name in names_of(case):
            at = [next(c for c, cycle in enumerate(of_rank) if name in cycle) for of_rank in cycles(case)]
            same += len(set(at)) == 1
            far += at[0] == 0 and at[-1] == len(cycles(case)[-1]) - 1 == complete(case)[name]
    assert same >= 13
    assert far >= 8


def test_the_last_cycles_of_a_rank_may_be_empty_when_all_is_reduced() -> None:
    assert any(len(of_rank) > 1 + max(complete(case).values()) for case in several() for of_rank in cycles(case))


def test_a_cycle_in_which_nobody_has_anything_is_not_the_last() -> None:
    """A coordinator that stopped at the first cycle which was empty on all ranks passed."""
    empty = [all(not of_rank[1] for of_rank in cycles(case)) and max(complete(case).values()) > 1 for case in several()]
    assert any(empty)


def test_groups_dtypes_and_shapes() -> None:
    assert {case.group for case in cases()} == {None, (1, 3), (1, 2, 4), (1, 3, 4, 6)}
    plain = next(case for case in cases() if not case.settings["alike"])
    tensors = [tensor(plain, name, 0) for name in names_of(plain)]
    assert len({t.dtype for t in tensors}) == 4
    assert {t.dim() for t in tensors} == {1, 2}
    assert len({t.nbytes for t in tensors}) == len(tensors), "the trace tells which of them was all-reduced"
    assert min(t.nbytes for t in tensors) >= SMALLEST > 2 * sum(map(len, names_of(plain)))
    alike = next(case for case in cases() if case.settings["alike"])
    assert len({tensor(alike, name, 0).shape for name in names_of(alike)}) == 1


@pytest.mark.parametrize("case", several(), ids=str)
def test_a_sum_is_never_what_a_rank_had(case: Case) -> None:
    """Only so can the watch see that a tensor has been all-reduced."""
    for name, total in sums(case).items():
        assert not any(torch.equal(total, tensor(case, name, rank)) for rank in case.members)


def test_a_name_takes_more_than_a_flag() -> None:
    assert all(len(name) + 15 > FLAGS - 1 for case in cases() for name in names_of(case))


# ---- answers


def of_file(path: Path) -> Callable[..., Any]:
    namespace: dict[str, Any] = {}
    exec(path.read_text(), namespace)
    found: Callable[..., Any] = namespace["negotiate"]
    return found


def faults(fn: Callable[..., Any], ranks: int, nth: int = 0) -> list[Fault]:
    case = [case for case in cases() if case.ranks == ranks][nth]
    (seen,) = observe(EXERCISE, fn, cases=[case])
    assert seen.failure is None
    wrong = examine(EXERCISE)(seen)
    return [wrong] if wrong else list(economise(EXERCISE)(seen))


def test_lengths_of_two_objects_are_no_control_message() -> None:
    """They were: a broadcast of two objects is told their lengths in 16 bytes, and 8 were allowed."""
    assert faults(of_file(EXERCISE.right / "shapes_and_flags.py"), 3) == []


def test_who_takes_all_cycles_first_is_told_so_though_the_rest_is_right() -> None:
    right = of_file(EXERCISE.right / "shapes_and_flags.py")

    def ahead(cycles: Iterator[dict[str, torch.Tensor]], group: Any = None) -> Any:
        return right(iter(list(cycles)), group)

    (fault,) = faults(ahead, 3)
    assert fault.misconception == "takes-cycles-early"
    assert "list(cycles) takes all" in fault.message


def test_who_answers_one_cycle_later_is_told_so() -> None:
    right = of_file(EXERCISE.right / "shapes_and_flags.py")

    def later(cycles: Iterator[dict[str, torch.Tensor]], group: Any = None) -> Any:
        def one_behind() -> Iterator[dict[str, torch.Tensor]]:
            before: dict[str, torch.Tensor] = {}
            for cycle in cycles:
                yield before
                before = cycle
            yield before

        return right(one_behind(), group)

    (fault,) = faults(later, 3, nth=1)
    assert fault.misconception == "takes-cycles-early"


@pytest.mark.slow
def test_an_order_that_is_not_the_one_of_the_all_reduces() -> None:
    right = of_file(EXERCISE.right / "shapes_and_flags.py")
    (fault,) = faults(lambda cycles, group=None: sorted(right(cycles, group)), 3)
    assert fault.misconception == "wrong-order"
    (fault,) = faults(lambda cycles, group=None: right(cycles, group)[:-1], 3)
    assert fault.misconception == "other-names"
    (fault,) = faults(lambda cycles, group=None: right(cycles, group) and None, 3)
    assert fault.misconception == "wrong-type"


def test_one_rank_alone_need_not_all_reduce() -> None:
    """It was told that 13 all-reduces are missing: an answer that nobody here had written."""
    assert faults(of_file(EXERCISE.right / "sets.py"), 1) == []


def test_tensors_in_one_buffer_are_no_control_messages() -> None:
    """They were told as “45 control messages”."""

    def in_one_buffer(cycles: Iterator[dict[str, torch.Tensor]], group: Any = None) -> list[str]:
        """All tensors at the end, those of a dtype together."""
        tensors = {name: held for cycle in cycles for name, held in cycle.items()}
        names = sorted(tensors, key=lambda name: (str(tensors[name].dtype), name))
        for dtype in sorted({held.dtype for held in tensors.values()}, key=str):
            fused = [tensors[name] for name in names if tensors[name].dtype == dtype]
            buffer = torch.cat([held.flatten() for held in fused])
            dist.all_reduce(buffer, group=group)
            for held, part in zip(fused, buffer.split([held.numel() for held in fused]), strict=True):
                held.copy_(part.view_as(held))
        return names

    case = next(case for case in cases() if case.ranks == 3)
    (seen,) = observe(EXERCISE, in_one_buffer, cases=[case])
    assert seen.failure is None
    assert [fault.misconception for fault in economise(EXERCISE)(seen)] == ["not-all-reduced"]


def test_what_was_never_reduced_in_place_is_told_so() -> None:
    """A generator, a sum into a copy, and no sum at all were told two numbers, and no more."""

    def into_a_copy(cycles: Iterator[dict[str, torch.Tensor]], group: Any = None) -> list[str]:
        return sorted(name for cycle in cycles for name in cycle)

    case = next(case for case in cases() if case.size == 2)
    seen = observe(EXERCISE, into_a_copy, cases=[case]).seen[0]
    fault = examine(EXERCISE)(seen)
    assert isinstance(fault, Fault)
    assert "on every rank it is as it was given" in fault.message


def test_who_stops_before_its_cycles_are_over_is_told_so() -> None:
    """Who took an empty cycle for the end read that no all-reduce had changed a tensor in place."""

    def first_only(cycles: Iterator[dict[str, torch.Tensor]], group: Any = None) -> list[str]:
        return list(next(cycles))

    case = next(case for case in cases() if case.size == 2)
    fault = examine(EXERCISE)(observe(EXERCISE, first_only, cases=[case]).seen[0])
    assert isinstance(fault, Fault)
    assert "has returned after 1 of its " in fault.message


def test_a_mean_in_place_of_the_sum_is_told_so() -> None:
    def mean(cycles: Iterator[dict[str, torch.Tensor]], group: Any = None) -> list[str]:
        mine = {name: tensor for cycle in cycles for name, tensor in cycle.items()}
        for _, one in sorted(mine.items()):
            dist.all_reduce(one, group=group)
            one.copy_((one.double() / dist.get_world_size(group)).floor() if not one.is_floating_point() else one / 2)
        return sorted(mine)

    case = next(case for case in cases() if case.size == 2)
    fault = examine(EXERCISE)(observe(EXERCISE, mean, cases=[case]).seen[0])
    assert isinstance(fault, Fault)
    assert "it is the sum divided by 2" in fault.message
