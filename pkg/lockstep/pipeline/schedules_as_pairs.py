"""1F1B and interleaved 1F1B as plain lists of pairs and triples, and what is wrong with a learner's list.

The algorithms themselves: ``schedules/one_f_one_b.py`` and ``schedules/interleaved.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.pipeline import schedules
from lockstep.pipeline.instructions import Pair, Stream, Triple, from_pairs, orders, triples
from lockstep.pipeline.schedule_costs import peak_activations
from lockstep.pipeline.simulate import Stalled, Times, simulate
from lockstep.pipeline.wasted_slots import wasted


def one_f_one_b(stage: int, stages: int, micro_batches: int) -> list[Pair]:
    """The order of a stage in 1F1B: ("F", 0), ..., ("B", m - 1)."""
    return orders(schedules.stream("one_f_one_b", stage, stages, micro_batches))


def interleaved(stage: int, stages: int, micro_batches: int, chunks: int) -> list[Triple]:
    """The order of a stage in interleaved 1F1B: ("F", i, c) and ("B", i, c) for micro-batch i and chunk c."""
    return triples(schedules.stream("interleaved", stage, stages, micro_batches, chunks))


def not_one_f_one_b(streams: Sequence[Sequence[Pair]], micro_batches: int) -> tuple[int, str]:
    """(stage, what is wrong with its stream, as a sentence), given the streams of all stages; "" if they are 1F1B."""
    m, p = micro_batches, len(streams)
    for stage, stream in enumerate(streams):
        for kind in "FB":
            found = [i for of, i in stream if of == kind]
            if found != list(range(m)):
                wanted = "ascending order" if sorted(found) == list(range(m)) else f"each of 0 to {m - 1} once"
                return stage, f"has {kind} of {_listed(found)}, in this order; {wanted} is wanted."
        at = {pair: n for n, pair in enumerate(stream)}
        early = next((i for i in range(m) if at["B", i] < at["F", i]), None)
        if early is not None:
            return stage, f"has B of {early} before F of {early}."
    own = [from_pairs(stream) for stream in streams]
    try:
        length = round(max(interval.end for interval in simulate(own, Times.equal())))
    except Stalled as stalled:
        waits = [f"stage {s} waits at {k} of {i}" for s, left in enumerate(stalled.left) for k, i in orders(left)[:1]]
        return 0, f"and the streams of the other stages can't be followed: {', '.join(waits)}."
    for stage, steps in enumerate(own):
        if (kept := peak_activations(steps)) > (enough := min(m, p - stage)):
            return stage, f"keeps {kept} micro-batches at once; {enough} are enough."
    if length <= (enough := 2 * (m + p - 1)):
        return 0, ""
    waste = wasted(_drawn(own, length), [min(m, p - stage) for stage in range(p)])
    told = f"and the others take {length} slots; {enough} are enough."
    return (waste.stage, f"{told} {waste}") if waste else (0, told)


def _drawn(streams: Sequence[Stream], length: int) -> list[list[str]]:
    """A row of cells for each stage, if each pass begins as soon as it can."""
    rows = [[".."] * length for _ in streams]
    for stage, step, start, _ in simulate(streams, Times.equal()):
        ((kind, i),) = orders([step])
        rows[stage][round(start)] = f"{kind}{i}"
    return rows


def not_interleaved(stream: Sequence[Triple], stage: int, stages: int, micro_batches: int, chunks: int) -> str:
    """What is wrong with a stage's stream, as a sentence; "" if it is interleaved 1F1B."""
    right = interleaved(stage, stages, micro_batches, chunks)
    for kind in "FB":
        found, wanted = ([step for step in steps if step[0] == kind] for steps in (stream, right))
        if len(found) != len(wanted):
            return f"has {len(found)} {kind}; there are {len(wanted)}, one for each micro-batch and chunk."
        for n, (is_there, should) in enumerate(zip(found, wanted, strict=True)):
            if is_there != should:
                return f"has {is_there} as its {kind} number {n}, counted from 0; {should} is wanted."
    first, warm = ([step[0] for step in steps].index("B") for steps in (stream, right))
    if first != warm:
        begins = 2 * (stages - stage - 1) + (chunks - 1) * stages
        rule = f"w is 2·({stages}-{stage}-1) + ({chunks}-1)·{stages} = {begins} there".replace("-", "−")
        turn = f"that is all {warm}, there are no more" if begins >= warm else "and one more comes before the first B"
        return f"has {first} F before its first B; {warm} are wanted: {rule}, {turn}."
    at = next((n for n, (a, b) in enumerate(zip(stream, right, strict=True)) if a != b), None)
    return "" if at is None else f"has {stream[at]} as step {at}, counted from 0; {right[at]} is wanted."


def _listed(numbers: Sequence[int]) -> str:
    return f"[{', '.join([*map(str, numbers[:12]), *(['...'] if len(numbers) > 12 else [])])}]"
