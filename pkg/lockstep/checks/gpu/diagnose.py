"""``diagnose``: name a kernel's illness from its counts. The counts come from kernels that really ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.gpu.launches import case_of
from lockstep.checks.gpu.patients import patients
from lockstep.checks.judge import Fault, Finding, mark
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.values import told

POINTS = 3
NAMES = ("healthy", "divergence", "uncoalesced", "bank conflicts", "serial atomics", "race")
SIGN = {
    "divergence": "the share of lanes at work, lanes / (32 * instructions), is far below 1",
    "uncoalesced": "it moves many more bytes (32 * sectors) than its lanes asked for (global_bytes)",
    "bank conflicts": "it needs several wavefronts for a request of shared memory",
    "serial atomics": "it has about as many atomics as threads",
    "race": "races is not 0",
    "healthy": "none of the ratios stands out. Absolute numbers only say how large a kernel is",
}


def _cases(ranks: int, seed: int) -> list[Case]:
    return [case_of(seed + n, f"the {which} twenty kernels", part=n) for n, which in enumerate(("first", "next"))]


def _calls(case: Case, rank: int) -> tuple[Any, ...]:
    """What ``launch(...).counts()`` says of each kernel."""
    from lockstep.simt import launch

    return tuple((launch(kernel, *grid, *arguments).counts(),) for _, kernel, grid, arguments in patients(case.seed))


def _truth(case: Case) -> list[str]:
    return [illness for illness, *_ in patients(case.seed)]


def _examine(seen: Seen) -> Fault | None:
    truth, answers = _truth(seen.case), list(seen.returned[0])
    wrong = [(t, a) for t, a in zip(truth, answers, strict=True) if t != a]
    if not wrong:
        return None
    odd = next((a for _, a in wrong if a not in NAMES), NAMES[0])
    if odd not in NAMES:
        return Fault("unknown-name", f"You answer {told(odd)}. The names are: {', '.join(NAMES)}.")
    return _explained(seen, wrong)


def _explained(seen: Seen, wrong: Sequence[tuple[str, Any]]) -> Fault:
    """The most frequent confusion."""
    (illness, answer), times = Counter(wrong).most_common(1)[0]
    begin = f"With {seen.case}: {len(wrong)} of {len(seen.returned[0])} are wrong. "
    if illness == "healthy":
        told = f'{times} healthy one{"s" if times > 1 else ""} you call "{answer}": {SIGN["healthy"]}.'
        return Fault(f"healthy-as-{answer.replace(' ', '-')}", begin + told)
    told = f'{times} with "{illness}" you call "{answer}". Its sign: {SIGN[illness]}.'
    return Fault(f"misses-{illness.replace(' ', '-')}", begin + told)


def _judge(observation: Observation) -> list[Finding]:
    """Half of the points for nine answers out of ten."""
    found = mark(observation, POINTS, _examine)
    if not found or not observation.seen or any(s.failure for s in observation):
        return found
    pairs = [p for s in observation for p in zip(_truth(s.case), s.returned[0], strict=True)]
    earned = POINTS / 2 if sum(t == a for t, a in pairs) >= 0.9 * len(pairs) else 0.0
    first = found[0]
    return [Finding(first.message, first.misconception, POINTS - earned, first.case), *found[1:]]


DIAGNOSE = Exercise(
    id="gpu.diagnose",
    title="Name the illness",
    points=POINTS,
    minutes=20,
    parameters="counts",
    cases=_cases,
    inputs=_calls,
    judge=_judge,
    reference="lockstep.simt.kernels.diagnosis:diagnose",
    worlds=(1,),
    pure=True,
)
