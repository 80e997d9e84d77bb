"""Buffers in flight on the virtual cluster. ``docs/races.md`` is what this file finds.

Programs that read before ``wait()`` were right here, and wrong on gloo.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from racing import RACES, changed_while_sent, never_waited, read_before_wait, used_while_reduced
from torch.distributed import distributed_c10d

from lockstep import races, run
from lockstep.errors import Race, RaceWarning, UsageError
from lockstep.events import Event, Trace

PAGE = Path(__file__).parents[2] / "docs" / "races.md"
virtual = partial(run, ranks=2, on="dgx-a100")


def section(program: Callable[[], float]) -> str:
    """A program, what comes of it here, and what may come of it on real ranks."""
    with pytest.warns(RaceWarning):
        result = virtual(program)
    with pytest.raises(Race) as strict:
        virtual(program, strict=True)
    told = " ".join(result.warnings)
    assert strict.value.message.split(" before ")[-1] in told
    rows = f"| here | {result.values[1]} |\n| on real ranks | {' to '.join(map(str, RACES[program]))} |"
    title = program.__name__.replace("_", " ").capitalize()
    source = f"```python\n{inspect.getsource(program)}```"
    return f"## {title}\n\n{source}\n\n{told}\n\n| | rank 1 returns |\n| --- | --- |\n{rows}\n"


def test_the_page_of_races_is_what_comes_of_them() -> None:
    sections = "\n".join(map(section, RACES))
    assert PAGE.read_text(encoding="utf-8").partition("## Never waited")[2] == sections.partition("## Never waited")[2]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::lockstep.errors.RaceWarning")
@pytest.mark.parametrize("program", RACES)
def test_on_real_ranks_it_is_anything_between(program: Callable[[], float]) -> None:
    low, high = RACES[program]
    for _ in range(5):
        assert low <= run(program, ranks=2, on="processes").values[1] <= high


def waited(waits: Callable[[Any], object], use: Callable[..., Any] = torch.sum) -> tuple[float, float]:
    """The sum of what arrives, before and after it was waited for."""
    me, x = dist.get_rank(), torch.zeros(4)
    if me == 0:
        dist.isend(torch.ones(4), 1).wait()
        return 0.0, 0.0
    work = dist.irecv(x, 0)
    before = sum(x.tolist())  # no torch operation: a strict run does not see it
    waits(work)
    return before, use(x).item()


def poll(work: Any) -> None:
    while not work.is_completed():
        pass


@pytest.mark.parametrize(
    "waits", [lambda w: w.wait(), poll, lambda w: w.get_future().wait(), lambda w: w.get_future().value()]
)
def test_it_shows_when_it_is_waited_for_and_not_before(waits: Callable[[Any], object]) -> None:
    assert virtual(waited, waits).values[1] == (0.0, 4.0)
    result = virtual(waited, waits, strict=True)
    assert str(result.values[1]) == "(nan, 4.0)"
    assert result.warnings == ()


@pytest.mark.parametrize("ties", [0, 1, 2, 3])
def test_nothing_depends_on_who_came_last(ties: int) -> None:
    with pytest.warns(RaceWarning):
        assert virtual(used_while_reduced, ties=ties).values == [4.0, 4.0]
    with pytest.warns(RaceWarning):
        assert virtual(changed_while_sent, ties=ties).values[1] == 4.0


def test_the_line_that_used_it_is_named() -> None:
    with pytest.warns(RaceWarning):
        (early,) = [e for e in virtual(read_before_wait).trace if e.early]
    assert early.early.endswith("line 23, in read_before_wait")
    assert (early.kind, early.rank, early.changed) == ("recv", 1, False)


def of_two_halves() -> float:
    """One half of a buffer is in flight, and the rank works on the other half."""
    me, x = dist.get_rank(), torch.zeros(8)
    work = dist.isend(x[:4], 1) if me == 0 else dist.irecv(x[:4], 0)
    x[4:] += 1
    columns = x.view(4, 2)[2:, 0].sum()
    work.wait()
    return x.sum().item() + columns.item()


def by_coalescing() -> list[float]:
    xs = [torch.ones(2), torch.ones(3)]
    with distributed_c10d._coalescing_manager(async_ops=True) as works:
        for x in xs:
            dist.all_reduce(x)
    before = [sum(x.tolist()) for x in xs]
    works.wait()
    return before + [sum(x.tolist()) for x in xs]


def gathered_coalesced() -> list[float]:
    outputs = [torch.zeros(2), torch.zeros(4)]
    with distributed_c10d._coalescing_manager(async_ops=True) as works:
        for n, out in enumerate(outputs, 1):
            dist.all_gather_into_tensor(out, torch.ones(n))
    before = [sum(x.tolist()) for x in outputs]
    works.wait()
    return before + [sum(x.tolist()) for x in outputs]


def test_what_is_not_in_flight_is_free_to_use() -> None:
    assert virtual(of_two_halves, strict=True).values == [6.0, 6.0]


def test_coalesced_operations_show_together_and_all_count_as_waited_for() -> None:
    assert virtual(by_coalescing, strict=True).values == [[2.0, 3.0, 4.0, 6.0]] * 2
    result = virtual(gathered_coalesced)
    assert result.values == [[0.0, 0.0, 2.0, 4.0]] * 2
    assert result.warnings == ()


@pytest.mark.parametrize("large", [False, True])
def test_a_large_buffer_that_is_changed_in_flight_is_told_by_its_line(large: bool) -> None:
    def program() -> None:
        x = torch.ones(2**19 if large else 4)
        work = dist.all_reduce(x, async_op=True)
        torch._foreach_mul_([x], 2.0)
        work.wait()

    with pytest.warns(RaceWarning, match="Ranks 0, 1 change a tensor at .*line"):
        virtual(program)


def test_who_changes_it_without_a_torch_operation_is_told_too() -> None:
    def program() -> None:
        x = torch.ones(4)
        if dist.get_rank() == 0:
            work = dist.isend(x, 1)
            x.numpy()[0] = 5
            work.wait()
        else:
            dist.recv(x, 0)

    with pytest.warns(RaceWarning, match="Rank 0 changes a tensor before the isend that sends it"):
        virtual(program)


def test_a_warning_names_the_line_that_called_run_and_processes_know_who_never_waited() -> None:
    for on in ("dgx-a100", "processes"):
        with pytest.warns(RaceWarning, match="Rank 1 never waits for its irecv .*line 13") as told:
            run(never_waited, ranks=2, on=on)
        assert [w.filename for w in told] == [__file__]


def test_a_strict_run_needs_data_and_the_virtual_cluster() -> None:
    with pytest.raises(UsageError, match="nothing sees who uses a tensor"):
        run(never_waited, ranks=2, on="processes", strict=True)
    with pytest.raises(UsageError, match="fake=True has no data"):
        virtual(never_waited, fake=True, strict=True)


def test_of_many_lines_with_a_race_a_few_are_told_and_the_others_counted() -> None:
    forgotten = [Event(0, "recv", n, n + 1, where=f"ring.py, line {n}", awaited=False) for n in range(6)]
    *first, last = races.told(races.of(Trace.of(forgotten, 1, "virtual")))
    assert first == [f"Rank 0 never waits for its irecv (ring.py, line {n})." for n in range(4)]
    assert last == "And 2 more of that kind."
