"""What lesson 01 runs with a learner's line in it, and what it counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from lockstep.classical.audit.verdict import Verdict
from lockstep.classical.nested import EIGHT, FOLDS, NESTED, ONE, Nested, nested_table
from lockstep.classical.usage import Usage
from lockstep.experiments.scikit_learn.lecture_notes import NOTES, borne_out
from lockstep.experiments.scikit_learn.your_line import kmeans_table


def mean(sums: Sequence[Any], counts: Sequence[int]) -> Any:
    return sum(sums) / sum(counts)


def mean_of_means(sums: Sequence[Any], counts: Sequence[int]) -> Any:
    return np.mean([s / max(1, c) for s, c in zip(sums, counts, strict=True)], axis=0)


def test_a_right_line_gives_the_serial_step_and_a_mean_of_means_does_not() -> None:
    assert {row[2] for row in kmeans_table(mean).rows} == {"none"}
    assert kmeans_table(mean_of_means).rows[0][2] != "none"


def test_eight_of_thirteen_lines_hold_by_the_record_and_a_measurement_counts_instead() -> None:
    assert len(NOTES) == 13
    assert borne_out([]) == 8
    serial = Verdict("PCA full", "serial", (), {}, {}, 1, weak=False, ignores_n_jobs=False)
    assert borne_out([serial]) == 9


def test_the_notes_example_is_run_in_all_combinations(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was measured before is not run again."""
    ran: list[Nested] = []

    def spent(nested: Nested) -> Usage:
        ran.append(nested)
        return Usage(2.0, 1.0, 0.0, 3.0, 0.0, 5, 2)

    monkeypatch.setattr("lockstep.classical.nested.nested_usage", spent)
    table = nested_table({ONE: spent(ONE)})
    assert ran == [ONE, *NESTED[1:]]
    assert {(n.folds, n.trees) for n in NESTED} == {(1, 1), (1, -1), (-1, 1), (-1, -1), (8, 8)}
    assert EIGHT.folds == FOLDS
    assert table.rows[3] == ["-1", "-1", "4.00 s", "2.0", "75%", "–"]
