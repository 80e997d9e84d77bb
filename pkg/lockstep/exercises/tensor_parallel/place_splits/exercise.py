"""Which layers to cut? Any of the best choices is right; for another one, the check says which rule it breaks, or what
is enough."""

from random import Random

from lockstep.checks.exercise import Feedback, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import told
from lockstep.exercises.arithmetic import Calls, Tried, arithmetic, drawn
from lockstep.tensor_parallel.splits import COLUMNS, ROWS, WHOLE, Layer, beside_the_best, most_saved

MLP = [("mixing", 8), ("linear", 40), ("pointwise", 0), ("linear", 40)]
STEPS = [("linear", 40), *[("pointwise", 0)] * 3, ("linear", 30), ("mixing", 8)]
FOUR, FIVE = ([("linear", n) for n in sizes] for sizes in ((60, 70, 70, 60), (20, 30, 80, 90, 40)))
NORMS = [("linear", 48), ("mixing", 8), ("linear", 90), ("pointwise", 0), ("mixing", 8), ("linear", 60), ("linear", 12)]


def chain(length: int, kinds: tuple[int, int, int], dice: Random) -> list[Layer]:
    """Linear, pointwise and mixing layers, so often as ``kinds`` says, and two of them that make a pair."""
    found = [*dice.choices(["linear", "pointwise", "mixing"], kinds, k=length - 2), "linear", "linear"]
    sizes = {"pointwise": (0, 0), "mixing": (2, 8), "linear": (10, 99)}
    return [(kind, dice.randint(*sizes[kind])) for kind in found]


def tight(layers: list[Layer], ranks: int, share: float) -> int:
    """Room for all but a ``share`` of what cutting can save. No choice for 3 ranks meets it exactly: n/3 is rounded."""
    excess = int(share * most_saved(layers) * (ranks - 1) / ranks)
    return sum(n for _, n in layers) - (excess - 1 + excess % 2 if ranks == 3 else excess)


def random_chains(length: int, kinds: tuple[int, int, int], number: int, dice: Random) -> Calls:
    chains = [(chain(length, kinds, dice), ranks) for ranks in dice.sample([2, 3, 4, 8], number)]
    return [(layers, ranks, tight(layers, ranks, dice.uniform(0.3, 0.98))) for layers, ranks in chains]


TRIED: Tried = {
    "a block's MLP": [(MLP, 4, 87), (MLP, 2, 70), (MLP, 3, 40)],
    "several pointwise layers in a row": [(STEPS, 2, 77), (STEPS, 4, 60), ([*MLP, *STEPS], 2, 91)],
    "four layers in a row": [(FOUR, 2, 190), (FOUR, 2, 189), (FOUR, 2, 131), (FOUR, 4, 150)],
    "parts that are no whole numbers": [(FOUR, 8, 137), (FOUR, 8, 33), (FIVE, 8, 101)],
    "five layers in a row": [(FIVE, 2, 180), (FIVE, 2, 170), (FIVE, 2, 145), (FIVE, 4, 110)],
    "norms between the layers": [(NORMS, 2, 196), (NORMS, 2, 190), (NORMS, 4, 175)],
    "room that is met exactly": [(MLP, 4, 28), (MLP, 8, 18), (FOUR, 2, 130), (FIVE, 2, 140), (NORMS, 2, 190)],
    "8 layers": lambda dice: random_chains(8, (4, 2, 1), 4, dice),
    "20 layers": lambda dice: random_chains(20, (8, 1, 1), 4, dice),
    "200 layers": lambda dice: random_chains(200, (8, 1, 1), 2, dice),
    "nothing to cut": [(MLP, 4, 88), (FOUR, 8, 1000), ([("linear", 7)], 1, 7), (MLP[:1], 2, 8)],
}


def examine(seen: Seen) -> Fault | None:
    """The first answer that breaks a rule, doesn't fit, or costs more than it must."""
    for (layers, ranks, room), answer in zip(drawn(TRIED, seen.case), seen.returned[0], strict=True):
        call = f"place_splits({told_layers(layers)}, {ranks}, {room})"
        listed = isinstance(answer, list) and len(answer) == len(layers)
        if not listed or any(split not in (WHOLE, COLUMNS, ROWS) for split in answer):
            given = answer if isinstance(answer, list) else told(answer)
            asked = f"a list of {len(layers)} of 'whole', 'columns' and 'rows' is wanted"
            return Fault("wrong-type", f"{call} returns {given!s:.70}; {asked}.", telling=True)
        if wrong := beside_the_best(layers, ranks, room, answer):
            return Fault("wrong-values", f"With {seen.case}: {call} gives {answer!s:.90}: {wrong}.")
    return None


def told_layers(layers: list[Layer]) -> str:
    return repr(layers) if len(layers) <= 5 else f"[{', '.join(map(repr, layers[:3]))}, ...]"


EXERCISE = arithmetic(
    TRIED,
    trivial={"nothing to cut"},
    number=10,
    core=False,
    title="Which layers to cut?",
    points=4,
    minutes=25,
    parameters="layers, ranks, room",
    reference="lockstep.tensor_parallel.splits:place_splits",
    values=Values(share=1.0, examine=examine, agrees=lambda answer, want: True),
    feedback=Feedback(
        answer="a list of 'whole', 'columns' and 'rows'",
        hints=[("crashed:Stuck", "With 200 layers there are too many choices to try them all.")],
    ),
)
