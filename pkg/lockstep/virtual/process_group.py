"""One rank's end of a process group on the virtual cluster.

``dist.all_reduce(x)`` calls ``VirtualGroup.allreduce([x], options)``; each such method says what the operation is
and leaves the rest to the simulation. Method names changed between releases (``_allgather_base`` became
``all_gather_single``); both are bound. Private API of torch, for 2.13 to 2.15.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.distributed as dist

from lockstep.comm.operation import Operation
from lockstep.deadlock_report import ANY_SOURCE, dtype_name, member
from lockstep.record.demands import demand
from lockstep.virtual import movement
from lockstep.virtual.arguments import check_contiguous, detached, nbytes, reduction, split
from lockstep.virtual.movement import quietly
from lockstep.virtual.profilers import mark, profiling
from lockstep.virtual.protocol import Simulator
from lockstep.virtual.work import VirtualWork

Tensors = Sequence[torch.Tensor]

_ProcessGroup: Any = dist.ProcessGroup  # untyped: its stubs overload every method in two ways


class VirtualGroup(_ProcessGroup):  # type: ignore[misc]
    """One rank's end of a process group."""

    def __init__(self, simulation: Simulator, me: int, ranks: Sequence[int], name: str) -> None:
        self._seat = ranks.index(me)
        super().__init__(self._seat, len(ranks))
        self._simulation, self._me, self._ranks, self._name = simulation, me, tuple(ranks), name
        self._collectives = 0

    def size(self) -> int:
        return len(self._ranks)

    def rank(self) -> int:
        return self._seat

    def getBackendName(self) -> str:
        return "virtual"

    @property
    def _device_types(self) -> list[torch.device]:
        return [torch.device("cpu")]

    supports_coalescing, supports_splitting = False, True

    def _get_backend(self, device: torch.device) -> VirtualGroup:
        """A group is its own backend: 2.15 asks what it supports."""
        return self

    def split_group(self, ranks: Sequence[int], *, group_name: str, **_: Any) -> VirtualGroup | None:
        """From 2.15 on any group may be split. ``ranks``: of this group."""
        mine = [self._ranks[r] for r in ranks]
        return VirtualGroup(self._simulation, self._me, mine, group_name) if self._me in mine else None

    def get_group_store(self) -> Any:
        return self._simulation.store

    @property
    def pg_name(self) -> str:
        return self._name

    @property
    def group_name(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"VirtualGroup(ranks={list(self._ranks)})"

    # ---- point to point: dst and src are ranks of the group

    def send(self, tensors: Tensors, dst: int, tag: int = 0) -> VirtualWork:
        operation = self._message("send", tensors[0], member(self._ranks, dst), tag)
        operation.turn = (dst - self._seat) % len(self._ranks)
        kept = movement.kept(operation.tensors)
        self._simulation.send(operation)
        return VirtualWork(self._simulation, operation, tensors, kept)

    def recv(self, tensors: Tensors, src: int, tag: int = 0) -> VirtualWork:
        return self._recv(tensors, member(self._ranks, src), tag)

    def recv_anysource(self, tensors: Tensors, tag: int = 0) -> VirtualWork:
        if not self._simulation.rules.any_source:
            raise RuntimeError("NCCL has no receive from any source: name it, recv(x, src=...)")
        return self._recv(tensors, ANY_SOURCE, tag)

    def _recv(self, tensors: Tensors, source: int, tag: int) -> VirtualWork:
        operation = self._message("recv", tensors[0], source, tag)
        self._simulation.recv(operation)
        return VirtualWork(self._simulation, operation, tensors)

    def _message(self, kind: str, tensor: torch.Tensor, peer: int, tag: int) -> Operation:
        check_contiguous(tensor)
        if profiling():
            mark(kind)
        return self._simulation.new_operation(
            self._me, kind, nbytes(tensor), peer, self._ranks, self._name, tag, detached(tensor)
        )

    # ---- collectives

    def allreduce(self, tensors: Tensors, opts: Any = None) -> VirtualWork:
        operator = reduction(opts)
        move = functools.partial(movement.all_reduce, operator=operator)
        return self._collective("all_reduce", move, tensors, tensors, operator=operator)

    allreduce_coalesced = allreduce

    def reduce(self, tensors: Tensors, opts: Any) -> VirtualWork:
        operator = reduction(opts)
        move = functools.partial(movement.reduce, operator=operator, root=opts.rootRank)
        return self._collective("reduce", move, tensors, tensors, operator=operator, root=opts.rootRank)

    def broadcast(self, tensors: Tensors, opts: Any) -> VirtualWork:
        move = functools.partial(movement.broadcast, root=opts.rootRank)
        return self._collective("broadcast", move, tensors, tensors, root=opts.rootRank)

    def scatter(self, outputs: Tensors, inputs: Sequence[Tensors], opts: Any) -> VirtualWork:
        move = functools.partial(movement.scatter, root=opts.rootRank)
        pieces = inputs[0] if inputs else []
        return self._collective("scatter", move, outputs, pieces, like=outputs[:1], root=opts.rootRank)

    def gather(self, outputs: Sequence[Tensors], inputs: Tensors, opts: Any) -> VirtualWork:
        move = functools.partial(movement.gather, root=opts.rootRank)
        slots = outputs[0] if outputs else []
        return self._collective("gather", move, slots, inputs, like=inputs[:1], root=opts.rootRank)

    def allgather(self, outputs: Sequence[Tensors], inputs: Tensors, opts: Any = None) -> VirtualWork:
        return self._collective("all_gather", movement.all_gather, outputs[0], inputs, like=inputs[:1])

    def all_gather_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any = None) -> VirtualWork:
        return self._collective("all_gather", movement.all_gather_into_tensor, [output], [input], like=[input])

    def reduce_scatter(self, outputs: Tensors, inputs: Sequence[Tensors], opts: Any = None) -> VirtualWork:
        operator = reduction(opts)
        move = functools.partial(movement.reduce_scatter, operator=operator)
        return self._collective("reduce_scatter", move, outputs, inputs[0], operator=operator)

    def reduce_scatter_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any = None) -> VirtualWork:
        operator = reduction(opts)
        move = functools.partial(movement.reduce_scatter_tensor, operator=operator)
        return self._collective("reduce_scatter", move, [output], [input], like=[output], operator=operator)

    def alltoall(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> VirtualWork:
        return self._collective("all_to_all", movement.all_to_all, outputs, inputs, like=[inputs[0].new_empty(0)])

    @quietly
    def all_to_all_single(
        self,
        output: torch.Tensor,
        input: torch.Tensor,
        output_sizes: Sequence[int] | None = None,
        input_sizes: Sequence[int] | None = None,
        opts: Any = None,
    ) -> VirtualWork:
        check_contiguous(input)
        check_contiguous(output)
        outputs = split(output, output_sizes, self.size(), "output")
        return self.alltoall(outputs, split(input, input_sizes, self.size(), "input"), opts)

    def barrier(self, opts: Any = None) -> VirtualWork:
        return self._collective("barrier", movement.nothing, [], [])

    # ---- several at once: each counts as an operation of its own

    def allgather_coalesced(self, outputs: Sequence[Tensors], inputs: Tensors, opts: Any = None) -> VirtualWork:
        """``outputs``: for each rank a list."""
        return [self.allgather([list(o)], [i]) for *o, i in zip(*outputs, inputs, strict=True)][-1]

    def all_gather_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> VirtualWork:
        return [self.all_gather_single(o, i) for o, i in zip(outputs, inputs, strict=True)][-1]

    def reduce_scatter_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> VirtualWork:
        return [self.reduce_scatter_single(o, i, opts) for o, i in zip(outputs, inputs, strict=True)][-1]

    # ---- the names that torch used before 2.13

    _allgather_base = all_gather_single
    _reduce_scatter_base = reduce_scatter_single
    alltoall_base = all_to_all_single
    allgather_into_tensor_coalesced = all_gather_single_coalesced
    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    @quietly
    def _collective(
        self,
        kind: str,
        move: Callable[[list[Operation]], None],
        outputs: Tensors,
        inputs: Tensors,
        like: Tensors | None = None,
        operator: str = "",
        root: int | None = None,
    ) -> VirtualWork:
        """Join the group's next collective. ``like``: a tensor whose size and dtype must agree between the ranks."""
        demand(kind, inputs, outputs, len(self._ranks))
        if profiling():
            mark(kind)
        payload = max(sum(map(nbytes, outputs)), sum(map(nbytes, inputs)))
        fits = tuple((t.numel(), dtype_name(t.dtype)) for t in (inputs if like is None else like))
        peer = None if root is None else member(self._ranks, root)
        tensors = list(map(detached, outputs)), list(map(detached, inputs))
        part = self._simulation.new_operation(self._me, kind, payload, peer, self._ranks, self._name, 0, tensors)
        part.reduction, part.fits = operator, fits
        if kind == "all_to_all":
            part.sends, part.takes = tuple(t.numel() for t in inputs), tuple(t.numel() for t in outputs)
        self._collectives += 1
        self._simulation.join(part, self._collectives, move)
        return VirtualWork(self._simulation, part, outputs)
