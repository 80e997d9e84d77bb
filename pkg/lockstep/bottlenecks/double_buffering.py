"""Double buffering: while a batch is computed in one buffer, the next one is copied into another.

    copy       │ copy 0 │ copy 1 │      │ copy 2 │      │ copy 3 │             into buffers 0, 1, 0, 1
    compute             │ step 0        │ step 1        │ step 2        │      out of buffers 0, 1, 0, 1

Two events keep them apart: a step begins when its copy is done, and a copy begins when the step that reads its buffer
is done. On a real GPU these are ``stream.wait_event(event)``; ``record_stream`` keeps the memory from being given away.
With more buffers, copies run further ahead, which helps where copies or steps take longer now and then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Gpu(Protocol):
    """A stream that copies and one that computes. Both methods return at once, with an event."""

    def copy(self, batch: int, buffer: int, after: Sequence[Any] = ()) -> Any: ...
    def compute(self, batch: int, buffer: int, after: Sequence[Any] = ()) -> Any: ...


def overlap_copies(gpu: Gpu, batches: int, buffers: int) -> None:
    """Copies and computes all ``batches``, with up to ``buffers`` of them on the GPU."""
    computed: list[Any] = []

    def copied(batch: int) -> Any:
        read = [computed[batch - buffers]] if batch >= buffers else []
        return gpu.copy(batch, batch % buffers, read)

    arrived = [copied(batch) for batch in range(min(buffers, batches))]
    for batch in range(batches):
        computed.append(gpu.compute(batch, batch % buffers, [arrived[batch]]))
        if batch + buffers < batches:
            arrived.append(copied(batch + buffers))
