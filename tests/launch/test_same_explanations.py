"""Why a program cannot go on: the same error, sentence and advice from the virtual cluster and from real processes."""

from __future__ import annotations

import re

import explained_cases
import pytest
from explained_cases import K, other_reductions

from lockstep import run
from lockstep.errors import Deadlock, Mismatch, RunError, Unmatched


def named(message: str) -> set[int]:
    """The ranks in "ranks 0 and 2 called", "rank 1 raised"."""
    return {int(n) for numbers in re.findall(r"ranks? ([\d, and]+)", message) for n in re.findall(r"\d+", numbers)}


def error_of(program, on) -> RunError:
    with pytest.raises(RunError) as caught:
        run(program, ranks=K, on=on)
    return caught.value


@pytest.mark.sampled(9)
@pytest.mark.parametrize("program", explained_cases.PROGRAMS, ids=lambda p: p.__name__)
def test_both_worlds_explain_alike(program) -> None:
    """A mismatch or an exception is told on the virtual cluster at once, where others have not come to it yet: then the
    ranks that the sentence names have to stand alike."""
    virtual, processes = error_of(program, "dgx-a100"), error_of(program, "processes")
    assert type(virtual) is type(processes)
    assert virtual.message == processes.message
    assert virtual.remedy == processes.remedy
    told, also = ({s.rank: str(s) for s in e.states} for e in (virtual, processes))
    everyone = isinstance(virtual, Deadlock | Unmatched)
    ranks = told.keys() | also.keys() if everyone else named(virtual.message)
    assert ranks
    assert {r: told[r] for r in ranks} == {r: also[r] for r in ranks}


def test_another_reduction_is_named() -> None:
    """gloo added up what one rank wanted the largest of, and nobody was told."""
    error = error_of(other_reductions, "processes")
    assert isinstance(error, Mismatch)
    assert error.message == "Mismatch: ranks 0 and 1 called all_reduce with arguments that do not fit."
    assert "(MAX, 2 elements of float32)" in str(error.states[1])
    assert "(SUM, 2 elements of float32)" in str(error.states[0])
