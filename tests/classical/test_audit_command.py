"""``lockstep audit`` as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lockstep.classical import audit as audits
from lockstep.classical.audit import Verdict
from lockstep.cli import main
from lockstep.errors import UsageError

FOREST = Verdict("RandomForestClassifier", "threads", (), {"openmp": 0.0, "blas": 0.0, "n_jobs": 0.9}, {}, 2, False,
                 False, "parallel")  # fmt: skip
LINEAR = Verdict("LinearSVC", "serial", (), {"openmp": 0.0, "blas": 0.0}, {}, 1, False, False, "several threads")


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the rows would be: the measuring itself is tested elsewhere."""
    rows = {v.name: v for v in (FOREST, LINEAR)}

    def look_up(name: str) -> Verdict:
        if name not in rows:
            raise UsageError(f"{name} cannot be fitted.", "Name another.")
        return rows[name]

    monkeypatch.setattr(audits, "measured", look_up)


@pytest.mark.usefixtures("measured")
def test_the_table_tells_kind_shares_and_whether_the_notes_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "RandomForestClassifier", "LinearSVC"]) == 0
    told = capsys.readouterr().out
    rows = [" ".join(row.split()) for row in told.splitlines()]
    assert rows[0] == "2 rows, about 5 s each on a quiet machine."
    assert "RandomForestClassifier joblib threads 2 0 % 0 % 90 % parallel: holds" in rows
    assert "LinearSVC serial 1 0 % 0 % – several threads: differs" in rows
    assert rows[-1] == "The common claim holds in 1 of 2 rows."


@pytest.mark.usefixtures("measured")
def test_a_row_that_cannot_be_measured_does_not_end_the_audit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "mine:Odd", "LinearSVC"]) == 1
    out, err = capsys.readouterr()
    assert "mine:Odd cannot be fitted.\nName another." in err
    assert "LinearSVC" in out


@pytest.mark.usefixtures("measured")
def test_json_and_the_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figure = tmp_path / "audit.svg"
    assert main(["audit", "LinearSVC", "--json", "--svg", str(figure)]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["name"], row["kind"], row["claim_holds"]) == ("LinearSVC", "serial", False)
    assert figure.read_text().startswith("<svg")


def test_an_unknown_row_is_one_sentence_and_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "Nonsense"]) != 0
    told = capsys.readouterr().err
    assert "The audit has no row 'Nonsense'." in told
    assert "sklearn.svm:SVC" in told
    assert "Traceback" not in told
