"""A pipeline worker: what each rank runs. It executes its stage's stream, whatever the schedule, in torch.distributed.

``pipeline_worker`` is the idea in one function, for one chunk a stage and plain pairs; ``PipelineWorker`` is complete.

    x[i], y[i]      input and output of micro-batch i on this stage; on the last stage y[i] is the loss / m
    dy[i], dx[i]    their gradients: dy[i] comes from stage s + 1, dx[i] goes to stage s - 1

Autograd's graph ends at the stage boundary. So a received input has to require a gradient (a), and an output that was
sent is the root of its own backward pass (b), which starts from the gradient sent back by the next stage. Consecutive
messages form one batch (c): if they are posted one by one, two neighbours can wait for each other.

``PipelineWorker`` adds several chunks on a stage, optimizer steps, stashed weights, re-materialisation and split
backward passes, and overlaps its sends with computation:

    q                     a place: the position of a chunk in the model, chunk·p + stage
    activations[q, i]     the input of place q for micro-batch i; for q > 0 it is the output of place q - 1
    gradients[q, i]       the gradient of that input
    kept[q, i]            what the backward pass of place q needs from micro-batch i's forward pass

        activations[q, i]  ──(1) Forward──>   activations[q+1, i]  ──(2) SendActivation──>  the next place's rank
                                 │
                             kept[q, i]
                                 │
        gradients[q, i]    <──(4) Backward──  gradients[q+1, i]  <──(3) ReceiveGradient──  the next place's rank

(5) The output is not kept for its backward pass: the gradient edge of autograd's graph is enough. Its memory is freed
    as soon as it has been sent, unless the graph has saved it.
(6) A micro-batch's loss is weighted by its number of examples. So the gradients accumulated between two updates are
    those of the mean over all their examples, even if micro-batches differ in size.
(7) Consecutive messages are posted as one batch. Receives are waited for, since the next computation needs them; sends
    are waited for only when the next messages are posted, so a message travels while both ends compute. Posted one by
    one, a send and a receive between the same two ranks can deadlock: NCCL executes them in order
    (``lockstep.comm.backend_rules``).

With a single stage nothing is sent; everything else is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge

from lockstep.errors import UsageError
from lockstep.pipeline.instructions import (
    Backward,
    BackwardInput,
    BackwardWeights,
    Forward,
    Pair,
    ReceiveActivation,
    ReceiveGradient,
    Recompute,
    SendActivation,
    SendGradient,
    Step,
    Stream,
    Update,
    is_message,
    place,
    seat,
)
from lockstep.pipeline.schedule_costs import part, recomputed, shares, weight_versions
from lockstep.pipeline.validate import check_stage
from lockstep.pipeline.weight_stashing import Version, WeightVersions

Loss = Callable[[Tensor, Tensor], Tensor]  # (output, target) -> the mean loss of these examples
Key = tuple[int, int]  # place, micro-batch


def pipeline_worker(
    module: nn.Module,
    stream: Sequence[Pair],
    inputs: Sequence[Tensor],
    targets: Sequence[Tensor],
    loss: Callable[[Tensor, Tensor], Tensor],
    shape: Sequence[int],
    group: dist.ProcessGroup | None = None,
) -> list[Tensor]:
    """This stage's gradients of the mean loss, one for each of ``module.parameters()``.

    ``inputs``: the x of all micro-batches on stage 0; ``targets``: all targets on the last stage; both are empty on the
    other stages. ``shape``: of this stage's x, which is float32.
    """
    stage, stages = dist.get_rank(group), dist.get_world_size(group)
    x, y, dx, dy = dict(enumerate(inputs)), dict[int, Tensor](), dict[int, Tensor](), dict[int, Tensor | None]()

    def message(what: str, i: int) -> dist.P2POp:
        if what == "send activation":
            return dist.P2POp(dist.isend, y[i].detach(), group=group, group_peer=stage + 1)
        if what == "send gradient":
            return dist.P2POp(dist.isend, dx.pop(i), group=group, group_peer=stage - 1)
        if what == "receive activation":
            x[i] = torch.empty(tuple(shape))
            return dist.P2POp(dist.irecv, x[i], group=group, group_peer=stage - 1)
        received = dy[i] = torch.empty_like(y[i])
        return dist.P2POp(dist.irecv, received, group=group, group_peer=stage + 1)

    def exchange(messages: Iterable[Pair]) -> None:
        for work in dist.batch_isend_irecv([message(*one) for one in messages]):  # (c)
            work.wait()

    def compute(what: str, i: int) -> None:
        if what == "F":
            if stage > 0:
                x[i].requires_grad_()  # (a)
            y[i] = module(x[i])
            if stage == stages - 1:
                y[i] = loss(y[i], targets[i]) / len(targets)
        else:
            torch.autograd.backward(y.pop(i), dy.pop(i, None))  # (b)
            if stage > 0:
                dx[i] = gradient_of(x.pop(i))

    module.zero_grad()
    for computing, steps in groupby(stream, lambda step: step[0] in "FB"):
        if computing:
            for step in steps:
                compute(*step)
        else:
            exchange(steps)
    return [gradient_of(parameter) for parameter in module.parameters()]


def gradient_of(leaf: Tensor) -> Tensor:
    """The gradient accumulated in ``leaf``; zeros if no backward pass has reached it."""
    return torch.zeros_like(leaf) if leaf.grad is None else leaf.grad


@dataclass
class Kept:
    """What is saved between a forward pass and the end of its backward pass."""

    x: Tensor
    version: Version | None  # of the weights, if they change before the backward pass
    random: Tensor | None  # the generator's state, if the forward pass will be recomputed
    shape: tuple[int, ...] = ()  # of the output
    edge: GradientEdge | None = None  # None while activations are discarded, and if no gradient is required
    dy: Tensor | None = None  # between BackwardInput and BackwardWeights


class PipelineWorker:
    """Executes the streams of one stage. Every rank of ``group`` is a stage.

    ``chunks``: this stage's parts of the model. ``shapes``: the shape of one example of each chunk's input.
    ``optimizer``: one for all parameters of the chunks, or None if they have none. ``loss`` is called on the last place
    only. ``stash``: if the schedule updates the weights between a forward pass and its backward pass (PipeDream), keep
    the old ones for the backward pass; otherwise the backward pass uses the new ones.

    With NCCL, the group's first operation has to be one that all of its ranks take part in. Raises UsageError if chunks
    and shapes differ in number.
    """

    def __init__(
        self,
        chunks: Sequence[nn.Module],
        shapes: Sequence[Sequence[int]],
        loss: Loss,
        optimizer: torch.optim.Optimizer | None,
        group: dist.ProcessGroup | None = None,
        stash: bool = True,
    ) -> None:
        if not chunks or len(chunks) != len(shapes):
            raise UsageError(f"{len(chunks)} chunks have {len(shapes)} shapes.", "Give one example's shape for each.")
        self.chunks, self.shapes, self.loss, self.optimizer = chunks, shapes, loss, optimizer
        self.stage, self.stages = dist.get_rank(group), dist.get_world_size(group)
        self.last = self.stages * len(chunks) - 1
        self.weights = [WeightVersions(chunk, stash) for chunk in chunks]
        self.at_end = self.stage == self.stages - 1
        self.mailbox = Mailbox(group)
        self.checked: tuple[Stream, int] | None = None
        self.like = next((p for chunk in chunks for p in chunk.parameters()), torch.empty(0))

    def step(
        self, stream: Stream, sizes: Sequence[int], inputs: Sequence[Tensor] = (), targets: Sequence[Tensor] = ()
    ) -> Tensor | None:
        """Execute the stream. ``sizes``: the number of examples in each micro-batch. ``inputs`` are given on the first
        place's rank, ``targets`` on the last place's, one for each micro-batch. Returns the mean loss (summed over all
        updates) on the rank of the last place, None on the others. Gradients stay until the next step. Raises
        UsageError for a stream that this stage cannot execute."""
        self.begin(stream, sizes, inputs, targets)
        for messages, steps in groupby(stream, is_message):
            if messages:
                self.mailbox.exchange([self.message(step) for step in steps])
            else:
                for step in steps:
                    self.compute(step)
        self.mailbox.settle()
        return self.total

    def begin(self, stream: Stream, sizes: Sequence[int], inputs: Sequence[Tensor], targets: Sequence[Tensor]) -> None:
        """Prepare to execute the stream, by ``message`` and ``compute``."""
        self.check(stream, sizes, inputs, targets)
        self.sizes, self.inputs, self.targets, self.share = sizes, inputs, targets, shares(stream, sizes)
        self.again, self.stale = recomputed(stream), weight_versions(stream) > 1
        self.activations, self.gradients = dict[Key, Tensor](), dict[Key, Tensor]()
        self.kept = dict[Key, Kept]()
        self.total: Tensor | None = None
        self.updated = True

    def check(self, stream: Stream, sizes: Sequence[int], inputs: Sequence[Tensor], targets: Sequence[Tensor]) -> None:
        """Validate the arguments; the stream only once, as long as it and the number of micro-batches stay the same."""
        for needed, given, what in ((self.stage == 0, inputs, "inputs"), (self.at_end, targets, "targets")):
            if needed and len(given) != len(sizes):
                raise UsageError(
                    f"Stage {self.stage} got {what} of {len(given)} micro-batches, and sizes of {len(sizes)}.",
                    "The first stage wants the inputs of each micro-batch, the last one the targets.",
                )
        if self.checked is None or self.checked[0] is not stream or self.checked[1] != len(sizes):
            check_stage(stream, self.stage, self.stages, len(sizes), len(self.chunks))
            self.checked = stream, len(sizes)

    def message(self, step: Step) -> Message:
        """(2) (3)"""
        i, c = part(step)
        q = place(c, self.stage, self.stages)
        before, after = seat(q - 1, self.stages)[1], seat(q + 1, self.stages)[1]
        if isinstance(step, SendActivation):
            return Message(self.activations.pop((q + 1, i)), after, 0, receives=False)
        if isinstance(step, SendGradient):
            return Message(self.gradients.pop((q, i)), before, 1, receives=False)
        if isinstance(step, ReceiveActivation):
            arriving = self.activations[q, i] = self.like.new_empty((self.sizes[i], *self.shapes[c]))
            return Message(arriving, before, 0, receives=True)
        if isinstance(step, ReceiveGradient):
            arriving = self.gradients[q + 1, i] = self.like.new_empty(self.kept[q, i].shape)
            return Message(arriving, after, 1, receives=True)
        raise UsageError(f"{step!r} is no message.")

    def compute(self, step: Step) -> None:
        i, c = part(step)
        q = place(c, self.stage, self.stages)
        match step:
            case Forward():
                self.forward(q, i, c)
            case Recompute():
                self.recompute(q, i, c)
            case Backward():
                self.backward(q, i, c)
            case BackwardInput():
                self.backward_input(q, i)
            case BackwardWeights():
                self.backward_weights(q, i, c)
            case Update():
                self.update()

    # ---- forward

    def forward(self, q: int, i: int, c: int) -> None:
        """(1)"""
        x, again = self.activations.pop((q, i)) if q else self.inputs[i], (i, c) in self.again
        kept = self.kept[q, i] = Kept(
            x.requires_grad_() if q else x,
            self.weights[c].use() if self.stale else None,
            torch.get_rng_state() if again else None,
        )
        with torch.set_grad_enabled(not again):
            y = self.output(q, i, c, kept)
        kept.edge = get_gradient_edge(y) if y.requires_grad else None  # (5)
        kept.shape = y.shape
        if q == self.last:
            self.total = y.detach() if self.total is None else self.total + y.detach()
        else:
            self.activations[q + 1, i] = y.detach()

    def recompute(self, q: int, i: int, c: int) -> None:
        """Repeat the forward pass with the same random numbers."""
        kept, now = self.kept[q, i], torch.get_rng_state()
        if kept.random is not None:
            torch.set_rng_state(kept.random)
        y = self.output(q, i, c, kept)
        torch.set_rng_state(now)
        kept.edge = get_gradient_edge(y) if y.requires_grad else None

    def output(self, q: int, i: int, c: int, kept: Kept) -> Tensor:
        """The chunk's output; on the last place, the weighted loss of it."""
        y: Tensor = (kept.version or self.chunks[c])(kept.x)
        return self.loss(y, self.targets[i]) * self.share[i] if q == self.last else y  # (6)

    # ---- backward

    def backward(self, q: int, i: int, c: int) -> None:
        """(4)"""
        kept, dy = self.kept.pop((q, i)), self.output_gradient(q, i)
        if kept.edge is not None:
            torch.autograd.backward([kept.edge], [dy])
        if kept.version is not None:
            self.weights[c].release(kept.version)
        self.hand_back(q, i, kept.x, kept.x.grad)

    def backward_input(self, q: int, i: int) -> None:
        kept = self.kept[q, i]
        kept.dy = self.output_gradient(q, i)
        if q and kept.edge is not None:
            (dx,) = torch.autograd.grad([kept.edge], [kept.x], [kept.dy], retain_graph=True)
            self.hand_back(q, i, kept.x, dx)

    def backward_weights(self, q: int, i: int, c: int) -> None:
        """Autograd traverses the chunk's graph a second time here; torch.distributed.pipelining splits the graph."""
        kept = self.kept.pop((q, i))
        used = kept.version.aliases.values() if kept.version else self.chunks[c].parameters()
        weights = [p for p in used if p.requires_grad]
        if weights and kept.edge is not None and kept.dy is not None:
            torch.autograd.backward([kept.edge], [kept.dy], inputs=weights)
        if kept.version is not None:
            self.weights[c].release(kept.version)

    def output_gradient(self, q: int, i: int) -> Tensor:
        """The gradient of place q's output. The first call after an update also zeroes the parameters' gradients."""
        if self.updated and self.optimizer is not None:
            self.optimizer.zero_grad()
        self.updated = False
        return self.like.new_ones(()) if q == self.last else self.gradients.pop((q + 1, i))

    def hand_back(self, q: int, i: int, x: Tensor, dx: Tensor | None) -> None:
        if q:
            self.gradients[q, i] = torch.zeros_like(x) if dx is None else dx

    def update(self) -> None:
        if self.optimizer is None:
            return
        for weights in self.weights if self.stale else ():
            weights.before_update()
        self.optimizer.step()
        self.updated = True


# ---- messages


class Message(NamedTuple):
    """``peer``: the rank of the other end in the group. ``tag``: 0 for activations and 1 for gradients: with two stages
    they travel between the same ranks."""

    tensor: Tensor
    peer: int
    tag: int
    receives: bool


class Mailbox:
    """(7) Sends and receives the messages of one rank of ``group``."""

    def __init__(self, group: dist.ProcessGroup | None = None) -> None:
        self.group = group
        self.under_way = list[tuple[dist.Work, Tensor]]()

    def exchange(self, messages: Sequence[Message]) -> None:
        """Post the messages as one batch, and return when those to be received have arrived."""
        self.settle()
        for message, work in zip(messages, self.post(messages), strict=True):
            if message.receives:
                work.wait()
            else:
                self.under_way.append((work, message.tensor))

    def post(self, messages: Sequence[Message]) -> list[dist.Work]:
        """Post the messages as one batch. Returns what to wait for, for each of them."""
        works: list[dist.Work] = dist.batch_isend_irecv([self.operation(message) for message in messages])
        return works * len(messages) if len(works) < len(messages) else works  # NCCL has one for all of them

    def settle(self) -> None:
        """Wait until everything sent has left; its memory is free then."""
        for work, _ in self.under_way:
            work.wait()
        self.under_way.clear()

    def operation(self, message: Message) -> dist.P2POp:
        way = dist.irecv if message.receives else dist.isend
        return dist.P2POp(way, message.tensor, group=self.group, tag=message.tag, group_peer=message.peer)
