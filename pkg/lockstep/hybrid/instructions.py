"""The instructions of a training step on a grid: a pipeline's, in single acts, and those of the other axes.

    pipeline.schedules     F0 | send F0's output, receive B0's gradient | B0 ... Update
    here, the same         F0 | post the send, post the receive, await the receive | B0, ... await the send ...
                           and for each chunk: zero its gradients first; sum them and update its weights at last

Each is *one* of the pipeline's messages or passes, so that it costs the same wherever it stands: it can be recorded
once (``virtual.tape``). ``worker`` carries them out, on ranks or on tape.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from lockstep.errors import UsageError
from lockstep.pipeline.instructions import (
    RECEIVES,
    Backward,
    BackwardInput,
    BackwardWeights,
    Forward,
    Instruction,
    Stream,
    Update,
    is_message,
    place,
)
from lockstep.virtual.players import Step


@dataclass(frozen=True)
class Post:
    """Start to send or to receive a message of the pipeline."""

    message: Instruction


@dataclass(frozen=True)
class Await:
    """Wait until it has been sent, or has arrived."""

    message: Instruction


@dataclass(frozen=True)
class OfChunk:
    chunk: int


class ZeroGradients(OfChunk):
    """Forget the last step's gradients."""


class ReduceGradients(OfChunk):
    """Sum the gradients over the ranks that have others of the same weights."""


class UpdateWeights(OfChunk):
    """The optimizer's step."""


Act: TypeAlias = Instruction | Post | Await | OfChunk


def program(stream: Stream, chunks: int) -> list[Act]:
    """All that a rank does in a training step. Messages next to each other are posted together; sends are waited for
    before the next ones are posted (``pipeline.worker``, 7). Raises UsageError for a schedule that updates the weights
    before its last pass, such as PipeDream's."""
    if sum(isinstance(step, Update) for step in stream) != 1:
        raise UsageError("This schedule updates the weights in the middle of a step.", 'Choose "interleaved", say.')
    acts: list[Act] = [ZeroGradients(c) for c in range(chunks)]
    sent: list[Instruction] = []
    for messages, steps in groupby(stream, is_message):
        if messages:
            batch = [step for step in steps if isinstance(step, Instruction)]
            acts += map(Await, sent)
            acts += map(Post, batch)
            acts += [Await(message) for message in batch if isinstance(message, RECEIVES)]
            sent = [message for message in batch if not isinstance(message, RECEIVES)]
        else:
            acts += [step for step in steps if not isinstance(step, Update)]
    acts += map(Await, sent)
    acts += [ReduceGradients(c) for c in range(chunks)]
    return acts + [UpdateWeights(c) for c in range(chunks)]


def role(at: int, places: int) -> str:
    """What a chunk is that costs the same as others: "first" and "last" have an embedding and the scores besides."""
    return "only" if places == 1 else "first" if at == 0 else "last" if at == places - 1 else "middle"


def last_passes(acts: Sequence[Act]) -> dict[int, Instruction]:
    """By chunk, the pass with which its gradients are complete."""
    return {act.chunk: act for act in acts if isinstance(act, (Backward, BackwardWeights))}


def labelled(
    acts: Sequence[Act], stage: int, stages: int, chunks: int, overlap: bool, layers: Sequence[int]
) -> list[Step]:
    """The acts as steps of a tape: which of them cost the same. The first pass of a chunk may make what later ones
    find, and the last one starts the sum of its gradients, if it overlaps. ``layers``: of each chunk of all stages."""
    steps, begun, lasts = [], set[tuple[str, int]](), last_passes(acts) if overlap else {}
    for act in acts:
        inner = act.message if isinstance(act, (Post, Await)) else act
        chunk = inner.chunk
        at = place(chunk, stage, stages)
        kind: tuple[Hashable, ...] = (type(act).__name__, role(at, stages * chunks), layers[at])
        if inner is not act:
            kind += (type(inner).__name__,)
        elif isinstance(act, Instruction):
            seen = (type(act).__name__, chunk)
            kind += ("first" if seen not in begun else "", "last" if lasts.get(chunk) is act else "")
            begun.add(seen)
        steps.append(Step(kind, chunk, work(act, chunks)))
    return steps


def work(act: Act, chunks: int) -> tuple[str, str, int | None] | None:
    """What an act is of a training, for the timeline: the pass, the chunk and the micro-batch; None for a message."""
    part = f"chunk {act.chunk}" if chunks > 1 and isinstance(act, Instruction | OfChunk) else ""
    match act:
        case Forward():
            return "forward", part, act.micro_batch
        case Backward() | BackwardInput() | BackwardWeights():
            return "backward", part, act.micro_batch
        case UpdateWeights():
            return "update", part, None
    return None
