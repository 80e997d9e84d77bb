"""old_weights(): the loss of PipeDream, with and without weight stashing, beside the same SGD with a flush."""

from __future__ import annotations

from lockstep.pipeline import pipedream_staleness
from lockstep.show.chart import Chart, by_name, chart, line, points

WIDTH, HEIGHT, MEAN = 430, 240, 10  # pixels; minibatches whose mean is a point


def old_weights(stages: int = 4, rate: float = pipedream_staleness.RATE) -> Chart:
    """A line for each way: means of ten minibatches each. The worker trains them now, some seconds."""
    values = [
        {
            "way": way,
            "minibatch": at + MEAN,
            "loss": mean,
            "told": f"{way}, minibatches {at} to {at + MEAN - 1}: {mean:.3f}",
        }
        for way in pipedream_staleness.WAYS
        for at, mean in _means(pipedream_staleness.losses(way, stages, rate))
    ]
    x = {"field": "minibatch", "type": "quantitative", "axis": {"title": "minibatch", "tickCount": 6}}
    y = {"field": "loss", "type": "quantitative", "scale": {"zero": True}, "axis": {"title": "loss"}}
    looks = by_name("way", pipedream_staleness.WAYS)
    ends = [f"{way} {pipedream_staleness.trained(way, stages, rate):.3f}" for way in pipedream_staleness.WAYS]
    words = (
        f"The digits on {stages} stages, rate {rate:g}. Loss of each minibatch before its update, means of {MEAN}. "
        f"In the last epoch: {', '.join(ends)}."
    )
    layers = [line(x, y, **looks), points(x, y, color=looks["color"])]
    return chart({"width": WIDTH, "height": HEIGHT, "data": {"values": values}, "layer": layers}, words)


def _means(losses: list[float]) -> list[tuple[int, float]]:
    whole = range(0, len(losses) - MEAN + 1, MEAN)
    return [(at, sum(losses[at : at + MEAN]) / MEAN) for at in whole]
