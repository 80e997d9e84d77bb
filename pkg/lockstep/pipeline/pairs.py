"""A stage's stream as plain pairs, ``("F", 3)`` or ``("send activation", 3)``: what a learner writes and follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lockstep.pipeline.instructions import (
    Backward,
    Forward,
    Instruction,
    ReceiveActivation,
    ReceiveGradient,
    SendActivation,
    SendGradient,
    Step,
)

NAMES: Mapping[type[Instruction], str] = {
    Forward: "F",
    Backward: "B",
    SendActivation: "send activation",
    ReceiveActivation: "receive activation",
    SendGradient: "send gradient",
    ReceiveGradient: "receive gradient",
}
KINDS: Mapping[str, type[Instruction]] = {name: kind for kind, name in NAMES.items()}

Pair = tuple[str, int]
Triple = tuple[str, int, int]


def pairs(stream: Sequence[Step]) -> list[Pair]:
    """All of the stream that has a name here; updates have none."""
    return [(NAMES[type(s)], s.micro_batch) for s in stream if isinstance(s, Instruction) and type(s) in NAMES]


def orders(stream: Sequence[Step]) -> list[Pair]:
    """Forward and backward passes alone."""
    return orders_of(pairs(stream))


def orders_of(stream: Sequence[Pair]) -> list[Pair]:
    """The same of pairs."""
    return [pair for pair in stream if pair[0] in "FB"]


def triples(stream: Sequence[Step]) -> list[Triple]:
    """Forward and backward passes with their chunk."""
    return [(NAMES[type(s)], s.micro_batch, s.chunk) for s in stream if isinstance(s, (Forward, Backward))]


def instructions(stream: Sequence[Pair] | Sequence[Triple]) -> list[Step]:
    """Pairs or triples as instructions."""
    return [KINDS[kind](*numbers) for kind, *numbers in stream]
