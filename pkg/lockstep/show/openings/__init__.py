"""The picture at the top of each lesson: what the unit does, who sends what to whom. ``lockstep build`` draws them.

    parts                 boxes, arrows and rows that they share
    why_parallel          one job, on more and more workers
    scikit_learn          three settings: processes copy, threads share
    cpu                   bytes that a core gets, computes with and is sent, to scale
    gpu                   a warp whose lanes part, recorded on the warp machine
    communication         each rank has its own numbers; in the end each has the sum
    all_reduce_sgd        one step of SGD on four ranks
    without_waiting       the same four ranks, with and without waiting for the slow one
    horovod               ranks that are ready in different orders, and who decides
    fsdp                  shards of three layers, while one of them computes
    pipeline              micro-batches on their way through the stages
    tensor_parallel       a product cut by columns and by rows
    mixture_of_experts    tokens, the gate's choice, and the experts' ranks
    hybrid                eight ranks on three axes, and whom each of them shares a group with
    bottlenecks           the same five steps, three times: what the GPU waits for, and what is got back

Each is computed, and to scale where it has lengths. It stands on a card of its own, since no page repaints an image.
"""

from __future__ import annotations

from importlib import import_module
from xml.etree import ElementTree

TOPICS = (
    "why_parallel", "scikit_learn", "cpu", "gpu", "communication", "all_reduce_sgd", "without_waiting", "horovod",
    "fsdp", "pipeline", "tensor_parallel", "mixture_of_experts", "hybrid", "bottlenecks",
)  # fmt: skip


def opening(topic: str) -> str:
    """The SVG of a unit's picture. Raises KeyError for a topic that has none."""
    if topic not in TOPICS:
        raise KeyError(topic)
    drawing: str = import_module(f"lockstep.show.openings.{topic}").draw()
    return drawing


def alternative(drawing: str) -> str:
    """The words of a drawing, for those who do not see it."""
    return ElementTree.fromstring(drawing).findtext("{*}desc", "")
