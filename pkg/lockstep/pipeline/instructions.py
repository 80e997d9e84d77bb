"""What a stage of a pipeline can be told to do. A schedule is a list of these for each stage: its *stream*.

    p       stages, one on each rank
    v       chunks of the model on each stage (1, but for interleaved schedules)
    m       micro-batches of a step
    place   chunk·p + stage, from 0 to v·p - 1: where a chunk stands in the model. Place 0 has the inputs, the last
            place has the loss

The same stream is executed on ranks (``worker``), checked (``validate``), timed (``simulate``), counted
(``schedule_costs``) and drawn (``show.pipeline``). So what is measured is what is drawn. The idea is that of
ShallowSpeed's pipe.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Instruction:
    """``micro_batch`` counts from 0 within a step; ``chunk`` is the number of the chunk on its stage."""

    micro_batch: int = 0
    chunk: int = 0

    def __repr__(self) -> str:
        chunk = f", chunk={self.chunk}" if self.chunk else ""
        return f"{type(self).__name__}({self.micro_batch}{chunk})"


# ---- computing


class Forward(Instruction):
    """Compute the chunk's output from its input, and keep what the backward pass needs. If a Recompute of the same
    micro-batch and chunk follows in the stream, keep the input alone."""


class Recompute(Instruction):
    """Compute the forward pass once more, right before its backward pass: re-materialisation."""


class Backward(Instruction):
    """From the gradient of the output: that of the input, and those of the weights, which are added up."""


class BackwardInput(Instruction):
    """The first half of Backward, for which the stage before waits: the gradient of the input alone."""


class BackwardWeights(Instruction):
    """The second half, for which nobody waits: the gradients of the weights."""


@dataclass(frozen=True)
class Update:
    """A step of the optimizer with the gradients that were added up since the last one, on all chunks of the stage."""


# ---- messages: what stands together in a stream, without computing in between, is posted at once


class SendActivation(Instruction):
    """To the next place: the output of a Forward."""


class ReceiveActivation(Instruction):
    """From the place before: the input of a Forward."""


class SendGradient(Instruction):
    """To the place before: the gradient of an input."""


class ReceiveGradient(Instruction):
    """From the next place: the gradient of an output."""


Step: TypeAlias = Instruction | Update
Stream: TypeAlias = list[Step]

SENDS = (SendActivation, SendGradient)
RECEIVES = (ReceiveActivation, ReceiveGradient)
MESSAGES = (*SENDS, *RECEIVES)
FORWARDS = (Forward, Recompute)
BACKWARDS = (Backward, BackwardInput)  # what sends a gradient on


def is_message(step: Step) -> bool:
    return isinstance(step, MESSAGES)


def computing(stream: Stream) -> Stream:
    """The stream without its messages: the order in which the stage computes."""
    return [step for step in stream if not is_message(step)]


def place(chunk: int, stage: int, stages: int) -> int:
    """Where a chunk stands in the model. Chunks go round: chunk 1 of stage 0 follows chunk 0 of the last stage."""
    return chunk * stages + stage


def seat(at: int, stages: int) -> tuple[int, int]:
    """(chunk, stage) of the place ``at``."""
    return divmod(at, stages)
