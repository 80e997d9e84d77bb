"""``training_memory``: the bytes of everything that a recipe keeps, and what learners leave out."""

from __future__ import annotations

import random
from collections.abc import Mapping

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Finding, mark
from lockstep.checks.observation import Observation
from lockstep.checks.why_parallel.formulas import Asked, Call, Wrong, number

POINTS = 2
BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}
Recipe = Mapping[str, str]


def right_memory(params: int, recipe: Recipe) -> int:
    return params * sum(BYTES[dtype] for dtype in recipe.values())


def _scaled(id: str, message: str, factor: float) -> Wrong:
    return Wrong(id, message, lambda n, recipe: factor * right_memory(n, recipe))


def _only(params: int, recipe: Recipe, kept: tuple[str, ...]) -> int:
    return right_memory(params, {k: v for k, v in recipe.items() if k in kept})


def _without(params: int, recipe: Recipe, left_out: str) -> int:
    return right_memory(params, {k: v for k, v in recipe.items() if k != left_out})


MEMORY_WRONG = (
    Wrong("weights-only", "It looks as if the weights were all. Training keeps everything that the recipe lists: "
          "gradients and the optimizer's numbers are as many as the weights.",
          lambda n, recipe: _only(n, recipe, ("weights",))),
    Wrong("forgets-optimizer", "You count weights and gradients. The optimizer keeps numbers of its own for every "
          "parameter: add all that the recipe lists.", lambda n, recipe: _only(n, recipe, ("weights", "gradients"))),
    Wrong("forgets-master", "The master weights are missing: with weights in 16 bits, a second copy of them in float32 "
          "takes up the small steps.", lambda n, recipe: _without(n, recipe, "master weights")),
    _scaled("bits-not-bytes", "You count bits: a byte has 8 of them, so float32 is 4 bytes.", 8),
    _scaled("gigabytes", "You return GB (1e9 bytes): bytes are wanted.", 1e-9),
    _scaled("gibibytes", "You return GiB (2**30 bytes): bytes are wanted.", 2.0**-30),
    _scaled("megabytes", "You return MB: bytes are wanted.", 1e-6),
    Wrong("all-float32", "It looks as if every number had 4 bytes. The recipe says the dtype of each.",
          lambda n, recipe: 4 * n * len(recipe)),
    Wrong("dtype-of-the-weights", "It looks as if everything had the dtype of the weights. The recipe says the dtype "
          "of each.", lambda n, recipe: n * len(recipe) * BYTES[recipe["weights"]]),
    Wrong("always-sixteen", "16 bytes for each parameter are mixed-precision Adam. Other recipes keep less: add up "
          "what this one lists.", lambda n, recipe: 16 * n),
    Wrong("always-twelve", "12 bytes for each parameter are one recipe of many: add up what this one lists.",
          lambda n, recipe: 12 * n),
    Wrong("seven-bytes", "7 bytes for each parameter are in some lecture notes, and in no recipe. Add up what this one "
          "lists.", lambda n, recipe: 7 * n),
    Wrong("bytes-per-parameter", "This is what each parameter takes: multiply by their number.",
          lambda n, recipe: right_memory(1, recipe)),
)  # fmt: skip


def _memory_cases(ranks: int, seed: int) -> list[Case]:
    return [
        Case(1, seed, settings={"told": "recipes in one dtype", "mixed": False}),
        Case(1, seed, settings={"told": "recipes in several dtypes", "mixed": True}),
    ]


_PLAIN = (
    ("weights", "gradients"),
    ("weights", "gradients", "momentum"),
    ("weights", "gradients", "momentum", "variance"),
)
_MIXED: tuple[Recipe, ...] = (
    {"weights": "bfloat16", "gradients": "bfloat16", "master weights": "float32", "momentum": "float32",
     "variance": "float32"},
    {"weights": "float16", "gradients": "float32", "master weights": "float32", "momentum": "float32"},
    {"weights": "float8", "gradients": "bfloat16", "master weights": "float32", "momentum": "float16",
     "variance": "float16"},
    {"weights": "bfloat16", "gradients": "bfloat16", "master weights": "float64", "momentum": "int8",
     "variance": "int8"},
)  # fmt: skip


def memory_calls(case: Case, rank: int = 0) -> tuple[Call, ...]:
    """(params, recipe)."""
    draw = random.Random(case.seed)
    plain = tuple(dict.fromkeys(kept, dtype) for kept in _PLAIN for dtype in ("float32", "bfloat16", "float64"))
    return tuple((draw.randint(10**8, 10**11), recipe) for recipe in (_MIXED if case.settings["mixed"] else plain))


def _told_memory(params: int, recipe: Recipe) -> str:
    return f"training_memory({params:,}, {dict(recipe)})"


def _bytes_told(nbytes: float) -> str:
    return f"{nbytes / 1e9:,.1f} GB ({nbytes:.6g} bytes)" if nbytes >= 1e9 else f"{number(nbytes)} bytes"


MEMORY_ASKED = Asked(right_memory, _told_memory, _bytes_told, "a number of bytes", MEMORY_WRONG)


def _judge_memory(observation: Observation) -> list[Finding]:
    return mark(observation, POINTS, lambda seen: MEMORY_ASKED.examine(seen, memory_calls(seen.case)))


MEMORY = Exercise(
    id="why_parallel.training_memory",
    title="Memory for training",
    points=POINTS,
    minutes=15,
    parameters="params, recipe",
    cases=_memory_cases,
    inputs=memory_calls,
    judge=_judge_memory,
    reference="lockstep.cost.training:training_memory",
    worlds=(1,),
    pure=True,
)
