"""PipeDream's stream with the moment at which each version of the weights may be forgotten.

    version v     the stage's weights after v updates; it begins with version 0
    F of i        uses the newest version, and B of i uses the one that F of i has used: weight stashing

A version is dropped as soon as it is neither the newest one nor used by a minibatch that waits for its B: right after
an update, which makes it old, or right after a backward pass, which was the last to need it.

Source: Narayanan et al., "PipeDream: Generalized Pipeline Parallelism for DNN Training", SOSP 2019, section 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.pipeline.pairs import Pair, orders
from lockstep.pipeline.schedules.one_f_one_b import one_f_one_b


def pipedream(stage: int, stages: int, minibatches: int) -> list[Pair]:
    """("F", i), ("B", i), ("U", i) and ("drop", v), in turn."""
    newest, used, alive, stream = 0, dict[int, int](), {0}, list[Pair]()
    for kind, i in orders(one_f_one_b(stage, stages, minibatches)):
        for what in "F" if kind == "F" else "BU":
            stream.append((what, i))
            if what == "F":
                used[i] = newest
            elif what == "B":
                del used[i]
            else:
                newest += 1
                alive.add(newest)
            for v in sorted(alive - {newest, *used.values()}):
                stream.append(("drop", v))
                alive.remove(v)
    return stream


def mistake(answer: Sequence[Pair], stage: int, stages: int, minibatches: int) -> str:
    """What is wrong with the first pair that differs from ``pipedream``'s stream, in words; empty if none does."""
    right = pipedream(stage, stages, minibatches)
    at = next((n for n, (a, b) in enumerate(zip(answer, right, strict=False)) if a != b), min(len(answer), len(right)))
    if at == len(answer) == len(right):
        return ""
    if at == len(answer):
        return f"ends after {at} pairs; {right[at]} has to follow."
    if at == len(right):
        return f"goes on after pair {at - 1}, the last one, with {answer[at]}."
    return f"has {answer[at]} as pair {at}, counted from 0. {_why(answer[at], right[at], right[:at], minibatches)}"


def _why(is_there: Pair, wanted: Pair, before: Sequence[Pair], minibatches: int) -> str:
    """Facts about the place at which they part: ``before`` is common to both."""
    newest, used = 0, dict[int, int]()
    for kind, i in before:
        newest += kind == "U"
        used |= {i: newest} if kind == "F" else {}
        if kind == "B":
            del used[i]
    kind, v = is_there
    if kind != "drop" and not 0 <= v < minibatches:
        return f"There is no minibatch {v}; {wanted} comes there."
    if wanted[0] == "drop":
        return f"Version {wanted[1]} is old there, and no minibatch that waits for its B has used it: drop it first."
    if kind != "drop":
        return f"{wanted} comes first."
    waiting = [i for i, version in used.items() if version == v]
    if waiting:
        return f"F of {waiting[0]} has used version {v}, and B of {waiting[0]} is still to come."
    return f"Version {v} is the newest one there." if v == newest else f"There is no version {v} there."
