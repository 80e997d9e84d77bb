"""A rank of a pipeline: it executes the stream of its stage, whatever schedule that is, with plain torch.distributed.

    q                     a place: where a chunk stands in the model, chunk·p + stage
    activations[q, i]     the input of place q for micro-batch i; for q > 0 it is the output of place q - 1
    gradients[q, i]       the gradient of that input
    kept[q, i]            what the backward pass of place q needs of micro-batch i

        activations[q, i]  ──(1) Forward──>   activations[q+1, i]  ──(2) SendActivation──>  the next place's rank
                                 │
                             kept[q, i]
                                 │
        gradients[q, i]    <──(4) Backward──  gradients[q+1, i]  <──(3) ReceiveGradient──  the next place's rank

(5) An output is not kept for its backward pass: the edge of autograd's graph is enough. Its memory is free as soon as
    it is sent, unless the graph has saved it.
(6) The loss of a micro-batch counts by its number of examples. So the gradients that are added up between two updates
    are those of the mean over all of their examples, even if micro-batches are of different sizes.

With one stage nothing is sent, and the rest is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

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
from lockstep.pipeline.mailbox import Mailbox, Message
from lockstep.pipeline.schedule_costs import part, recomputed, shares, weight_versions
from lockstep.pipeline.stashing import Version, WeightVersions
from lockstep.pipeline.validate import check_stage

Loss = Callable[[Tensor, Tensor], Tensor]  # (output, target) -> the mean loss of these examples
Key = tuple[int, int]  # place, micro-batch


@dataclass
class Kept:
    """From a forward pass until its backward pass is over."""

    x: Tensor
    version: Version | None  # of the weights, where they change before the backward pass
    random: Tensor | None  # the generator's state, where the forward pass has to be computed again
    shape: tuple[int, ...] = ()  # of the output
    edge: GradientEdge | None = None  # None while the activations are thrown away, and where nothing has a gradient
    dy: Tensor | None = None  # between BackwardInput and BackwardWeights


class PipelineWorker:
    """``chunks``: this stage's parts of the model. ``shapes``: of one example of each chunk's input. ``optimizer``: one
    for all parameters of the chunks, or None if they have none. ``loss`` is called on the last place only.

    ``stash``: where the schedule changes the weights between a forward pass and its backward pass (PipeDream), keep the
    old ones for the backward pass. Without it the backward pass meets the new ones.

    Every rank of ``group`` is a stage. (With NCCL, the group's first operation has to be one of all its ranks.)
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
        """Execute the stream. ``sizes``: how many examples each micro-batch has. ``inputs``, on the first place's rank,
        and ``targets``, on the last place's: those of each micro-batch. The last place's rank gets the mean loss (the
        sum of those of all updates), the others None. Gradients stay until the next step. Raises UsageError."""
        self.check(stream, sizes, inputs, targets)
        self.sizes, self.targets, self.share = sizes, targets, shares(stream, sizes)
        self.again, self.stale = recomputed(stream), weight_versions(stream) > 1
        self.activations: dict[Key, Tensor] = {(0, i): x for i, x in enumerate(inputs)}
        self.gradients, self.kept = dict[Key, Tensor](), dict[Key, Kept]()
        self.total: Tensor | None = None
        self.updated = True
        for messages, steps in groupby(stream, is_message):
            if messages:
                self.mailbox.exchange([self.message(step) for step in steps])
            else:
                for step in steps:
                    self.compute(step)
        self.mailbox.settle()
        return self.total

    def check(self, stream: Stream, sizes: Sequence[int], inputs: Sequence[Tensor], targets: Sequence[Tensor]) -> None:
        """The stream once, as long as it and the number of micro-batches stay the same."""
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
        x, again = self.activations.pop((q, i)), (i, c) in self.again
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
        """The same forward pass again, with the same random numbers."""
        kept, now = self.kept[q, i], torch.get_rng_state()
        if kept.random is not None:
            torch.set_rng_state(kept.random)
        y = self.output(q, i, c, kept)
        torch.set_rng_state(now)
        kept.edge = get_gradient_edge(y) if y.requires_grad else None

    def output(self, q: int, i: int, c: int, kept: Kept) -> Tensor:
        """What the chunk makes of its input; on the last place the loss of that."""
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
        """autograd goes through the chunk a second time for this; torch.distributed.pipelining cuts its graph."""
        kept = self.kept.pop((q, i))
        used = kept.version.aliases.values() if kept.version else self.chunks[c].parameters()
        weights = [p for p in used if p.requires_grad]
        if weights and kept.edge is not None and kept.dy is not None:
            torch.autograd.backward([kept.edge], [kept.dy], inputs=weights)
        if kept.version is not None:
            self.weights[c].release(kept.version)

    def output_gradient(self, q: int, i: int) -> Tensor:
        """Gradients begin anew after each update."""
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
