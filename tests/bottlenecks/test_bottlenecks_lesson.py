"""What the lesson on bottlenecks says in sentences, and the tables into which it puts the learner's lines."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from lockstep.bottlenecks import lengths, loops, streams, unequal
from lockstep.cost.inference import LLAMA_3_8B, cache_bytes
from lockstep.cost.loading import best_interval
from lockstep.errors import UsageError
from lockstep.events import Event, Trace
from lockstep.experiments.bottlenecks import (
    failing,
    lecture_notes,
    loading,
    report,
    roofs,
    tables_of_loops,
    tools,
    twenty_times,
)

# ---- sections 1 and 2


def test_the_profile_shows_the_wait_and_not_the_decoding() -> None:
    table, recorded = tools.profiled()
    names = [row[0] for row in table.rows]
    assert names[0] == tools.NEXT
    assert not [name for name in names if "lzma" in name]
    assert recorded.whole
    assert tools.loading_share(recorded) > 0.5


def test_each_group_has_loops_that_there_are() -> None:
    names = [name for group in tables_of_loops.GROUPS.values() for name in group]
    assert set(names) <= {loop.name for loop in loops.LOOPS}
    assert [row[0] for row in tables_of_loops.loops_table("memory").rows] == ["unfused element-wise work"]


def test_every_loop_is_in_a_list_or_in_neither() -> None:
    rows = tables_of_loops.lists_table().rows
    assert {row[1] for row in rows} == {f"{loop.name} ({loop.time})" for loop in loops.LOOPS}
    assert {loop.time for loop in loops.LOOPS} == {loops.REAL, loops.VIRTUAL}


def test_a_loop_on_virtual_ranks_is_not_called_real() -> None:
    """Its seconds are the same in each run, whatever else the machine does."""
    once, again = loops.corrupted(), loops.corrupted()
    assert once == again
    assert loops.find("silent corruption").time == loops.VIRTUAL


def test_large_numbers_of_a_table_are_written_out() -> None:
    assert [tables_of_loops.figures(n) for n in (0.93, 12.4, 99.6, 147.0, 5846.0)] == [
        "0.93",
        "12",
        "100",
        "147",
        "5,846",
    ]
    assert [roofs.milliseconds(s) for s in (6.88e-6, 0.0952, 0.9996, 5.06)] == ["0.00688", "95.2", "1,000", "5,060"]


# ---- section 3


def test_workers_help_until_the_gpu_is_the_bottleneck() -> None:
    assert [loading.predicted_step(n) for n in (0, 1, 2, 8)] == [12e-3, 8e-3, 8e-3, 8e-3]


def test_the_budget_is_that_of_the_line() -> None:
    rows = loading.budget_table(lambda rate, seconds: round(rate * seconds)).rows
    assert [row[1] for row in rows] == ["1", "4", "10", "40"]
    assert rows[-1][2] == "40%"


def test_the_lengths_are_those_of_the_sentences() -> None:
    own = loading.lengths()
    assert round(sum(own) / len(own)) == 73
    assert max(own) == 512
    shares = [lengths.padding(own, batches) for batches in loading.ways(own, 16).values()]
    assert shares == pytest.approx([0.68, 0.57, 0.12], abs=0.01)
    longest = [max(own[n] for n in batch) for batch in lengths.as_they_come(own, 16)]
    assert sum(longest) / len(longest) / 73 == pytest.approx(3, abs=0.25), "some three times the mean"


# ---- sections 4 to 6


def test_youngs_interval_is_22_minutes() -> None:
    assert best_interval(failing.WRITE, failing.BETWEEN) / 60 == pytest.approx(22, abs=0.2)
    assert best_interval(failing.WRITE, failing.BETWEEN / 16) / 60 == pytest.approx(5.5, abs=0.1)


def test_a_step_with_pinned_copies_of_its_own_takes_as_long_as_its_kernels() -> None:
    step = streams.Step()
    ways = [streams.train(step, 100), streams.train(step, 100, True), streams.train(step, 100, True, True)]
    assert [1e3 * way.time / 100 for way in ways] == pytest.approx([22, 16, 10], abs=0.1)


def test_python_is_hidden_unless_the_loss_is_read() -> None:
    """The quiz: 14 ms a step with a read after each, 10.4 with a read after every tenth."""
    step = streams.Step(nbytes=0, host=4e-3)
    for every, ms in ((1, 14), (10, 10.4)):
        run = streams.train(step, 100, pinned=True, overlapped=True, item_every=every)
        assert 1e3 * run.time / 100 == pytest.approx(ms, abs=0.1)


def test_one_slow_link_slows_each_of_14_rounds() -> None:
    assert 1e3 * unequal.healthy(rows=1).time == pytest.approx(0.23, abs=0.005)
    slow = unequal.over_slow_link(5e9, rows=1)
    assert 1e3 * slow.time == pytest.approx(14 * 2e6 / 5e9 * 1e3, rel=0.03)


def test_rows_by_speed_are_as_many_and_end_together() -> None:
    rows = unequal.rows_by_speed(3, 0.5)
    assert sum(rows) == unequal.RANKS * unequal.SIZE
    assert rows[3] == pytest.approx(rows[0] / 2, abs=1)


def test_flight_records_name_the_rank_that_is_missing() -> None:
    def leaves() -> None:
        dist.all_reduce(torch.ones(4))
        if dist.get_rank() != 2:
            dist.all_reduce(torch.ones(4))

    told = tools.flight_records(leaves)
    assert told.startswith("Not all ranks joining collective, sequence number: 2")
    assert "missing ranks: {2}" in told.splitlines()
    assert tools.flight_records(lambda: dist.barrier()) == ""


# ---- sections 7 and 8


def test_steps_meet_the_roofs_that_the_sentences_name() -> None:
    bounds = [work.bound(roofs.a100()) for work in roofs.steps()]
    assert bounds == ["compute", "network", "memory", "memory"]


def test_decode_of_32_takes_half_as_long_again() -> None:
    one, many = roofs.decode_seconds(1), roofs.decode_seconds(32)
    assert 1e3 * one == pytest.approx(8.0, abs=0.05)
    assert 1e3 * many == pytest.approx(12.1, abs=0.05)
    assert cache_bytes(LLAMA_3_8B, 1) == 131_072
    assert cache_bytes(LLAMA_3_8B, 2048, 32) / 1e9 == pytest.approx(8.6, abs=0.05)


def test_the_caches_of_the_table_are_those_of_the_line() -> None:
    rows = roofs.cache_table(lambda layers, heads, size, tokens: 4 * layers * heads * size * tokens).rows
    assert all(row[2] == row[3] for row in rows)


def test_figures_of_inference_end_where_the_caches_fill_the_memory() -> None:
    """256 caches of 2,048 tokens do not fit beside the weights. Chart and table once had two sizes of memory."""
    last = int(roofs.figure_of_inference().names[-1])
    assert LLAMA_3_8B.weights + cache_bytes(LLAMA_3_8B, roofs.CONTEXT, last) <= roofs.MEMORY
    assert LLAMA_3_8B.weights + cache_bytes(LLAMA_3_8B, roofs.CONTEXT, last + 1) > roofs.MEMORY
    fits = roofs.cache_table(lambda layers, heads, size, tokens: 4 * layers * heads * size * tokens).rows[0][-1]
    assert f"8,192 tokens, up to {fits}" in str(roofs.service_chart().spec)


def test_each_claim_has_a_count() -> None:
    rows = lecture_notes.corrections_table().rows
    assert len(rows) == 7
    assert all(any(c.isdigit() for c in row[1]) for row in rows)


def test_recorded_counters_never_failed_and_some_ratios_did() -> None:
    rows = twenty_times.recorded()
    assert [row["loop"] for row in rows] == [loop.name for loop in loops.LOOPS]
    assert all(row["told apart"] == "20" for row in rows)
    assert sum(float(row["ratio least"]) < 1 for row in rows if row["time"] == loops.REAL) == 7


# ---- the report


def equal_steps() -> None:
    for _ in range(3):
        torch.ones(64, 64) @ torch.ones(64, 64)
        dist.all_reduce(torch.ones(100))


def test_a_report_has_both_worlds() -> None:
    made = report.report(equal_steps, steps=3)
    assert made.simulated_ms > 0
    assert made.measured_ms > 0
    assert [row[0] for row in made.where_table().rows] == ["simulated", "measured"]


def of(ends: list[float]) -> Trace:
    return Trace.of([Event(0, "all_reduce", end - 1, end, wait=0.5) for end in ends], 1)


def test_steps_are_counted_from_the_end_of_the_first() -> None:
    assert report.step_seconds(of([5.0, 7.0, 9.0]), 3) == 2.0
    assert report.step_seconds(of([4.0, 5.0, 6.0, 7.0]), 2) == 2.0
    assert report.waited(of([5.0, 7.0])) == 1.0


@pytest.mark.parametrize("ends", [[], [1.0, 2.0, 3.0]])
def test_steps_that_differ_are_told(ends: list[float]) -> None:
    with pytest.raises(UsageError, match="not equally many"):
        report.step_seconds(of(ends), 2)


def test_one_step_is_told() -> None:
    with pytest.raises(UsageError, match="two steps or more"):
        report.report(equal_steps, steps=1)
