"""Five steps of one training on a virtual GPU, three times: as they are, and after each of two cures."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.bottlenecks.streams import Step, Streams, train
from lockstep.show import palette, quantities, svg
from lockstep.show.openings.parts import EDGE, box, card, key

STEPS, LEFT, STRIP, PITCH = 5, 168.0, 10.0, 46.0
COMPUTES, COPIES, DECODES = palette.ROLES["forward"], palette.COLOURS["recv"], palette.COLOURS["send"]


def runs() -> dict[str, Streams]:
    """By name: what is in the GPU's way, and how the same five steps go without it."""
    sick, moved = Step(preprocess_on_host=20e-3), Step(preprocess_on_gpu=1e-3)
    return {
        "as it is": train(sick, STEPS),
        "decoded on the GPU": train(moved, STEPS),
        "and copied beside": train(moved, STEPS, pinned=True, overlapped=True),
    }


def idle(run: Streams) -> float:
    """The share of the time in which the GPU does not compute."""
    return 1 - run.computing() / run.time


def draw() -> str:
    found = runs()
    told = "Five steps of a training, to scale. " + " ".join(
        f"{name[0].upper()}{name[1:]}: {quantities.seconds(run.time)}, the GPU computes {1 - idle(run):.0%} of it."
        for name, run in found.items()
    )
    longest = max(run.time for run in found.values())
    scale = (svg.WIDTH - LEFT - EDGE) / longest
    body = [
        *(part for n, (name, run) in enumerate(found.items()) for part in _row(name, run, 50 + PITCH * n, scale)),
        *key([(DECODES, "host decodes"), (COPIES, "copy"), (COMPUTES, "GPU computes")], EDGE, 202),
    ]
    return card(216, "Where did the time go, and which of it can you get back?", told, body)


def _row(name: str, run: Streams, y: float, scale: float) -> Iterator[str]:
    yield svg.text(EDGE, y + 11, name)
    yield svg.faint(EDGE, y + 26, quantities.seconds(run.time))
    yield svg.lane(LEFT, y, run.time * scale, 3 * STRIP)
    for span in run.spans:
        if span.kind == "wait" or span.name.startswith("launch"):
            continue
        strip = 0 if span.lane == "host" else 1 if _copies(span.name) else 2
        width = max(0.5, (span.end - span.begin) * scale)
        yield box(LEFT + span.begin * scale, y + STRIP * strip, width, STRIP, fill=(DECODES, COPIES, COMPUTES)[strip])


def _copies(name: str) -> bool:
    return name.startswith("copy")
