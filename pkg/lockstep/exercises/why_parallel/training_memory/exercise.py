"""Memory for training: the bytes of everything that a recipe keeps."""

from collections.abc import Callable, Sequence
from itertools import chain, combinations
from random import Random

from lockstep.checks.exercise import Feedback, Values
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import exact
from lockstep.checks.observation import Seen
from lockstep.cost.training import BYTES, Recipe
from lockstep.exercises.arithmetic import Calls, Tried, arithmetic, drawn

KEPT = [("weights", "gradients", *more) for more in ((), ("momentum",), ("momentum", "variance"), ("moving average",))]
WITH_MASTER = ("weights", "gradients", "master weights", "momentum", "variance")
MIXED: Sequence[Recipe] = (
    dict(zip(WITH_MASTER, ("bfloat16", "bfloat16", "float32", "float32", "float32"), strict=True)),
    {"gradients": "float32", "weights": "float16", "momentum": "float16"},  # here the gradients are the largest
    dict(zip(WITH_MASTER, ("float8", "bfloat16", "float32", "float16", "float16"), strict=True)),
    dict(zip(WITH_MASTER, ("bfloat16", "bfloat16", "float64", "int8", "int8"), strict=True)),
    {"moving average": "float32", "weights": "bfloat16", "gradients": "bfloat16", "error feedback": "float16"},
)
FROZEN: Sequence[Recipe] = (
    {"weights": "int8"},
    {"weights": "bfloat16"},
    {"weights": "float16", "scales": "float8"},
    {},
)
SEVERAL, NOTHING_TRAINED = "recipes in several dtypes", "recipes that train nothing"


def models(recipes: Sequence[Recipe]) -> Callable[[Random], Calls]:
    """A number of parameters for each recipe."""
    return lambda dice: [(dice.randrange(10**8 + 1, 10**11, 2), recipe) for recipe in recipes]


def forgotten(seen: Seen) -> Fault | None:
    """The fewest kinds without which all answers would be right: in several dtypes that is no accident."""
    rows = list(zip(seen.returned[0], drawn(TRIED, seen.case), strict=True))
    kinds = sorted({kind for recipe in MIXED for kind in recipe} if seen.case.settings["told"] == SEVERAL else ())
    for out in chain(*(combinations(kinds, number) for number in range(1, len(kinds)))):
        if all(exact(a, n * sum(BYTES[d] for k, d in kept.items() if k not in out)) for a, (n, kept) in rows):
            told = f"your answers leave out: {', '.join(out)}. All that the recipe lists takes memory."
            return Fault("wrong-values", f"With {seen.case}: {told}", telling=True)
    return None


TRIED: Tried = {
    SEVERAL: models(MIXED),
    **{f"everything in {dtype}": models([dict.fromkeys(kept, dtype) for kept in KEPT]) for dtype in BYTES},
    NOTHING_TRAINED: models(FROZEN),
}

EXERCISE = arithmetic(
    TRIED,
    trivial={NOTHING_TRAINED},
    number=4,
    title="Memory for training",
    points=2,
    minutes=15,
    parameters="params, recipe",
    reference="lockstep.cost.training:training_memory",
    values=Values(examine=forgotten, agrees=exact),
    feedback=Feedback(
        answer="a number of bytes",
        steps=lambda params, recipe: (
            f"each parameter takes {' + '.join(str(BYTES[d]) for d in recipe.values()) or 0} bytes."
        ),
    ),
)
