"""Lesson 07's two ways to go on after a failure, on the virtual cluster."""

from __future__ import annotations

from lockstep import run
from lockstep.experiments.horovod.recovery import (
    DIES,
    GROUPS,
    STEPS,
    average,
    compared_table,
    elastic,
    per_step,
    quorums_table,
)


def test_elastic_loses_the_steps_since_its_commit_and_per_step_one() -> None:
    rows = {name: (back, step) for name, back, step in compared_table(every=5).rows}
    assert rows["steps whose work is lost"] == ("3", "1")
    assert rows["times that train begins anew"] == ("2", "0")
    assert rows["weights that a rank is sent"] == ("5", "1")
    lost, kept = map(int, rows["gradients computed"])
    assert (lost, kept - (GROUPS - 1)) == (54, 45)  # per step all but those of the step that failed are in the weights


def test_a_commit_after_every_step_loses_no_more_than_the_one_that_failed() -> None:
    assert {row[0]: row[1] for row in compared_table(every=1).rows}["steps whose work is lost"] == "1"


def test_all_groups_end_with_the_same_weights_in_both_ways() -> None:
    for values in (
        run(elastic, 5, ranks=GROUPS, on="virtual").values,
        [found["rows"][-1] for found in run(per_step, average, ranks=GROUPS, on="virtual").values],
    ):
        assert len({found["w"] for found in values}) == 1


def test_the_table_begins_a_step_before_the_failure_and_shows_who_heals() -> None:
    rows = quorums_table(average).rows
    assert rows[0][0] == str(DIES - 1)
    assert rows[1][4:6] == ["nothing: a sum failed", "no"]
    assert [row[2] for row in rows] == ["6", "7", "–", "–", "0", "10"]
    assert int(rows[-1][0]) == STEPS - 2
