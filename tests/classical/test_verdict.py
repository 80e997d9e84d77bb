"""From measurements to one word: by who spent the CPU time, whatever the clock says."""

from __future__ import annotations

from typing import Any

from lockstep.classical.audit.table import heading, judgement, kind, line
from lockstep.classical.audit.verdict import Verdict, decide
from lockstep.classical.usage import Usage


def spent(main: float = 1.0, helpers: float = 0.0, children: float = 0.0, **more: Any) -> Usage:
    told = {"wall": 1.0, "others": 5.0, "threads": 4, "workers": 1} | more
    return Usage(main=main, helpers=helpers, children=children, **told)


ALONE = [spent()] * 3
SHARED = [spent(0.5, 0.5, workers=2)] * 3


def verdict(has_n_jobs: bool = False, claim: str = "", **runs: list[Usage]) -> Verdict:
    return decide("sample", {"none": ALONE, "openmp": ALONE, "blas": ALONE} | runs, has_n_jobs, claim)


def test_nothing_moves() -> None:
    found = verdict()
    assert (found.kind, found.also, found.workers) == ("serial", (), 1)


def test_the_knob_that_moves_the_work_names_the_kind() -> None:
    assert verdict(openmp=SHARED).kind == "openmp"
    assert verdict(blas=SHARED).kind == "blas"
    assert verdict(True, n_jobs=[spent(0.05, 0.95)] * 3).kind == "threads"
    assert verdict(True, n_jobs=[spent(0.05, 0.01, 0.94)] * 3).kind == "processes"


def test_threads_that_burn_with_every_knob_do_no_work() -> None:
    """The spinning of idle threads is in the measurement with every knob at 1 as well."""
    spinning = [spent(1.0, 0.6)] * 3
    found = decide("sample", dict.fromkeys(("none", "openmp", "blas"), spinning), False)
    assert found.kind == "own threads"
    assert max(found.shares.values()) == 0


def test_a_fit_that_more_threads_slow_down_uses_them_all_the_same() -> None:
    """PCA on a busy machine: 0.15 s alone; with two BLAS threads 0.9 s in each of them, waiting for each other."""
    found = verdict(blas=[spent(6.0, 5.5, wall=12.0)] * 3)
    assert (found.kind, found.speedups) == ("blas", {})


def test_one_odd_measurement_of_three_decides_nothing() -> None:
    assert verdict(openmp=[spent(), spent(), spent(1.0, 0.7)]).kind == "serial"


def test_what_is_taken_over_weakly_is_told_so() -> None:
    found = verdict(openmp=[spent(0.87, 0.13)] * 3, blas=[spent(0.91, 0.09)] * 3)
    assert (found.kind, found.also, found.weak) == ("openmp", ("blas",), True)
    assert kind(found) == "OpenMP and BLAS, weakly"


def test_which_of_two_knobs_does_more_is_left_to_chance_and_not_told() -> None:
    """MiniBatchKMeans: OpenMP took over 0.11 in every audit, BLAS 0.09, 0.16 and 0.27. It is one row all the same."""
    openmp = [spent(0.89, 0.11)] * 3
    for share in (0.09, 0.16, 0.27):
        found = verdict(claim="parallel", openmp=openmp, blas=[spent(1 - share, share)] * 3)
        assert (found.kind, found.also, found.weak, found.claim_holds) == ("openmp", ("blas",), True, True)


def test_an_estimator_may_ignore_its_n_jobs() -> None:
    found = verdict(True, openmp=SHARED, n_jobs=ALONE)
    assert found.ignores_n_jobs
    assert "ignores n_jobs" in judgement(found)
    assert not verdict(False, openmp=SHARED).ignores_n_jobs


def test_claims_hold_or_not() -> None:
    assert verdict(claim="serial").claim_holds is True
    assert verdict(claim="serial", blas=SHARED).claim_holds is False
    assert verdict(claim="n_jobs", blas=SHARED).claim_holds is False
    assert verdict(claim="several threads", blas=SHARED).claim_holds is True
    assert verdict().claim_holds is None


def test_a_speed_up_is_told_only_of_quiet_windows() -> None:
    quiet = {"none": [spent(others=0.0)], "openmp": [spent(0.5, 0.5, wall=0.5, others=0.0)], "blas": ALONE}
    found = decide("sample", quiet, False)
    assert found.speedups == {"openmp": 2.0}
    assert "openmp ×2.00" in judgement(found)


def test_a_line_of_the_table() -> None:
    found = verdict(claim="OpenMP", openmp=SHARED)
    assert " ".join(heading().split()) == "estimator runs in parallel by workers OpenMP BLAS n_jobs a common claim"
    assert line(found).split() == ["sample", "OpenMP", "2", "50", "%", "0", "%", "–", "OpenMP:", "holds"]
