"""What a rank of the grid does: unit 09's pipeline worker, whose chunks are unit 10's, and the sums of unit 05 and 08.

    message      without sequence parallelism every rank of a tensor group has the whole activation: each sends its 1/tp
                 of it to its peer of the next stage, and they gather it there, inside the node
                 (Narayanan et al., SC 2021, arXiv:2104.04473, section 4.1)
    loss         each micro-batch counts 1/(m·dp) of its mean, and a rank's positions their part of cp of that, so that
                 the sum of all gradients is that of the mean

The same worker runs on ranks, with data or without, and on tape.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import prod
from typing import overload

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import functional as F

from lockstep.hybrid.chunk_state import ChunkState
from lockstep.hybrid.gpt_chunk import GPTChunk, Groups, loss_of
from lockstep.hybrid.grid import GROUPS, GPTSize, Grid
from lockstep.hybrid.instructions import (
    Act,
    Await,
    OfChunk,
    Post,
    ReduceGradients,
    UpdateWeights,
    ZeroGradients,
    last_passes,
    program,
)
from lockstep.pipeline.instructions import (
    RECEIVES,
    Backward,
    BackwardWeights,
    Instruction,
    ReceiveActivation,
    Step,
    Stream,
    place,
)
from lockstep.pipeline.schedule_costs import part
from lockstep.pipeline.worker import Message, PipelineWorker
from lockstep.tensor_parallel.dropout import Streams
from lockstep.tensor_parallel.f_and_g import share


class MicroBatches(Sequence[Tensor]):
    """The tokens (b, T) of each micro-batch of a replica, made when they are asked for; ``shift`` 1: the following
    ones, which are to be predicted."""

    def __init__(self, model: GPTSize, grid: Grid, micro_batches: int, replica: int, shift: int) -> None:
        self.model, self.b, self.m, self.data = model, grid.micro_batch, micro_batches, replica // grid.cp
        mine = share(model.seq, grid.cp, replica % grid.cp)
        self.mine = slice(mine.start + shift, mine.stop + shift)

    def __len__(self) -> int:
        return self.m

    @overload
    def __getitem__(self, i: int) -> Tensor: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Tensor]: ...
    def __getitem__(self, i: int | slice) -> Tensor | Sequence[Tensor]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(self.m))]
        n, first = self.model.seq + 1, (self.data * self.m + i) * self.b
        text = torch.arange(self.b * n).add_(first * n).mul_(7).remainder_(self.model.vocab).view(self.b, n)
        return text[:, self.mine]


class GridWorker(PipelineWorker):
    """One rank. ``groups``: the process group of each axis. ``chunks``: how many its stage has."""

    def __init__(self, model: GPTSize, grid: Grid, chunks: int, groups: Groups, seed: int = 0) -> None:
        self.model, self.grid, self.groups = model, grid, dict(groups)
        stage, stages = dist.get_rank(groups["pp"]), dist.get_world_size(groups["pp"])
        self.tensor, self.replica = dist.get_rank(groups["tp"]), dist.get_rank(groups["dp"])
        streams = Streams(1000 * (seed + stage) + 7 * self.replica, groups["tp"])
        places = [place(c, stage, stages) for c in range(chunks)]
        parts = [GPTChunk(model, grid, at, stages * chunks, groups, streams) for at in places]
        self.states = [ChunkState(part, self.groups, grid) for part in parts]
        mine = share(model.seq, grid.cp, self.replica % grid.cp)
        self.positions: int = mine.stop - mine.start
        length = self.positions // (grid.tp if grid.sequence_parallel else 1)
        self.whole = (grid.micro_batch, length, model.hidden)
        super().__init__(parts, [self.whole[1:]] * chunks, self._loss, None, groups["pp"], stash=False)
        self.travelling: dict[Instruction, tuple[dist.Work, Tensor]] = {}
        self.no_loss = torch.zeros(()) if self.at_end else None  # losses are added to it: no micro-batch is special

    def prepare(self, stream: Stream, micro_batches: int) -> list[Act]:
        """Begin a step; returns what is to be done in it."""
        inputs, targets = (MicroBatches(self.model, self.grid, micro_batches, self.replica, shift) for shift in (0, 1))
        sizes = [self.grid.micro_batch] * micro_batches
        self.begin(stream, sizes, inputs if self.stage == 0 else [], targets if self.at_end else [])
        self.total = self.no_loss
        acts = program(stream, len(self.chunks))
        self.lasts = last_passes(acts) if self.grid.overlap else {}
        return acts

    def train(self, stream: Stream, micro_batches: int) -> Tensor | None:
        """A whole step. Returns this rank's summand of the mean loss on the last stage."""
        for are_posts, acts in groupby(self.prepare(stream, micro_batches), lambda act: isinstance(act, Post)):
            if are_posts:
                self.post([act.message for act in acts if isinstance(act, Post)])
            else:
                for act in acts:
                    self.act(act)
        return self.total

    def act(self, act: Act) -> None:
        """Carry out one instruction."""
        match act:
            case Post():
                self.post([act.message])
            case Await():
                self.wait(act.message)
            case ZeroGradients():
                self.states[act.chunk].zero()
            case ReduceGradients():
                self.states[act.chunk].reduce()
            case UpdateWeights():
                self.states[act.chunk].update()
            case OfChunk():
                raise TypeError(act)
            case _:
                if self.lasts.get(act.chunk) is act:
                    self.states[act.chunk].sum_in_next_backward()
                self.compute(act)
                if isinstance(act, (Backward, BackwardWeights)):
                    self.states[act.chunk].end_of_pass()

    # ---- messages

    def post(self, messages: Sequence[Instruction]) -> None:
        made = [self.message(message) for message in messages]
        for message, parcel, work in zip(messages, made, self.mailbox.post(made), strict=True):
            self.travelling[message] = work, parcel.tensor

    def wait(self, message: Instruction) -> None:
        work, tensor = self.travelling.pop(message)
        work.wait()
        if isinstance(message, RECEIVES):
            i, c = part(message)
            q = place(c, self.stage, self.stages)
            if isinstance(message, ReceiveActivation):
                self.activations[q, i] = self.gathered(tensor)
            else:
                self.gradients[q + 1, i] = self.gathered(tensor)

    def message(self, step: Step) -> Message:
        if isinstance(step, RECEIVES):
            back = isinstance(step, ReceiveActivation)
            peer = (self.stage + (-1 if back else 1)) % self.stages
            return Message(self.like.new_empty(self.piece), peer, 0 if back else 1, receives=True)
        message = super().message(step)
        flat, numbers = message.tensor.flatten(), self.piece * self.pieces
        if len(flat) < numbers:
            flat = F.pad(flat, (0, numbers - len(flat)))
        return message._replace(tensor=torch.split(flat, self.piece)[self.tensor % self.pieces])

    @property
    def pieces(self) -> int:
        """In how many of them an activation travels that all ranks of the tensor group have."""
        return 1 if self.grid.sequence_parallel else self.grid.tp

    @property
    def piece(self) -> int:
        """Numbers of a piece; the last one may be padded."""
        return -(-prod(self.whole) // self.pieces)

    def gathered(self, piece: Tensor) -> Tensor:
        if self.pieces == 1:
            return piece.view(self.whole)
        whole: Tensor = piece.new_empty(self.pieces * len(piece))
        dist.all_gather_into_tensor(whole, piece, group=self.groups["tp"])
        return whole[: prod(self.whole)].view(self.whole)

    def _loss(self, scores: Tensor, targets: Tensor) -> Tensor:
        parts = self.grid.dp * self.model.seq / self.positions
        return loss_of(scores, targets, self.model.vocab, self.groups["tp"]) / parts


def groups_of(grid: Grid) -> dict[str, dist.ProcessGroup]:
    """The calling rank's process group on each axis. All ranks must call it."""
    me, groups = dist.get_rank(), dict[str, dist.ProcessGroup]()
    for axis in GROUPS:
        for ranks in sorted({grid.group(axis, r) for r in range(grid.ranks)}):
            group = dist.new_group(list(ranks))
            if me in ranks and isinstance(group, dist.ProcessGroup):
                groups[axis] = group
    return groups
