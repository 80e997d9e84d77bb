"""The lecture notes' table of scikit-learn, complete and in its own words, next to the verdicts of the audit.

The notes: M. Marchwiany, "Parallel ML", the table of its part on scikit-learn, 13 lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lockstep.classical.audit.catalogue import CLAIMS, claims
from lockstep.classical.audit.table import NAMES, kind
from lockstep.classical.audit.verdict import Verdict
from lockstep.tables import Table

RECORDED = "scikit-learn 1.9.1 on a machine of 2 cores, 2026-11-22"


@dataclass(frozen=True)
class Line:
    """One line of the notes' table, in their words. ``row``: the row of the audit that represents it."""

    algorithm: str
    support: str
    words: str
    row: str
    recorded: str  # the kind that was measured once, for lines that are not measured now (``RECORDED``)
    why: str = ""  # the reason where the audit differs

    @property
    def claim(self) -> str:
        """What the notes claim of that row: a key of CLAIMS."""
        return claims()[self.row]


NOTES = (
    Line("RandomForestClassifier/Regressor", "✓ Full", "Uses multiple trees",
         "RandomForestClassifier", "threads"),
    Line("ExtraTreesClassifier/Regressor", "✓ Full", "Faster than Random Forest",
         "ExtraTreesClassifier", "threads"),
    Line("HistGradientBoostingClassifier/Regressor", "✓ Full", "More efficient than GBM",
         "HistGradientBoostingClassifier", "openmp"),
    Line("KNeighborsClassifier/Regressor", "✓ Full", "Parallelizes distance computations",
         "KNeighborsClassifier brute", "openmp"),
    Line("GradientBoostingClassifier/Regressor", "✗ Limited", "Only data parallelism",
         "GradientBoostingClassifier", "serial",
         "Each tree corrects the ones before it, and inside a tree nothing is shared. HistGradientBoosting does "
         "share the data among threads."),
    Line("LinearSVC / LinearSVR", "✗ Limited", "Multi-threaded, no n_jobs",
         "LinearSVC", "serial",
         "There is no n_jobs. But their library, liblinear, computes on the calling thread."),
    Line("SVC / SVR", "✗ No", "No parallelism",
         "SVC", "serial"),
    Line("DBSCAN / AgglomerativeClustering", "✗ No", "Single-threaded",
         "DBSCAN brute", "openmp",
         "AgglomerativeClustering is serial. DBSCAN looks for neighbours: by brute force on threads of OpenMP, with "
         "a tree on those of n_jobs."),
    Line("KMeans", "✓ Full", "Uses OpenMP for multi-threading",
         "KMeans", "openmp"),
    Line("PCA", "✗ No", "No parallelism",
         "PCA full", "blas",
         "scikit-learn's own code has none. But the decomposition is a call of LAPACK, which computes with BLAS's "
         "threads."),
    Line("TruncatedSVD", "✓ Full", "n_jobs for parallel SVD",
         "TruncatedSVD", "blas",
         "It is parallel, by BLAS. There is no n_jobs."),
    Line("GridSearchCV / RandomizedSearchCV", "✓ Full", "Parallel hyperparameter tuning",
         "GridSearchCV", "processes"),
    Line("cross_val_score", "✓ Full", "Parallel cross-validation",
         "cross_val_score", "processes"),
)  # fmt: skip


def beside(verdicts: Sequence[Verdict]) -> Table:
    """The notes' table, each line next to its verdict: one of ``verdicts``, or else the recorded one, in brackets.
    Where the two differ, with the reason."""
    measured = {v.name: v for v in verdicts}
    head = ("algorithm", "parallel support?", "notes", "we measure", "why")
    told = f"In brackets: not measured now, but recorded ({RECORDED}). lockstep audit measures all of them anew."
    return Table(told, head, [_row(line, measured.get(line.row)) for line in NOTES])


def borne_out(verdicts: Sequence[Verdict]) -> int:
    """How many of the 13 lines hold, by ``verdicts``, and for other lines by the record."""
    measured = {v.name: v for v in verdicts}
    return sum(_holds(line, measured.get(line.row)) for line in NOTES)


def _holds(line: Line, verdict: Verdict | None) -> bool:
    kinds = {verdict.kind, *verdict.also} if verdict else {line.recorded}
    return bool(kinds & {*CLAIMS[line.claim]})


def _row(line: Line, verdict: Verdict | None) -> tuple[str, ...]:
    found = kind(verdict) if verdict else f"[{NAMES[line.recorded]}]"
    why = "" if _holds(line, verdict) else line.why
    return line.algorithm, line.support, line.words, found, why
