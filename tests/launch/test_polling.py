"""A rank that asks for ever uses the processor, so that the watchdog took it for one that computes: after 60 seconds,
at the end of its time, it was Stuck. The virtual cluster told a deadlock at once."""

import polling_cases as cases
import pytest

from lockstep import run
from lockstep.errors import Deadlock, Stuck


def error_of(kind, fn, *args, ranks=2):
    """Long before the time is up: only then the message would be another."""
    with pytest.raises(kind) as caught:
        run(fn, *args, ranks=ranks, on="processes", timeout=600)
    return caught.value


@pytest.mark.slow
@pytest.mark.parametrize("pause", [0, 0.001])
def test_ranks_that_ask_each_other_are_a_deadlock(pause):
    error = error_of(Deadlock, cases.asks_in_a_circle, pause, ranks=3)
    assert error.message.startswith("Deadlock: rank 0 waits for rank 1, rank 1 waits for rank 2, rank 2 waits for rank")
    assert [s.operation for s in error.states] == ["recv(src=1)", "recv(src=2)", "recv(src=0)"]
    assert all("asks_in_a_circle" in s.where for s in error.states)


@pytest.mark.slow
def test_a_rank_that_has_returned_is_asked_in_vain():
    error = error_of(Deadlock, cases.asks_a_rank_that_has_returned)
    assert error.message == "Deadlock: rank 1 waits for rank 0, whose function has already returned."


@pytest.mark.slow
def test_a_rank_asks_while_the_others_wait_for_it():
    error = error_of(Deadlock, cases.asks_while_the_others_wait, ranks=3)
    assert error.message == "Deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0."


@pytest.mark.slow
def test_what_gloo_never_tells_to_be_there_is_no_deadlock():
    error = error_of(Stuck, cases.asks_for_what_has_come)
    assert error.message.startswith("Stuck: rank 1 has polled recv(src=0) for ")
    assert "call wait() instead" in error.remedy


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "case", [cases.asks_until_a_late_rank_comes, cases.asks_and_then_computes, cases.asks_between_computations]
)
def test_who_asks_and_goes_on_is_left_alone(case):
    assert run(case, 3.5, ranks=2, on="processes").values == [0, 1]
