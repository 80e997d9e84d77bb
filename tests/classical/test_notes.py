"""The notes' table of scikit-learn: all 13 lines in their own words, each next to a verdict."""

import pytest

from lockstep.classical.audit.catalogue import CLAIMS
from lockstep.classical.audit.verdict import Verdict
from lockstep.experiments.scikit_learn.lecture_notes import NOTES, beside


def verdict(name: str, kind: str) -> Verdict:
    return Verdict(name, kind, (), {}, {}, 2, False, False)


def test_what_a_row_of_the_audit_claims_is_what_its_line_says() -> None:
    assert len(NOTES) == 13
    assert [line.row for line in NOTES if line.claim == "serial"] == [x.row for x in NOTES if x.support == "✗ No"]
    named = {line.row: line.claim for line in NOTES if line.claim not in ("parallel", "serial")}
    assert named == {
        "LinearSVC": "several threads",
        "KMeans": "OpenMP",
        "TruncatedSVD": "n_jobs",
        "GridSearchCV": "n_jobs",
        "cross_val_score": "n_jobs",
    }


@pytest.mark.parametrize("line", NOTES, ids=lambda line: line.row)
def test_a_reason_is_there_exactly_where_the_record_says_otherwise(line) -> None:
    assert bool(line.why) == (line.recorded not in CLAIMS[line.claim])


def test_a_line_stands_beside_what_was_measured_here_or_else_recorded() -> None:
    table = beside([verdict("PCA full", "serial"), verdict("GradientBoostingClassifier", "serial")])
    rows = {algorithm: rest for algorithm, *rest in table.rows}
    assert rows["PCA"] == ["✗ No", "No parallelism", "serial", ""], "where PCA is serial, the notes are right"
    assert rows["GradientBoostingClassifier/Regressor"][2] == "serial"
    assert rows["GradientBoostingClassifier/Regressor"][3].startswith("Each tree corrects")
    assert rows["TruncatedSVD"][2:] == ["[BLAS]", "It is parallel, by BLAS. There is no n_jobs."]


def test_the_longest_name_may_go_on_in_the_next_line() -> None:
    """In a window of 960 pixels the last column stood outside: no name of the first one was ever broken."""
    page = beside([])._repr_html_()
    assert "Hist<wbr>Gradient<wbr>Boosting<wbr>Classifier/<wbr>Regressor" in page
    assert "Randomized<wbr>Search<wbr>CV" in page
