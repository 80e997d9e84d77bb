"""Memory for training: the bytes of everything that a recipe keeps."""

from collections.abc import Callable, Sequence
from random import Random

from lockstep.checks.numbers import exact
from lockstep.cost.training import BYTES, Recipe
from lockstep.exercises.arithmetic import Calls, arithmetic

KEPT = [("weights", "gradients", *more) for more in ((), ("momentum",), ("momentum", "variance"), ("moving average",))]
WITH_MASTER = ("weights", "gradients", "master weights", "momentum", "variance")
MIXED: Sequence[Recipe] = (
    dict(zip(WITH_MASTER, ("bfloat16", "bfloat16", "float32", "float32", "float32"), strict=True)),
    {"gradients": "float32", "weights": "float16", "master weights": "float32", "momentum": "float32"},
    dict(zip(WITH_MASTER, ("float8", "bfloat16", "float32", "float16", "float16"), strict=True)),
    dict(zip(WITH_MASTER, ("bfloat16", "bfloat16", "float64", "int8", "int8"), strict=True)),
    {"moving average": "float32", "weights": "bfloat16", "gradients": "bfloat16", "error feedback": "float16"},
)
FROZEN: Sequence[Recipe] = ({"weights": "int8"}, {"weights": "bfloat16"}, {"weights": "float16", "scales": "float8"})
NOTHING_TRAINED = "recipes that train nothing"


def models(recipes: Sequence[Recipe]) -> Callable[[Random], Calls]:
    """A number of parameters for each recipe."""
    return lambda dice: [(dice.randrange(10**8 + 1, 10**11, 2), recipe) for recipe in recipes]


EXERCISE = arithmetic(
    {
        "recipes in several dtypes": models(MIXED),
        **{f"everything in {dtype}": models([dict.fromkeys(kept, dtype) for kept in KEPT]) for dtype in BYTES},
        NOTHING_TRAINED: models(FROZEN),
    },
    trivial={NOTHING_TRAINED},
    number=4,
    title="Memory for training",
    points=2,
    minutes=15,
    parameters="params, recipe",
    reference="lockstep.cost.training:training_memory",
    kept=True,
    agrees=exact,
    asked="a number of bytes",
    steps=lambda params, recipe: f"each parameter takes {' + '.join(str(BYTES[d]) for d in recipe.values())} bytes.",
)
