"""Memory for training: the bytes of everything that a recipe keeps."""

import random

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.numbers import exact
from lockstep.cost.training import BYTES, Recipe, training_memory

Call = tuple[int, Recipe]  # params, what is kept in which dtype

ADAM = ("weights", "gradients", "momentum", "variance")
KEPT = (ADAM[:2], ADAM[:3], ADAM, ("moving average", *ADAM[:2]))
MIXED: tuple[Recipe, ...] = (
    {"weights": "bfloat16", "gradients": "bfloat16", "master weights": "float32", "momentum": "float32",
     "variance": "float32"},
    {"gradients": "float32", "weights": "float16", "master weights": "float32", "momentum": "float32"},
    {"weights": "float8", "gradients": "bfloat16", "master weights": "float32", "momentum": "float16",
     "variance": "float16"},
    {"weights": "bfloat16", "gradients": "bfloat16", "master weights": "float64", "momentum": "int8",
     "variance": "int8"},
    {"moving average": "float32", "weights": "bfloat16", "gradients": "bfloat16", "error feedback": "float16"},
)  # fmt: skip
FROZEN: tuple[Recipe, ...] = ({"weights": "int8"}, {"weights": "bfloat16"}, {"weights": "float16", "scales": "float8"})


def cases(ranks: int, seed: int) -> list[Case]:
    mixed = Case(1, seed, settings={"told": "recipes in several dtypes", "kind": "mixed"})
    alike = [Case(1, seed, settings={"told": f"everything in {dtype}", "kind": dtype}) for dtype in BYTES]
    frozen = {"told": "recipes that train nothing", "kind": "frozen", "trivial": True}
    again = {"told": "the same dictionary in call after call", "kind": "again"}
    return [mixed, *alike, Case(1, seed, settings=frozen), Case(1, seed, settings=again)]


def calls(case: Case, rank: int = 0) -> tuple[Call, ...]:
    draw, kind = random.Random(case.seed), case.settings["kind"]
    again = dict(MIXED[0])
    recipes = {"mixed": MIXED, "frozen": FROZEN, "again": [again] * 3}.get(kind) or [
        dict.fromkeys(k, kind) for k in KEPT
    ]
    return tuple((draw.randrange(10**8 + 1, 10**11, 2), recipe) for recipe in recipes)


def wanted(case: Case) -> list[float]:
    return [training_memory(*call) for call in calls(case)]


def steps(params: int, recipe: Recipe) -> str:
    return f"each parameter takes {' + '.join(str(BYTES[dtype]) for dtype in recipe.values())} bytes."


HINTS = (
    (r"KeyError: '(b?float|int)\d+'", "Your table has no such dtype. The lab lists six of them."),
    (r"KeyError: '[a-z ]+'", "Is that a key of the recipe? No recipe has all of them; or did an "
     "earlier call of yours take it out? The dtypes are the values: go through recipe.values(), and change nothing."),
    (r"KeyError: \d", "Did an earlier call of yours put that into the recipe? Leave the dictionary as it is."),
    (r"data type '\w+' not understood", "NumPy does not know all of these dtypes. Write down the bytes of each in a "
     "dictionary of your own."),
    (r"invalid literal for int", "The names are of different lengths: float8, bfloat16. A dictionary from name to "
     "bytes is simpler than taking them apart."),
    (r"changed size during iteration", "Leave the dictionary as it is: read it, with recipe.values(), and take nothing "
     "out."),
)  # fmt: skip

EXERCISE = Exercise(
    number=4,
    title="Memory for training",
    points=2,
    minutes=15,
    parameters="params, recipe",
    reference="lockstep.cost.training:training_memory",
    cases=cases,
    inputs=calls,
    wanted=wanted,
    agrees=exact,
    asked="a number of bytes",
    steps=steps,
    hints=HINTS,
    worlds=(1,),
    pure=True,
)
