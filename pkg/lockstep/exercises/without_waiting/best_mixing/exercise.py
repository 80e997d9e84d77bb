"""The largest spectral gap with few links: a valid matrix earns its gap's share of that of the best circulant one."""

from lockstep.checks.case import Case
from lockstep.checks.exercise import Comparison, Exercise, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import told
from lockstep.exercises.without_waiting.mixing_matrix_faults import CLOSE, invalid, matrix, moduli, slowest, without_gap
from lockstep.without_waiting.gossip import best_mixing, spectral_gap

TRIED = ((8, 3), (9, 4), (6, 3), (7, 3), (5, 2), (12, 4), (16, 5), (30, 4), (10, 9), (3, 8), (2, 1), (1, 2))


def case(ranks: int, degree: int) -> Case:
    told = f"ranks={ranks} and degree={degree}"
    return Case(1, 0, None, {"asked": (ranks, degree), "told": told, "trivial": ranks == 1})


def shortcoming(seen: Seen) -> Fault | None:
    """The first thing that keeps the answer from being a mixing matrix, or else what its gap lacks."""
    (ranks, degree), answer = seen.case.settings["asked"], seen.returned[0][0]
    W, asked = matrix(answer), f"a list of {ranks} lists of {ranks} numbers is wanted."
    if W.shape != (ranks, ranks):
        return Fault("wrong-type", f"With {seen.case}: it returns {told(answer)}; {asked}")
    if flaw := invalid(W, degree):
        return Fault(flaw.name, f"With {seen.case}: {flaw.said}", telling=True)
    gap, wanted = (max(0.0, spectral_gap(one)) for one in (W, matrix(best_mixing(ranks, degree))))
    have = f"With {seen.case}: the gap is {gap:.3g}, that of the best circulant matrix {wanted:.3g}."
    if gap < wanted - CLOSE and (flaw := without_gap(W)):
        return Fault(flaw.name, f"{have} {flaw.said}", telling=True)
    if gap < wanted - CLOSE:
        return Fault("wrong-values", have, slowest(W), earned=gap / wanted, telling=True)
    return None


EXERCISE = Exercise(
    number=8, core=False, title="The best mixing matrix", points=4, minutes=25, parameters="ranks, degree",
    reference="lockstep.without_waiting.gossip:best_mixing",
    cases=lambda K, seed: [case(*pair) for pair in TRIED], inputs=lambda case, rank: [case.settings["asked"]],
    worlds=(1,), pure=True, values=Values(examine=shortcoming, share=1.0),
    comparison=Comparison(
        alike=lambda seen: [getattr(shortcoming(seen), "misconception", ""), moduli(matrix(seen.returned[0][0]))],
    ),
)  # fmt: skip
