"""Catch a wrong all-reduce: the learner writes the test, and it is tried on rings known to be wrong or right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.load import load_as
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import told
from lockstep.errors import RunError

RINGS = Path(__file__).parents[1] / "ring_all_reduce"

# What a test that is wrong about them has missed, what they do, and which they are.
RIGHT, DEAR = "is right", "is right, and sends more than it needs to"
CANDIDATES: Mapping[str, Mapping[str, str]] = {
    "rejects-right-answers": {
        "right/even_and_odd": f"{RIGHT}: even ranks send first",
        "right/list_of_chunks": f"{RIGHT}, and returns the sum",
        "right/other_direction": f"{RIGHT}: it goes round the other way",
    },
    "rejects-dear-answers": {"wrong/whole_tensor": DEAR, "wrong/gather_to_one": DEAR, "wrong/all_peers": DEAR},
    "misses-wrong-values": {
        "wrong/average": "gives the average",
        "wrong/adds_twice": "adds some tensors twice",
        "wrong/maximum": "gives the largest, element by element",
        "wrong/copy_lost": "returns nothing and leaves the tensor as it was",
        "wrong/only_rank_zero": "leaves the sum on rank 0 alone",
    },
    "misses-some-sizes": {
        "wrong/even_sizes": "is right where the number of ranks divides the number of elements, and only there",
        "wrong/two_ranks": "is right for two ranks and for no larger number",
        "wrong/world_ranks": "is right for the whole world, and not for a group of some of its ranks",
    },
    "misses-hangs": {
        "wrong/blocking_circle": "hangs",
        "wrong/view_chunks": "raises an error for some sizes",
    },
}


def cases(ranks: int, seed: int) -> list[Case]:
    names = {"rejects-right-answers": "right ones", "rejects-dear-answers": "right ones that send too much"}
    told = {id: names.get(id, "wrong ones") for id in CANDIDATES}
    return [Case(1, seed, settings={"told": told[id], "candidates": id, "trivial": False}) for id in CANDIDATES]


def inputs(case: Case, rank: int) -> tuple[Any, ...]:
    rings = CANDIDATES[case.settings["candidates"]]
    return tuple(
        (load_as(RINGS / f"{name}.py", "ring_all_reduce", f"all_reduce_{n}.py"),) for n, name in enumerate(rings)
    )


def watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What the test returns, or the name of the error of a run that it lets through."""
    try:
        return plain(fn(*arguments))
    except RunError as error:
        return {"error": type(error).__name__}


def examine(seen: Seen) -> Fault | None:
    """The first all-reduce about which the test is wrong."""
    id = seen.case.settings["candidates"]
    want = id.startswith("rejects")
    for answer, what in zip(seen.returned[0], CANDIDATES[id].values(), strict=True):
        if isinstance(answer, dict):
            begin = f"With an all-reduce that {what}, run() raises {answer['error']}, and your test lets it through. A "
            return Fault(
                "lets-errors-through", f"{begin}run that fails is no all-reduce: catch RunError, return False."
            )
        if not isinstance(answer, bool):
            return Fault("wrong-type", f"Your test returns {told(answer)}; True or False is wanted.")
        if answer != want:
            return Fault(id, f"Your test returns {answer} for an all-reduce that {what}.")
    return None


EXERCISE = Exercise(
    number=12,
    kind="catch",
    core=False,
    title="Catch a wrong all-reduce",
    points=4,
    minutes=30,
    parameters="fn",
    reference="lockstep.collectives:is_all_reduce",
    cases=cases,
    inputs=inputs,
    examine=examine,
    values=1.0,
    pure=True,
    watch=watch,
    worlds=(1,),
    seconds=40.0,
)
