"""Is the all-reduce hidden behind the backward pass? A training step with a given batch, timed in two parts.

    loss.backward()          each gradient is all-reduced as soon as it is ready, while earlier layers still compute
    begin waiting            communication from here on is *exposed*: the rank idles
    the gradients are there

The model is flat: equal layers, each with a bucket of its own. Then each all-reduce can overlap with the backward pass
of one layer, and all of them are hidden if and only if the whole backward pass takes as long as all of them together.
One is always exposed: that of the first layer, after which nothing is left to compute.

``smallest_batch_that_hides`` counts one ring over all gradients. Here each bucket costs alpha again, and the cluster
uses the best all-reduce that it has: with FLAT's numbers the difference is less than 2 %, and not one example.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import index
from typing import SupportsIndex

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.errors import UsageError
from lockstep.machines import Cluster, Device, Link, find
from lockstep.tables import Table
from lockstep.worlds import Result, run

V100 = find("dgx-v100")
MOST = 100_000  # examples
HEAD = ("examples a rank", "backward pass", "all all-reduces", "exposed", "the last all-reduce", "hidden?")


@dataclass(frozen=True)
class Flat:
    """``layers`` matrices of ``width`` x ``width``, applied to ``rows`` rows of each example, as a convolution is to
    pixels; and a cluster that computes at ``rate`` FLOP/s, whose memory costs no time."""

    layers: int = 8
    width: int = 1792
    rows: int = 152
    ranks: int = 8
    alpha: float = V100.between.alpha
    beta: float = V100.between.beta
    rate: float = V100.device.peak("float32")

    @property
    def flops(self) -> int:
        """FLOP of the backward pass for one example: the gradients of the inputs, and those of the weights."""
        return 2 * 2 * self.rows * self.width**2 * self.layers

    @property
    def nbytes(self) -> int:
        """Bytes of all gradients."""
        return 4 * self.width**2 * self.layers

    @property
    def asked(self) -> tuple[float, int, int, float, float, float]:
        """What ``smallest_batch_that_hides`` is asked."""
        return self.flops, self.nbytes, self.ranks, self.alpha, self.beta, self.rate

    @property
    def cluster(self) -> Cluster:
        device = Device("flat", {"float32": self.rate}, memory_bandwidth=1e30, memory=10**15, launch_overhead=0.0)
        link = Link(self.alpha, self.beta)
        return Cluster("flat", device, 1, link, link)


FLAT = Flat()  # about as many gradients and FLOP as ResNet-50, on V100s that have a node each


@dataclass(frozen=True)
class Exposure:
    """Seconds of a step of training, on rank 0."""

    batch: int
    backward: float
    all_reduces: Sequence[float]  # of each, in the order in which they were under way
    exposed: float

    @property
    def hidden(self) -> bool:
        """Whether only the last all-reduce is exposed."""
        return self.exposed <= self.all_reduces[-1] * (1 + 1e-6)


def confirm(batch: int | Callable[..., int], flat: Flat = FLAT) -> Table:
    """Train with half of ``batch``, one example fewer, ``batch`` and twice as many: what is exposed, in milliseconds of
    virtual time. In place of a batch it takes a function of (flops, nbytes, ranks, alpha, beta, rate) that says one;
    while that is not written, the table has no rows. Raises UsageError for what is no batch."""
    about = f"{flat.ranks} ranks, {flat.layers} layers, {flat.nbytes / 1e6:.0f} MB of gradients. Times in ms."
    try:
        said = batch(*flat.asked) if callable(batch) else batch
    except NotImplementedError:
        return Table("Here your batch is tried, once your function says one.", HEAD, [])
    if not isinstance(said, SupportsIndex) or not 1 <= (said := index(said)) <= MOST:
        raise UsageError(f"A batch is a whole number from 1 to {MOST:,}, not {said!r:.40}.")
    batches = sorted({max(1, b) for b in (said // 2, said - 1, said, 2 * said)})
    return Table(f"A batch of {said} on {about}", HEAD, [_told(exposure(b, flat)) for b in batches])


def exposure(batch: int, flat: Flat = FLAT) -> Exposure:
    """What is exposed of the all-reduces when each rank has ``batch`` examples."""
    result = train(batch, flat)
    backward, exposed = result.values[0]
    travelling = [e.duration for e in result.trace.of_rank(0) if e.kind == "all_reduce"]
    return Exposure(batch, backward, travelling, exposed)


def train(batch: int, flat: Flat = FLAT) -> Result:
    """A step of training on the virtual cluster, without data. Its values are (seconds of the backward pass, seconds
    exposed); ``.show()`` draws it."""
    return run(step, batch * flat.rows, flat.layers, flat.width, ranks=flat.ranks, on=flat.cluster, fake=True)


def step(rows: int, layers: int, width: int) -> tuple[float, float]:
    model = nn.Sequential(*[nn.Linear(width, width, bias=False) for _ in range(layers)])
    sgd = torch.optim.SGD(model.parameters(), lr=0.1 / dist.get_world_size())  # of the sum: 0.1 of the mean
    under_way = list[dist.Work]()

    def leave(parameter: Tensor) -> None:
        under_way.append(dist.all_reduce(parameter.grad, async_op=True))

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(leave)  # type: ignore[no-untyped-call]
    loss = model(torch.ones(rows, width, requires_grad=True)).square().mean()
    begin = time.perf_counter()
    loss.backward()
    waits = time.perf_counter()
    for work in under_way:
        work.wait()
    there = time.perf_counter()
    sgd.step()
    return waits - begin, there - waits


def _told(found: Exposure) -> list[str]:
    times = (found.backward, sum(found.all_reduces), found.exposed, found.all_reduces[-1])
    return [str(found.batch), *(f"{1e3 * t:.2f}" for t in times), "yes" if found.hidden else "no"]
