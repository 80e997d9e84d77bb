"""The instructions that a pipeline schedule is made of. Each stage has a list of them, its *stream*.

    p       stages, one on each rank
    v       chunks of the model on each stage (1 unless the schedule is interleaved)
    m       micro-batches per step
    place   chunk·p + stage, from 0 to v·p - 1: the position of a chunk in the model. Place 0 reads the inputs, the last
            place computes the loss

The same stream is executed on ranks (``worker``), checked (``validate``), timed (``simulate``), counted
(``schedule_costs``) and plotted (``show.pipeline``), so the schedule in a figure is the one that was measured. The
design follows ShallowSpeed's pipe.py.

A schedule can also be written as plain pairs, ``("F", 3)`` or ``("send activation", 3)``: the form that learners write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Instruction:
    """``micro_batch`` counts from 0 within a step; ``chunk`` is the chunk's index on its stage."""

    micro_batch: int = 0
    chunk: int = 0

    def __repr__(self) -> str:
        chunk = f", chunk={self.chunk}" if self.chunk else ""
        return f"{type(self).__name__}({self.micro_batch}{chunk})"


# ---- computing


class Forward(Instruction):
    """Compute the chunk's output from its input and save what the backward pass needs. If the stream has a Recompute of
    the same micro-batch and chunk, save the input only."""


class Recompute(Instruction):
    """Run the forward pass again, right before its backward pass (activation re-materialisation)."""


class Backward(Instruction):
    """Compute the gradient of the input, and accumulate those of the weights, from the gradient of the output."""


class BackwardInput(Instruction):
    """The first half of Backward: only the gradient of the input, which the previous stage is waiting for."""


class BackwardWeights(Instruction):
    """The second half of Backward: the gradients of the weights, which no other stage waits for."""


@dataclass(frozen=True)
class Update:
    """An optimizer step on all chunks of the stage, with the gradients accumulated since the last one."""


# ---- messages: consecutive ones, with no computation in between, are posted as one batch


class SendActivation(Instruction):
    """Send the output of a Forward to the next place."""


class ReceiveActivation(Instruction):
    """Receive the input of a Forward from the previous place."""


class SendGradient(Instruction):
    """Send the gradient of an input to the previous place."""


class ReceiveGradient(Instruction):
    """Receive the gradient of an output from the next place."""


Step: TypeAlias = Instruction | Update
Stream: TypeAlias = list[Step]

SENDS = (SendActivation, SendGradient)
RECEIVES = (ReceiveActivation, ReceiveGradient)
MESSAGES = (*SENDS, *RECEIVES)
FORWARDS = (Forward, Recompute)
BACKWARDS = (Backward, BackwardInput)  # those that produce a gradient to send


def is_message(step: Step) -> bool:
    return isinstance(step, MESSAGES)


def computing(stream: Stream) -> Stream:
    """The stream without its messages: what the stage computes, in order."""
    return [step for step in stream if not is_message(step)]


def place(chunk: int, stage: int, stages: int) -> int:
    """The position of a chunk in the model. Chunks are dealt round-robin: chunk 1 of stage 0 follows chunk 0 of stage
    p - 1."""
    return chunk * stages + stage


def seat(at: int, stages: int) -> tuple[int, int]:
    """(chunk, stage) of place ``at``: the inverse of ``place``."""
    return divmod(at, stages)


# ---- as plain pairs

PAIR_NAMES: Mapping[type[Instruction], str] = {
    Forward: "F",
    Backward: "B",
    SendActivation: "send activation",
    ReceiveActivation: "receive activation",
    SendGradient: "send gradient",
    ReceiveGradient: "receive gradient",
}
PAIR_KINDS: Mapping[str, type[Instruction]] = {name: kind for kind, name in PAIR_NAMES.items()}

Pair = tuple[str, int]
Triple = tuple[str, int, int]


def pairs(stream: Sequence[Step]) -> list[Pair]:
    """The stream as pairs. What ``PAIR_NAMES`` does not name, updates for one, is left out."""
    named = (s for s in stream if isinstance(s, Instruction) and type(s) in PAIR_NAMES)
    return [(PAIR_NAMES[type(s)], s.micro_batch) for s in named]


def orders(stream: Sequence[Step]) -> list[Pair]:
    """The stream's forward and backward passes as pairs."""
    return orders_of(pairs(stream))


def orders_of(stream: Sequence[Pair]) -> list[Pair]:
    """The forward and backward passes of a stream of pairs."""
    return [pair for pair in stream if pair[0] in "FB"]


def triples(stream: Sequence[Step]) -> list[Triple]:
    """The stream's forward and backward passes as (kind, micro-batch, chunk)."""
    return [(PAIR_NAMES[type(s)], s.micro_batch, s.chunk) for s in stream if isinstance(s, (Forward, Backward))]


def from_pairs(stream: Sequence[Pair] | Sequence[Triple]) -> list[Step]:
    """Pairs or triples as instructions: the inverse of ``pairs`` and ``triples``."""
    return [PAIR_KINDS[kind](*numbers) for kind, *numbers in stream]
