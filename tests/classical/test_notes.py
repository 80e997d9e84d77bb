"""The notes' table of scikit-learn: all 13 lines in their own words, each beside a verdict."""

import pytest

from lockstep.classical.audit.catalogue import CLAIMS, catalogue
from lockstep.classical.audit.verdict import Verdict
from lockstep.experiments.scikit_learn.lecture_notes import NOTES, beside


def verdict(name: str, kind: str) -> Verdict:
    return Verdict(name, kind, (), {}, {}, 2, False, False)


def test_every_line_claims_what_its_row_of_the_audit_claims() -> None:
    rows = {row.name: row.claim for row in catalogue()}
    assert len(NOTES) == 13
    assert [(line.row, line.claim) for line in NOTES] == [(line.row, rows[line.row]) for line in NOTES]


@pytest.mark.parametrize("line", NOTES, ids=lambda line: line.row)
def test_a_reason_is_there_exactly_where_the_record_says_otherwise(line) -> None:
    assert bool(line.why) == (line.recorded not in CLAIMS[line.claim])


def test_a_line_stands_beside_what_was_measured_here_or_else_recorded() -> None:
    table = beside([verdict("PCA full", "serial"), verdict("GradientBoostingClassifier", "serial")]).splitlines()
    rows = {line.split(" | ")[0].strip("| "): line for line in table[2:15]}
    assert rows["PCA"] == "| PCA | ✗ No | No parallelism | serial |  |", "where PCA is serial, the notes are right"
    assert "| serial | Each tree corrects" in rows["GradientBoostingClassifier/Regressor"]
    assert "| [BLAS] | It is parallel, by BLAS." in rows["TruncatedSVD"]
