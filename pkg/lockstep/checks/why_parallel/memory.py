"""``training_memory``: the bytes of everything that a recipe keeps, and what learners leave out."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.hints import Hint
from lockstep.checks.judge import Finding
from lockstep.checks.observation import Observation, Seen
from lockstep.checks.plain import plain
from lockstep.checks.why_parallel.formulas import Asked, Call, Wrong, number
from lockstep.checks.wording import counted, listed

POINTS = 2
BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}
KINDS = ("weights", "gradients", "master weights", "momentum", "variance")  # those that the lesson names
Recipe = Mapping[str, str]


def right_memory(params: int, recipe: Recipe) -> int:
    return params * sum(BYTES[dtype] for dtype in recipe.values())


def _scaled(id: str, message: str, factor: float) -> Wrong:
    return Wrong(id, message, lambda n, recipe: factor * right_memory(n, recipe))


def _only(params: int, recipe: Recipe, kept: tuple[str, ...]) -> int:
    return right_memory(params, {k: v for k, v in recipe.items() if k in kept})


def _one(params: int, recipe: Recipe, place: int) -> int:
    return params * BYTES[list(recipe.values())[place]]


def _without(params: int, recipe: Recipe, left_out: str) -> int:
    return right_memory(params, {k: v for k, v in recipe.items() if k != left_out})


def _sized(dtype: str, nbytes: int) -> Wrong:
    """One dtype taken for a size that it has not."""
    message = f"It looks as if {dtype} took {counted(nbytes, 'byte')}. It takes {BYTES[dtype]}: a byte has 8 bits."
    return Wrong("wrong-size", message, lambda n, recipe: _with_sizes(n, recipe, {dtype: nbytes}))


def _unknown(dtypes: tuple[str, ...]) -> Wrong:
    message = f"It looks as if {listed(dtypes)} took no bytes: are they in your table? The lab lists six dtypes."
    return Wrong("wrong-size", message, lambda n, recipe: _with_sizes(n, recipe, dict.fromkeys(dtypes, 0)))


def _with_sizes(params: int, recipe: Recipe, sizes: Mapping[str, int]) -> int:
    return params * sum(sizes.get(dtype, BYTES[dtype]) for dtype in recipe.values())


MEMORY_WRONG = (
    Wrong("kinds-by-name", "You add only kinds that you know by name. A recipe may list others, such as a moving "
          "average of the weights: go through whatever it lists.", lambda n, recipe: _only(n, recipe, KINDS)),
    Wrong("each-dtype-once", "You count every dtype once. Two kinds with the same dtype both count: a set, or a "
          "dictionary by dtype, keeps only one of them.",
          lambda n, recipe: n * sum(BYTES[dtype] for dtype in set(recipe.values()))),
    Wrong("last-only", "Only the last kind of the recipe counts. Is there a = in your loop where += is meant?",
          lambda n, recipe: _one(n, recipe, -1)),
    Wrong("first-only", "Only the first kind of the recipe counts. Does your loop return in its first turn?",
          lambda n, recipe: _one(n, recipe, 0)),
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
    Wrong("bytes-multiplied", "You multiply the bytes of the kinds with each other. They lie side by side: add them, "
          "and multiply the sum by params.",
          lambda n, recipe: n * math.prod(BYTES[dtype] for dtype in recipe.values())),
    Wrong("kinds-twice", "You multiply by the number of kinds, and add up the bytes of each kind as well. Once is "
          "enough.", lambda n, recipe: len(recipe) * right_memory(n, recipe)),
    *(_sized(dtype, nbytes) for dtype in BYTES for nbytes in (0, 1, 2, 4, 8) if nbytes != BYTES[dtype]),
    *(_unknown(left) for size in (2, 3) for left in combinations(BYTES, size)),
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
    ("moving average", "weights", "gradients"),
)
_MIXED: tuple[Recipe, ...] = (
    {"weights": "bfloat16", "gradients": "bfloat16", "master weights": "float32", "momentum": "float32",
     "variance": "float32"},
    {"weights": "float16", "gradients": "float32", "master weights": "float32", "momentum": "float32"},
    {"weights": "float8", "gradients": "bfloat16", "master weights": "float32", "momentum": "float16",
     "variance": "float16"},
    {"weights": "bfloat16", "gradients": "bfloat16", "master weights": "float64", "momentum": "int8",
     "variance": "int8"},
    {"moving average": "float32", "weights": "bfloat16", "gradients": "bfloat16", "momentum": "float32"},
)  # fmt: skip


def memory_calls(case: Case, rank: int = 0) -> tuple[Call, ...]:
    """(params, recipe)."""
    draw = random.Random(case.seed)
    plain = tuple(dict.fromkeys(kept, dtype) for kept in _PLAIN for dtype in ("float32", "bfloat16", "float64"))
    return tuple((draw.randint(10**8, 10**11), recipe) for recipe in (_MIXED if case.settings["mixed"] else plain))


def kept_recipe(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    """A watch: what ``fn`` returns, and whether the caller still has its recipe."""
    params, recipe = arguments
    before = dict(recipe)
    answer = plain(fn(params, recipe))
    return {"answer": answer, "changed": recipe != before}


def _told_memory(params: int, recipe: Recipe) -> str:
    return f"training_memory({params:,}, {dict(recipe)})"


def _bytes_told(nbytes: float, digits: int) -> str:
    exact = f"{number(nbytes, digits)} bytes"
    return f"{nbytes / 1e9:,.1f} GB ({exact})" if 1e9 <= nbytes < 1e15 else exact


def _memory_steps(params: int, recipe: Recipe) -> str:
    return f"each parameter takes {' + '.join(str(BYTES[dtype]) for dtype in recipe.values())} bytes."


MEMORY_HINTS: tuple[Hint, ...] = (
    (r"KeyError: '(b?float|int)\d+'", "Your table has no such dtype. The lab lists six of them."),
    (r"KeyError: '(weights|gradients|master weights|momentum|variance|moving average)'", "That is what is kept: a key "
     "of the recipe, and not in every recipe. The dtypes are its values: go through recipe.values()."),
    (r"data type '\w+' not understood", "NumPy does not know all of these dtypes. Write down the bytes of each in a "
     "dictionary of your own."),
    (r"invalid literal for int", "The names are of different lengths: float8, bfloat16. A dictionary from name to "
     "bytes is simpler than taking them apart."),
)  # fmt: skip

MEMORY_ASKED = Asked(
    right_memory, _told_memory, _bytes_told, "a number of bytes", MEMORY_WRONG, _memory_steps, MEMORY_HINTS
)


def _judge_memory(observation: Observation) -> list[Finding]:
    answers = replace(observation, seen=tuple(replace(seen, returned=_of("answer", seen)) for seen in observation))
    found = MEMORY_ASKED.judge(answers, POINTS, memory_calls)
    if found or not any(any(changed) for seen in observation for changed in _of("changed", seen)):
        return found
    message = (
        "The values are right, but your function changes the dictionary that it is given: whoever calls it still needs "
        "its recipe. Read it, with recipe.values(), and take nothing out."
    )
    return [Finding(message, "changes-the-recipe", POINTS / 4)]


def _of(what: str, seen: Seen) -> tuple[list[Any], ...]:
    """One thing of all that was written down of each call; nothing where the run failed."""
    return tuple([evidence.get(what) for evidence in calls] for calls in seen.returned)


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
    watch=kept_recipe,
)
