"""old_weights(): the loss of PipeDream with and without weight stashing, and of the same SGD with a flush."""

from __future__ import annotations

import math
from typing import Any

from lockstep.pipeline import pipedream_staleness
from lockstep.show.chart import Chart, chart, domain, level, named
from lockstep.tally import counted

WIDTH, HEIGHT, MEAN = 300, 240, 10  # pixels; minibatches whose mean is a point

CLASSES = 10  # digits


def old_weights(stages: int = 4, rate: float = pipedream_staleness.RATE) -> Chart:
    """A line for each way, of means over ten minibatches. The models are trained when it is called, some seconds."""
    values: list[dict[str, Any]] = [
        {
            "way": way,
            "minibatch": at + MEAN,
            "loss": mean,
            "told": f"{way}, minibatches {at} to {at + MEAN - 1}: {mean:.3f}",
        }
        for way in counted(pipedream_staleness.WAYS, "Training", each=1.8)
        for at, mean in _means(pipedream_staleness.losses(way, stages, rate))
    ]
    x: dict[str, Any] = {"field": "minibatch", "type": "quantitative", "axis": {"title": "minibatch", "tickCount": 6}}
    y: dict[str, Any] = {"field": "loss", "type": "quantitative", "axis": {"title": "loss"}}
    x["scale"], y["scale"] = (domain(row[f] for row in values) for f in ("minibatch", "loss"))
    ends = [f"{way} {pipedream_staleness.trained(way, stages, rate):.3f}" for way in pipedream_staleness.WAYS]
    words = (
        f"The digits on {stages} stages, rate {rate:g}. Loss of each minibatch before its update, means of {MEAN}. "
        f"In the last epoch: {', '.join(ends)}. Blind guessing: {math.log(CLASSES):.3g}."
    )
    layers = [level(math.log(CLASSES), y), *named(values, "way", x, y, HEIGHT)]
    title = {"text": "Old weights", "subtitle": f"dotted: blind guessing, ln {CLASSES}"}
    return chart({"title": title, "width": WIDTH, "height": HEIGHT, "data": {"values": values}, "layer": layers}, words)


def _means(losses: list[float]) -> list[tuple[int, float]]:
    whole = range(0, len(losses) - MEAN + 1, MEAN)
    return [(at, sum(losses[at : at + MEAN]) / MEAN) for at in whole]
