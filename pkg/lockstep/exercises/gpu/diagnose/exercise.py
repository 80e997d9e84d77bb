"""Name a kernel's illness from its counts, which come from kernels that really ran."""

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import told

SIGNS = {
    "divergence": "the share of lanes at work, lanes / (32 * instructions), is far below 1",
    "uncoalesced": "it moves many more bytes (32 * sectors) than its lanes asked for (global_bytes)",
    "bank conflicts": "it needs many wavefronts for a request of shared memory",
    "serial atomics": "it has about as many atomics as threads",
    "race": "races is not 0",
    "healthy": "none of the ratios stands out, and absolute numbers only say how large a kernel is",
}


def cases(ranks: int, seed: int) -> list[Case]:
    told = {name: f'kernels whose illness is "{name}"' for name in SIGNS} | {"healthy": "healthy kernels"}
    return [Case(1, seed, settings={"told": told[name], "illness": name}) for name in SIGNS]


def patients(case: Case, rank: int) -> tuple[tuple[dict[str, int]], ...]:
    from lockstep.simt.kernels.patients import counts  # loads numba

    return tuple((of_one,) for of_one in counts(case.settings["illness"], case.seed))


def confused(seen: Seen) -> Fault | None:
    illness, answers = seen.case.settings["illness"], seen.returned[0]
    for answer in answers:
        if answer not in SIGNS:
            return Fault("unknown-name", f"You answer {told(answer)}. The names are: {', '.join(SIGNS)}.")
    wrong = [answer for answer in answers if answer != illness]
    if not wrong:
        return None
    id = f"healthy-as-{wrong[0]}" if illness == "healthy" else f"misses-{illness}"
    message = f'You call {len(wrong)} of {len(answers)} {seen.case} something else, the first "{wrong[0]}".'
    return Fault(id.replace(" ", "-"), f"{message} Look for this: {SIGNS[illness]}.")


EXERCISE = Exercise(
    number=9,
    core=False,
    title="Name the illness",
    points=3,
    minutes=20,
    parameters="counts",
    reference="lockstep.simt.kernels.diagnosis:diagnose",
    cases=cases,
    inputs=patients,
    examine=confused,
    worlds=(1,),
    pure=True,
)
