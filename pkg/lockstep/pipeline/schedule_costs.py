"""The costs of a schedule, read from its streams: idle time, stored activations, versions of the weights.

    bubble              fraction of all stages' time in which they are idle: (p-1)/(m+p-1) for GPipe and 1F1B
    peak_activations    most micro-batches (of one chunk) whose activations a stage stores at once
    peak_inputs         the same for inputs of chunks, which is all that re-materialisation stores in between
    weight_versions     most versions of its weights that a stage needs at once: 1 if it updates only after a flush
    staleness           updates between a micro-batch's forward pass and its backward pass

All but the bubble follow from the stream of one stage; only the bubble needs times.
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

ENDS = (Backward, BackwardWeights)  # nothing from the forward pass is needed after these
Part = tuple[int, int]  # micro-batch, chunk


def bubble(streams: Sequence[Stream], times: Times | None = None) -> float:
    """The idle fraction of p stages' time until the last one is done: 0 if no stage ever waits, and below 1."""
    intervals = simulate(streams, times)
    total = len(streams) * max((i.end for i in intervals), default=0.0)
    return 1 - sum(i.end - i.start for i in intervals) / total if total else 0.0


def peak_activations(stream: Stream) -> int:
    """The most (micro-batch, chunk) pairs whose activations are stored at once. With v chunks, each is a v-th of a
    stage's."""
    again = recomputed(stream)
    return peak(stream, lambda step: isinstance(step, Recompute if part(step) in again else Forward))


def peak_inputs(stream: Stream) -> int:
    """The most (micro-batch, chunk) pairs whose input is stored at once."""
    return peak(stream, lambda step: isinstance(step, Forward))


def weight_versions(stream: Stream) -> int:
    """The most versions needed at once: the newest, and each older one used by a forward pass whose backward pass is
    pending."""
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
    """``{(micro_batch, chunk): updates}``: the updates of this stage between the two passes; 0 with a flush."""
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
    """The weight of each micro-batch in the mean of its update: its examples, divided by those of the update."""
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
    """The (micro-batch, chunk) pairs whose forward pass is computed twice."""
    return {part(step) for step in stream if isinstance(step, Recompute)}


def part(step: Step) -> Part:
    """(micro-batch, chunk) of an instruction; (-1, -1) for an update."""
    return (step.micro_batch, step.chunk) if isinstance(step, Instruction) else (-1, -1)


def peak(stream: Stream, begins: Callable[[Step], bool]) -> int:
    """The most parts alive at once, each from the step that ``begins`` it to the end of its backward pass."""
    alive, most = set[Part](), 0
    for step in stream:
        if begins(step):
            alive.add(part(step))
        most = max(most, len(alive))
        if isinstance(step, ENDS):
            alive.discard(part(step))
    return most
