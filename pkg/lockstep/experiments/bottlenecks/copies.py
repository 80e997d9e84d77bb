"""Ways to bring batches to a virtual GPU: what a step takes, and where host and GPU wait."""

from __future__ import annotations

from lockstep.bottlenecks.streams import Step, Streams, train

STEP = Step(compute=10e-3, nbytes=150e6)  # 12 ms to copy from pageable memory, 6 ms from pinned
PYTHON = 4e-3  # seconds that the host takes before each step, in the last way


def ways(step: Step = STEP, steps: int = 4) -> dict[str, Streams]:
    """Some steps with each way to copy; in the last one the host has work of its own, and reads the loss each step."""
    busy = Step(step.compute, step.kernels, step.nbytes, host=PYTHON)
    return {
        "pageable": train(step, steps),
        "pinned": train(step, steps, pinned=True),
        "pinned, own stream": train(step, steps, pinned=True, overlapped=True),
        "the same, .item() each step": train(busy, steps, pinned=True, overlapped=True, item_every=1),
    }
