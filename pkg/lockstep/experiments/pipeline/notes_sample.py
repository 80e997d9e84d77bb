"""The first sample of "pipeline parallelism" in the lecture notes, run and measured: it is serial.

    x = x.to('cuda:0');  x = self.layer1(x)          one GPU computes ...
    x = x.to('cuda:1');  x = self.layer2(x) ...      ... then the other one

The layers are on two GPUs, and one of them is always idle: that is model parallelism, but not a pipeline. Here each GPU
is a rank, and ``.to('cuda:1')`` becomes the message that it is. ``at_once`` measures how long both compute at the same
time: never. All that is missing is to cut the batch into micro-batches, and then it is GPipe.

(The notes' second sample imports ``torch.distributed.pipeline.sync.Pipe``, which torch no longer has.)
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.events import Trace
from lockstep.pipeline.schedules import stream
from lockstep.pipeline.worker import PipelineWorker

WIDTHS = (1024, 512, 256, 10)  # the notes'
PLACED = (range(1), range(1, 3))  # layer1 on the first GPU, layer2 and layer3 on the second
EXAMPLES = 64


def model_parallel(examples: int = EXAMPLES) -> Tensor | None:
    """The notes' forward pass on two ranks. The second one returns the output, (examples, 10), the first None."""
    rank = dist.get_rank()
    layers = [nn.Linear(WIDTHS[i], WIDTHS[i + 1]) for i in PLACED[rank]]
    x = torch.ones(examples, WIDTHS[rank])
    dist.barrier()  # for the timeline: both have built their layers by now
    if rank == 0:
        dist.send(layers[0](x).detach(), 1)  # x = x.to('cuda:1')
        return None
    dist.recv(x, 0)
    for layer in layers:
        x = layer(x)
    return x.detach()


def trained(schedule: str, micro_batches: int = 1, examples: int = EXAMPLES) -> None:
    """The same layers, trained for one step: "naive" with one micro-batch is what the notes' sample would do."""
    rank = dist.get_rank()
    stage = nn.Sequential(*[nn.Linear(WIDTHS[i], WIDTHS[i + 1]) for i in PLACED[rank]])
    worker = PipelineWorker([stage], [(WIDTHS[rank],)], F.mse_loss, torch.optim.SGD(stage.parameters(), 0.1))
    inputs = torch.ones(examples, WIDTHS[0]).chunk(micro_batches)
    targets = torch.ones(examples, WIDTHS[-1]).chunk(micro_batches)
    dist.barrier()
    worker.step(stream(schedule, rank, 2, len(inputs)), [len(x) for x in inputs], inputs, targets)


def at_once(trace: Trace) -> float:
    """Seconds in which at least two ranks compute, after the barrier that follows the building of their layers."""
    met = max((e.end for e in trace.of_kind("barrier")), default=0.0)
    spans = [(e.start, e.end) for e in trace.of_kind("compute") if e.start >= met]
    changes = sorted([(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans])
    busy, since, total = 0, met, 0.0
    for time, change in changes:
        total += (time - since) * (busy > 1)
        busy, since = busy + change, time
    return total
