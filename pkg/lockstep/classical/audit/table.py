"""The audit as text: a line for each row, and what its columns mean."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.classical.audit.verdict import Verdict

NAMES = {
    "serial": "serial",
    "openmp": "OpenMP",
    "blas": "BLAS",
    "threads": "joblib threads",
    "processes": "joblib processes",
    "own threads": "threads of its own",
}
COLUMNS = ("openmp", "blas", "n_jobs")


def heading() -> str:
    knobs = f"{'workers':>7}{'OpenMP':>8}{'BLAS':>7}{'n_jobs':>7}"
    return f"{'estimator':<31}{'runs in parallel by':<25}{knobs}  a common claim"


def line(verdict: Verdict) -> str:
    """One row: the verdict, the share of the CPU time that others took over with each knob, and whether the notes'
    claim holds."""
    shares = "".join(f"{_share(verdict, knob):>7}" for knob in COLUMNS)
    return f"{verdict.name:<31}{kind(verdict):<25}{verdict.workers:>7} {shares}  {judgement(verdict)}".rstrip()


def kind(verdict: Verdict) -> str:
    """ "OpenMP, weakly", "BLAS and OpenMP"."""
    words = " and ".join(NAMES[k] for k in (verdict.kind, *verdict.also))
    return f"{words}, weakly" if verdict.weak else words


def judgement(verdict: Verdict) -> str:
    """Whether the notes' claim holds, whether ``n_jobs`` is ignored, and speed-ups, in words."""
    holds = verdict.claim_holds
    words = "" if holds is None else f"{verdict.claim}: {'holds' if holds else 'differs'}"
    ignored = "ignores n_jobs" if verdict.ignores_n_jobs else ""
    faster = ", ".join(f"{k} ×{s:.2f}" for k, s in verdict.speedups.items() if verdict.shares.get(k, 0) > 0.05)
    return "; ".join(part for part in (words, ignored, faster) if part)


def explanation(verdicts: Sequence[Verdict]) -> str:
    """What the columns mean, and how many claims hold."""
    claims = [v.claim_holds for v in verdicts if v.claim_holds is not None]
    lines = [
        "workers: threads and processes that did at least a tenth of the work, with the knob that counts at 2.",
        "OpenMP, BLAS, n_jobs: the share of the CPU time that other threads or processes took over when this knob was",
        "at 2 and the others at 1. With two workers half is all; joblib leaves its caller idle: there it nears 100 %.",
        "× is a speed-up: it is told only where nobody else needed the cores. It decides nothing.",
    ]
    if claims:
        lines.append(f"The common claim holds in {sum(claims)} of {len(claims)} rows.")
    return "\n".join(lines)


def _share(verdict: Verdict, knob: str) -> str:
    """A percentage; a dash where there is no such knob."""
    return f"{100 * verdict.shares[knob]:.0f} %" if knob in verdict.shares else "–"
