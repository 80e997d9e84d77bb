"""Name a kernel's illness from its counts, which come from kernels that really ran."""

from collections.abc import Callable, Mapping

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise

NAMES = ("divergence", "uncoalesced", "bank conflicts", "serial atomics", "race", "healthy")
RATIOS: Mapping[str, Callable[[Mapping[str, int]], float]] = {
    "lanes / (32 · instructions)": lambda c: c["lanes"] / (32 * c["instructions"]),
    "32 · sectors / global_bytes": lambda c: 32 * c["sectors"] / max(1, c["global_bytes"]),
    "wavefronts / shared_requests": lambda c: c["wavefronts"] / max(1, c["shared_requests"]),
    "atomics / threads": lambda c: c["atomics"] / c["threads"],
}


def patients(case: Case, rank: int) -> list[tuple[dict[str, int]]]:
    from lockstep.exercises.gpu.patients import counts  # loads numba

    return [(of_one,) for of_one in counts(case.settings["illness"], case.seed)]


def ratios(counts: Mapping[str, int]) -> str:
    told = [f"{ratio} is {value(counts):.2g}" for ratio, value in RATIOS.items()]
    return f"{', '.join(told)}, and races is {counts['races']}."


EXERCISE = Exercise(
    number=10,
    core=False,
    title="Name the illness",
    points=3,
    minutes=20,
    parameters="counts",
    reference="lockstep.simt.kernels.diagnosis:diagnose",
    cases=lambda ranks, seed: [Case(1, seed, settings={"told": f"{name} kernels", "illness": name}) for name in NAMES],
    inputs=patients,
    wanted=lambda case: [case.settings["illness"]] * len(patients(case, 0)),
    asked=f"one of {', '.join(map(repr, NAMES))}",
    steps=ratios,
    values=1.0,
    shared=True,
    worlds=(1,),
    pure=True,
)
