"""The verdict on an estimator from measurements of CPU time. Who spent it decides, never how long a call took.

With one knob at 2 and the others at 1, work is shared when others than the calling thread spend a larger share of the
CPU time than with every knob at 1. Two things are not mistaken for work:

- *Spinning threads.* Idle threads of OpenMP and OpenBLAS are set to sleep at once (``knobs.SLEEPING``); threads that
  spin all the same do so with every knob at 1, too, and that measurement is subtracted.
- *Idle threads.* Pools are started and left idle: a thread counts by its CPU time.

How much the calling thread's own time falls does not decide: on a busy machine OpenBLAS lets it wait in a loop for
helpers that have no core, which costs more CPU time than the helpers save.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from lockstep.classical.audit.catalogue import CLAIMS
from lockstep.classical.usage import Usage

LEAST = 0.05  # the share of the CPU time taken over by others; less is noise
WEAK = 0.25  # the same share; with two workers it is at most a half
QUIET = 0.1  # cores used by other programs: at most so many in a measurement of a speed-up
KNOBS = {"none": "every knob at 1", "openmp": "OpenMP", "blas": "BLAS", "n_jobs": "n_jobs"}

Runs = Mapping[str, Sequence[Usage]]  # by knob, a key of KNOBS


@dataclass(frozen=True)
class Verdict:
    """One row of the audit. ``kind`` is "serial", "openmp", "blas", "threads", "processes", or "own threads" for an
    estimator that uses threads that no knob reaches."""

    name: str
    kind: str
    also: tuple[str, ...]  # other kinds that took over a share; the order is that of KNOBS, not that of the shares
    shares: Mapping[str, float]  # by knob: the share of CPU time that others took over, 0 to 1
    speedups: Mapping[str, float]  # by knob; only where quiet windows were found
    workers: int  # threads or processes that did at least a tenth of the work
    weak: bool  # less than WEAK was taken over; not reported for BLAS, whose share depends on its waiting times
    ignores_n_jobs: bool
    claim: str = ""

    @property
    def claim_holds(self) -> bool | None:
        """Whether the notes' claim holds; None where they claim nothing."""
        return bool({self.kind, *self.also} & {*CLAIMS[self.claim]}) if self.claim else None


def decide(name: str, runs: Runs, has_n_jobs: bool, claim: str = "") -> Verdict:
    """The verdict on several measurements with each knob."""
    idle = median(u.elsewhere for u in runs["none"])
    shares = {k: max(0.0, median(u.elsewhere for u in us) - idle) for k, us in runs.items() if k != "none"}
    used = [k for k in KNOBS if shares.get(k, 0.0) >= LEAST]
    kinds = [_kind(k, runs[k]) for k in used]
    kind = kinds[0] if kinds else "own threads" if idle >= LEAST else "serial"
    best = max(used, key=lambda k: shares[k], default="none")
    return Verdict(
        name=name,
        kind=kind,
        also=tuple(kinds[1:]),
        shares=shares,
        speedups=_speedups(runs),
        workers=int(median(u.workers for u in runs[best])),
        weak=any(shares[k] < WEAK for k in used if k != "blas"),
        ignores_n_jobs=has_n_jobs and "n_jobs" not in used,
        claim=claim,
    )


def _kind(knob: str, runs: Sequence[Usage]) -> str:
    if knob != "n_jobs":
        return knob
    return "processes" if sum(u.children for u in runs) > sum(u.helpers for u in runs) else "threads"


def _speedups(runs: Runs) -> dict[str, float]:
    """The ratio of best times, of measurements in which no other program needed the cores."""
    quiet = {k: [u.wall for u in us if u.others < QUIET * u.wall] for k, us in runs.items()}
    alone = quiet.pop("none")
    return {k: min(alone) / min(walls) for k, walls in quiet.items() if alone and walls}
