"""Pipeline schedules: which stage computes what, when. One file for each schedule; they need neither torch nor ranks.

A schedule is a function of (stage, stages, micro_batches) that returns the stage's *order*: its sequence of
computations. ``stream`` adds the messages. Every stage calls it with its own index, so no plan has to be distributed.

    naive         one micro-batch after another through the whole model; one stage works while the others wait
    gpipe         all forward passes, then all backward passes; with or without re-materialisation
    one_f_one_b   a forward and a backward pass alternate, so that fewer activations are stored at once
    interleaved   the same with v chunks of the model on each stage: 1/v of the bubble, v times the messages
    pipedream     1F1B without a flush: the weights are updated after every backward pass
    zb_h1         1F1B with the backward pass split in two; the second half fills the bubble

    for stage in range(4):
        print(one_f_one_b(stage, stages=4, micro_batches=8))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lockstep.errors import UsageError
from lockstep.pipeline.instructions import Step, Stream
from lockstep.pipeline.schedules import interleaved as interleaving
from lockstep.pipeline.schedules.gpipe import gpipe
from lockstep.pipeline.schedules.messages import with_messages
from lockstep.pipeline.schedules.naive import naive
from lockstep.pipeline.schedules.one_f_one_b import one_f_one_b
from lockstep.pipeline.schedules.pipedream import pipedream
from lockstep.pipeline.schedules.zb_h1 import zb_h1

Ticks = list[list[Step]]


def _rematerialised(stage: int, stages: int, micro_batches: int) -> Stream:
    return gpipe(stage, stages, micro_batches, rematerialise=True)


ORDERS: Mapping[str, Callable[[int, int, int], Stream]] = {
    "naive": naive,
    "gpipe": gpipe,
    "gpipe, re-materialised": _rematerialised,
    "one_f_one_b": one_f_one_b,
    "pipedream": pipedream,
    "zb_h1": zb_h1,
}
NAMES = (*ORDERS, "interleaved")


def ticks(name: str, stage: int, stages: int, micro_batches: int, chunks: int = 1) -> Ticks:
    """The order of schedule ``name`` for one stage, split where the stage exchanges messages. Raises UsageError."""
    if name not in NAMES:
        raise UsageError(f"There is no schedule {name!r}.", f"Choose one of: {', '.join(NAMES)}.")
    if not 0 <= stage < stages or micro_batches < 1 or chunks < 1:
        raise UsageError(
            f"There is no stage {stage} of {stages} with {micro_batches} micro-batches and {chunks} chunks.",
            "Stages count from 0; there is at least one of each.",
        )
    if name == "interleaved":
        return interleaving.ticks(stage, stages, micro_batches, chunks)
    if chunks != 1:
        raise UsageError(f"{name} has one chunk of the model on each stage, not {chunks}.", 'Choose "interleaved".')
    return [[step] for step in ORDERS[name](stage, stages, micro_batches)]


def stream(name: str, stage: int, stages: int, micro_batches: int, chunks: int = 1) -> Stream:
    """Everything that a stage does in one step, messages included. Raises UsageError."""
    return with_messages(ticks(name, stage, stages, micro_batches, chunks), stage, stages, chunks)


def streams(name: str, stages: int, micro_batches: int, chunks: int = 1) -> list[Stream]:
    """The streams of all stages."""
    return [stream(name, stage, stages, micro_batches, chunks) for stage in range(stages)]
