"""What a dear run is told beside its number."""

from __future__ import annotations

from dataclasses import replace

from lockstep.checks.budget import MEASURES, Budget
from lockstep.checks.case import Case
from lockstep.checks.observation import Seen
from lockstep.events import Event, Trace

CASE = Case(4, 0, None, {"numel": 4, "dtype": "float32"})


def seen(rows: list[tuple[int, int, float]], nbytes: int = 16) -> Seen:
    """Messages as (from, to, start), each of a second."""
    events = []
    for source, target, start in rows:
        events.append(Event(source, "send", start, start + 1, nbytes, target))
        events.append(Event(target, "recv", start, start + 1, nbytes, source))
    return Seen(CASE, trace=Trace.of(events, 4))


def test_whole_tensors_are_a_remark_on_bytes_and_none_on_rounds() -> None:
    run = seen([(0, 1, 0), (1, 0, 1), (2, 3, 0), (3, 2, 1)])
    told = [Budget(measure, lambda case: 1).over(run, "this") for measure in ("all bytes", "rounds")]
    assert ["carries all 4 elements" in (fault.message if fault else "") for fault in told] == [True, False]
    assert all(told)


def test_a_barrier_is_no_collective_that_costs_anything() -> None:
    none = Budget("collectives", lambda case: 0)
    called = [Trace.of([Event(0, kind, 0, 1, 8)], 4) for kind in ("barrier", "all_gather")]
    assert [none.over(Seen(CASE, trace=trace), "this") is not None for trace in called] == [False, True]


def test_only_what_is_a_bound_is_the_least_there_is() -> None:
    """A tree of right cost was told that no program takes fewer messages, which no theorem of the budget's said."""
    run = seen([(0, 1, 0)])
    rows = [Budget("all messages", lambda case: 1, at_least=bound) for bound in (None, 1)]
    assert [row.spent(run) for row in rows] == ["1 message in all", "1 message in all, the least there is"]


def test_whole_tensors_of_int64_are_recognised() -> None:
    case = Case(4, 0, None, {"numel": 4, "dtype": "int64"})
    run = replace(seen([(0, 1, 0), (2, 3, 0)], nbytes=32), case=case)
    assert "carries all 4 elements" in getattr(Budget("bytes", lambda case: 1).over(run, "this"), "message", "")


def test_a_rank_that_takes_part_in_nothing_cannot_know_what_the_others_have() -> None:
    part = Budget("transfers", lambda case: 1, at_most=None, at_least=1)
    some, all_ranks = seen([(0, 1, 0)]), seen([(0, 1, 0), (1, 2, 1), (2, 3, 2)])
    assert [part.under(run, "this") is not None for run in (some, all_ranks)] == [True, False]


def test_what_collectives_carry_and_what_is_computed_is_counted_of_the_rank_with_most() -> None:
    events = [
        *(Event(0, "all_reduce", n, n + 1, nbytes) for n, nbytes in enumerate((8, 24))),
        *(Event(1, kind, 5, 6, 20) for kind in ("all_reduce", "broadcast", "barrier", "send")),
        *(Event(rank, "compute", 7, 8, flops=100 + rank) for rank in (0, 1)),
    ]
    run = Seen(Case(2, 0), trace=Trace.of(events, 2))
    counted = {name: MEASURES[name].count(run) for name in ("collective bytes", "largest collective", "flops")}
    assert counted == {"collective bytes": 60, "largest collective": 24, "flops": 101}
    assert [MEASURES[name].count(Seen(Case(2, 0))) for name in counted] == [0, 0, 0]
