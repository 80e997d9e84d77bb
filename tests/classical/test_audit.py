"""Real fits, each in a fresh process: the verdicts of the course's own table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from lockstep.classical.audit import audit, measured, names, select
from lockstep.classical.audit.verdict import Verdict
from lockstep.errors import UsageError

# The kinds of the curriculum's table AUDIT (scikit-learn 1.9.1). "weak" are those that it calls so.
TABLE = {
    "RandomForest": "threads",
    "ExtraTrees": "threads",
    "GradientBoosting": "serial",
    "HistGradientBoosting": "openmp",
    "KNeighborsClassifier brute": "openmp",
    "KNeighborsRegressor brute": "openmp",
    "KNeighborsClassifier kd_tree": "threads",
    "KNeighborsRegressor kd_tree": "threads",
    "LinearSV": "serial",
    "SVC": "serial",
    "SVR": "serial",
    "DBSCAN brute": "openmp",
    "DBSCAN kd_tree": "threads",
    "AgglomerativeClustering": "serial",
    "KMeans": "openmp",
    "MiniBatchKMeans": "weak",  # OpenMP and BLAS
    "PCA": "blas",
    "TruncatedSVD": "blas",
    "RidgeCV": "blas",
    "cross_val_score": "processes",
    "GridSearchCV": "processes",
    "RandomizedSearchCV": "processes",
    "Halving": "processes",
}


def expected(name: str) -> str:
    return next(kind for stem, kind in TABLE.items() if name.startswith(stem))


def test_every_row_is_in_the_table() -> None:
    assert len(names()) == 31
    assert all(expected(name) for name in names())


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["RandomForestClassifier", "KNeighborsRegressor brute", "SVC", "PCA full"])
def test_the_verdict_is_that_of_the_table(name: str) -> None:
    (verdict,) = audit([name], rounds=1)
    assert verdict.kind == expected(name), verdict


def disagreeing(verdicts: Iterable[Verdict]) -> dict[str, Verdict]:
    return {v.name: v for v in verdicts if ("weak" if v.weak else v.kind) != expected(v.name)}


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_all_verdicts_are_those_of_the_table() -> None:
    """A row that disagrees is measured twice more, since anything may happen on a busy machine: the table is wrong
    about a row if two of three say so."""
    wrong = disagreeing(audit())
    again = [disagreeing(audit(list(wrong))) for _ in range(2)] if wrong else []
    assert {name: v for name, v in wrong.items() if any(name in others for others in again)} == {}


def test_rows_are_chosen_by_the_beginning_of_their_names() -> None:
    assert select(["kneighborsclassifier", "SVC"]) == [
        "KNeighborsClassifier brute", "KNeighborsClassifier kd_tree", "SVC",
    ]  # fmt: skip
    assert select(["sklearn.svm:SVC"]) == ["sklearn.svm:SVC"]
    assert select([]) == names()
    with pytest.raises(UsageError, match=r"no row 'Nonsense'"):
        select(["Nonsense"])


OWN = """
import threading
import time
import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator

def work():
    for _ in range(3000):
        np.tan(np.linspace(0, 1, 20_000))

class Burner(BaseEstimator):
    "A second thread that burns CPU time whatever the knobs say."
    def fit(self, X, y=None):
        thread = threading.Thread(target=work)
        thread.start()
        work()
        thread.join()
        return self

class Mapped(BaseEstimator):
    def __init__(self, n_jobs=None):
        self.n_jobs = n_jobs
    def fit(self, X, y=None):
        Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(work)() for _ in range(2))
        return self

def needs_two(a, b):
    pass

class Number:
    pass
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner's file in the folder where the audit is started."""
    (tmp_path / "my_estimators.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("own")
def test_threads_that_no_knob_reaches_are_the_estimators_own() -> None:
    verdict = measured("my_estimators:Burner", rounds=3)  # of one alone, a disturbed one decided
    assert verdict.kind == "own threads", verdict


@pytest.mark.slow
@pytest.mark.usefixtures("own")
def test_an_estimator_of_the_learner() -> None:
    verdict = measured("my_estimators:Mapped", rounds=1)
    assert (verdict.kind, verdict.claim_holds) == ("threads", None), verdict


@pytest.mark.sampled(4)
@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("my_estimators:Missing", "There is no Missing to import from 'my_estimators'"),
        ("my_estimators:needs_two", "needs_two() does not make an estimator"),
        ("my_estimators:Number", "is no estimator: it has no method fit"),
        ("nowhere.at_all:SVC", "There is no SVC to import from 'nowhere.at_all'"),
    ],
)
def test_what_cannot_be_audited_is_told_in_a_sentence(path: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        measured(path)
    assert told in caught.value.message
    assert caught.value.remedy or "no method fit" in told
