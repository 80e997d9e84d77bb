"""What a schedule costs, read from its streams: idle time, activations that wait, versions of the weights.

    bubble              share of all stages' time in which they stand still: (p-1)/(m+p-1) for GPipe and 1F1B
    peak_activations    micro-batches (of one chunk) whose activations a stage keeps at once
    peak_inputs         the same for inputs of chunks, which is all that re-materialisation keeps in between
    weight_versions     how many versions of its weights a stage needs at once: 1 if it updates only when nothing waits
    staleness           updates between a forward pass and its backward pass, for each micro-batch

All but the bubble follow from one stage's stream alone; only the bubble needs times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lockstep.pipeline.instructions import (
    Backward,
    BackwardWeights,
    Forward,
    Instruction,
    Recompute,
    Step,
    Stream,
    Update,
)
from lockstep.pipeline.simulate import Times, simulate

ENDS = (Backward, BackwardWeights)  # nothing of the forward pass is needed after these
Part = tuple[int, int]  # micro-batch, chunk


def bubble(streams: Sequence[Stream], times: Times | None = None) -> float:
    """From 0, when nobody ever waits, to nearly 1: the share of p stages' time until the last one is done."""
    intervals = simulate(streams, times)
    total = len(streams) * max((i.end for i in intervals), default=0.0)
    return 1 - sum(i.end - i.start for i in intervals) / total if total else 0.0


def peak_activations(stream: Stream) -> int:
    """In pairs of a micro-batch and a chunk: with v chunks, each is a v-th of a stage."""
    again = recomputed(stream)
    return peak(stream, lambda step: isinstance(step, Recompute if part(step) in again else Forward))


def peak_inputs(stream: Stream) -> int:
    return peak(stream, lambda step: isinstance(step, Forward))


def weight_versions(stream: Stream) -> int:
    """The newest counts, and each older one that a forward pass used whose backward pass is still to come."""
    updates, used, most = 0, dict[Part, int](), 1
    for step in stream:
        if isinstance(step, Forward):
            used[part(step)] = updates
        elif isinstance(step, ENDS):
            used.pop(part(step), None)
        elif isinstance(step, Update):
            updates += 1
        most = max(most, len({*used.values(), updates}))
    return most


def staleness(stream: Stream) -> dict[Part, int]:
    """``{(micro_batch, chunk): updates}`` that this stage made between the two passes: 0 with a flush."""
    updates, began, found = 0, dict[Part, int](), dict[Part, int]()
    for step in stream:
        if isinstance(step, Forward):
            began[part(step)] = updates
        elif isinstance(step, ENDS):
            found[part(step)] = updates - began[part(step)]
        elif isinstance(step, Update):
            updates += 1
    return found


def shares(stream: Stream, sizes: Sequence[int]) -> dict[int, float]:
    """What each micro-batch counts in the mean of its update: its examples by those of the whole update."""
    together, found = set[int](), dict[int, float]()
    for step in stream:
        if isinstance(step, ENDS):
            together.add(step.micro_batch)
        elif isinstance(step, Update) and together:
            examples = sum(sizes[i] for i in together)
            found |= {i: sizes[i] / examples for i in together}
            together = set()
    return found


def recomputed(stream: Stream) -> set[Part]:
    """Whose forward pass is computed twice."""
    return {part(step) for step in stream if isinstance(step, Recompute)}


def part(step: Step) -> Part:
    return (step.micro_batch, step.chunk) if isinstance(step, Instruction) else (-1, -1)


def peak(stream: Stream, begins: Callable[[Step], bool]) -> int:
    """The most parts that are alive at once, from the step that ``begins`` one to the end of its backward pass."""
    alive, most = set[Part](), 0
    for step in stream:
        if begins(step):
            alive.add(part(step))
        most = max(most, len(alive))
        if isinstance(step, ENDS):
            alive.discard(part(step))
    return most
