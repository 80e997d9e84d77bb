"""Name a kernel's illness from its counts, which come from kernels that really ran."""

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise, Feedback, Values
from lockstep.exercises.gpu.ratios import ratios

NAMES = ("divergence", "uncoalesced", "bank conflicts", "serial atomics", "race", "healthy")


def patients(case: Case, rank: int) -> list[tuple[dict[str, int]]]:
    from lockstep.exercises.gpu.patients import counts  # loads numba

    return [(of_one,) for of_one in counts(case.settings["illness"], case.seed)]


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
    worlds=(1,),
    pure=True,
    values=Values(
        wanted=lambda case: [case.settings["illness"]] * len(patients(case, 0)), share=1.0, partial_credit=True
    ),
    feedback=Feedback(
        answer=f"one of {', '.join(map(repr, NAMES))}",
        steps=ratios,
        hints=(("ZeroDivisionError", "A kernel may have none of what you divide by: ask for that before you divide."),),
    ),
)
