"""Is a schedule legal? Reports every fault as a sentence, and none if the schedule is complete and can be executed.

(1) every stage runs one forward pass and one whole backward pass for every micro-batch and chunk
(2) the forward pass comes first; a Recompute comes between the two; a BackwardWeights follows its BackwardInput
(3) gradients are applied: no backward pass after the last update
(4) every message has both ends, and both post the messages between them in the same order
(5) what is sent has been computed, and what a computation needs has been received
(6) no stage waits forever

A stage that follows its stream never does two things at once. ``busy_twice`` checks that for intervals from elsewhere,
drawn by hand or measured.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from lockstep.errors import UsageError
from lockstep.pipeline.instructions import (
    SENDS,
    Backward,
    BackwardInput,
    BackwardWeights,
    Forward,
    Instruction,
    Recompute,
    SendActivation,
    SendGradient,
    Step,
    Stream,
    Update,
    is_message,
    place,
    seat,
)
from lockstep.pipeline.schedule_costs import Part, part
from lockstep.pipeline.schedules.messages import given, needed
from lockstep.pipeline.simulate import Interval, chunks_of, simulate

Posted = tuple[str, int, int]  # "activation" or "gradient", the sending place, micro-batch


def faults(streams: Sequence[Stream], micro_batches: int, chunks: int | None = None) -> list[str]:
    """The faults in the streams of all stages. Streams without any message are checked as orders of computation."""
    chunks = chunks or chunks_of(streams)
    parts = [(i, c) for i in range(micro_batches) for c in range(chunks)]
    found = [f"Stage {s}: {fault}" for s, stream in enumerate(streams) for fault in of_stage(stream, parts)]
    if any(is_message(step) for stream in streams for step in stream):
        found += unmatched(streams)
        for s, stream in enumerate(streams):
            found += [f"Stage {s}: {fault}" for fault in untimely(stream, s, len(streams), chunks)]
    if found:
        return found
    try:
        simulate(streams)  # (6)
    except UsageError as error:
        return [error.message]
    return []


def check(streams: Sequence[Stream], micro_batches: int, chunks: int | None = None) -> None:
    """Raises UsageError with the first fault and the number of faults."""
    if found := faults(streams, micro_batches, chunks):
        raise UsageError(found[0], f"Faults in all: {len(found)}.")


def check_stage(stream: Stream, stage: int, stages: int, micro_batches: int, chunks: int) -> None:
    """The rules that a stage can check on its own stream: (1) (2) (3) (5). Raises UsageError with the first fault."""
    parts = [(i, c) for i in range(micro_batches) for c in range(chunks)]
    found = [*of_stage(stream, parts), *(untimely(stream, stage, stages, chunks) if stages > 1 else ())]
    if found:
        raise UsageError(f"Stage {stage}: {found[0]}", "lockstep.pipeline.validate has the rules.")


def of_stage(stream: Stream, parts: Sequence[Part]) -> Iterator[str]:
    """Violations of (1) (2) (3) in the stream of one stage."""
    places: dict[Part, dict[type, list[int]]] = defaultdict(lambda: defaultdict(list))
    for n, step in enumerate(stream):
        if isinstance(step, Instruction) and not is_message(step):
            places[part(step)][type(step)].append(n)
    for i, c in sorted(set(places) - set(parts)):
        yield f"There is no micro-batch {i} with chunk {c}."
    for i, c in parts:
        told = f"of micro-batch {i}" + (f" with chunk {c}" if c else "")
        yield from (f"{fault.format(told)}." for fault in of_part(places[i, c]))
    updates = [n for n, step in enumerate(stream) if isinstance(step, Update)]
    backwards = [n for n, step in enumerate(stream) if isinstance(step, (Backward, BackwardWeights))]
    if not updates:
        yield "There is no Update: the gradients are never applied."
    elif backwards and max(backwards) > max(updates):
        yield "A backward pass stands after the last Update: its gradients are never applied."


def of_part(at: dict[type, list[int]]) -> Iterator[str]:
    """Violations of (1) (2) for one micro-batch and chunk. ``at``: the positions of each kind of instruction."""
    forward, again = at.get(Forward, []), at.get(Recompute, [])
    whole, first, second = (at.get(kind, []) for kind in (Backward, BackwardInput, BackwardWeights))
    if len(forward) != 1:
        yield f"{len(forward)} forward passes {{}}"
        return
    if (len(whole), len(first), len(second)) not in ((1, 0, 0), (0, 1, 1)):
        yield f"{len(whole) + min(len(first), len(second))} whole backward passes {{}}"
        return
    begin = (whole or first)[0]
    if begin < forward[0]:
        yield "The backward pass {} comes before its forward pass"
    if second and second[0] < begin:
        yield "BackwardWeights {} comes before its BackwardInput"
    if len(again) > 1 or any(not forward[0] < n < begin for n in again):
        yield "Recompute {} does not stand once between its forward and its backward pass"


def unmatched(streams: Sequence[Stream]) -> Iterator[str]:
    """Violations of (4)."""
    posted: dict[tuple[int, int], list[tuple[bool, Posted]]] = defaultdict(list)  # (stage, other stage) -> in order
    for s, stream in enumerate(streams):
        for step in stream:
            if isinstance(step, Instruction) and is_message(step):
                other, message = envelope(step, s, len(streams))
                posted[s, other].append((isinstance(step, SENDS), message))
    for a, b in sorted({(min(pair), max(pair)) for pair in posted}):
        for source, target in ((a, b), (b, a)):
            sent = [message for sends, message in posted[source, target] if sends]
            received = [message for sends, message in posted[target, source] if not sends]
            for kind, at, i in sorted((Counter(sent) - Counter(received)).keys()):
                told = f"the {kind} of micro-batch {i} from place {at}"
                yield f"Stage {source} sends {told}, stage {target} does not receive it."
            for kind, at, i in sorted((Counter(received) - Counter(sent)).keys()):
                told = f"the {kind} of micro-batch {i} from place {at}"
                yield f"Stage {target} receives {told}, stage {source} does not send it."
            if Counter(sent) == Counter(received) and sent != received:
                yield f"Stage {target} receives in another order than stage {source} sends."


def envelope(step: Instruction, stage: int, stages: int) -> tuple[int, Posted]:
    """(stage at the other end, which message it is)."""
    gradient = "Gradient" in type(step).__name__
    here = place(step.chunk, stage, stages)
    onward = isinstance(step, SendActivation) or (
        gradient and not isinstance(step, SendGradient)
    )  # to or from the next
    there = here + 1 if onward else here - 1
    leaves = here if isinstance(step, SENDS) else there
    return seat(there, stages)[1], ("gradient" if gradient else "activation", leaves, step.micro_batch)


def untimely(stream: Stream, stage: int, stages: int, chunks: int) -> Iterator[str]:
    """Violations of (5) in the stream of one stage."""
    last, there = stages * chunks - 1, set[Step]()  # messages sent or received so far
    for step in stream:
        if is_message(step):
            there.add(step)
            continue
        missing = [receive for receive in needed(step, stage, stages, last) if receive not in there]
        yield from (f"{step!r} comes before {receive!r}." for receive in missing)
        early = [send for send in given(step, stage, stages, last) if send in there]
        yield from (f"{send!r} comes before {step!r}." for send in early)


def busy_twice(intervals: Sequence[Interval]) -> list[str]:
    """Overlapping intervals of the same stage, one sentence for each."""
    found = list[str]()
    for stage in sorted({i.stage for i in intervals}):
        mine = sorted((i for i in intervals if i.stage == stage), key=lambda i: (i.start, i.end))
        found += [
            f"Stage {stage} begins {b.step!r} at {b.start:g} and is busy with {a.step!r} until {a.end:g}."
            for a, b in pairwise(mine)
            if b.start < a.end - 1e-12 * max(1.0, abs(a.end))
        ]
    return found
