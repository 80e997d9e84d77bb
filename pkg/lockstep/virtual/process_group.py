"""One rank's end of a process group on the virtual cluster, and how it reads the arguments of a collective.

``dist.all_reduce(x)`` calls ``VirtualGroup.allreduce([x], options)``. Each such method describes the operation and
leaves the rest to the simulation. Method names changed between releases (``_allgather_base`` became
``all_gather_single``); both are bound. Private API of torch, for 2.13 to 2.15.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from lockstep.comm.operation import Operation
from lockstep.deadlock_report import ANY_SOURCE, dtype_name, member
from lockstep.errors import UsageError
from lockstep.record.argument_checks import check_not_in_place, demand
from lockstep.record.limited_waits import limit_of
from lockstep.record.tensor_support import memory_order
from lockstep.virtual import data_movement
from lockstep.virtual.data_movement import REDUCTIONS, nbytes, quietly
from lockstep.virtual.in_flight import Sent, overlaps, sent, waited_for_at_once
from lockstep.virtual.simulator_interface import Simulator
from lockstep.virtual.torch_process_state import called, mark, marked_once, profiling
from lockstep.virtual.work import VirtualWork, jointly

Tensors = Sequence[torch.Tensor]

_ProcessGroup: Any = dist.ProcessGroup  # untyped: its stubs overload every method in two ways


class VirtualGroup(_ProcessGroup):  # type: ignore[misc]
    """One rank's end of a process group."""

    def __init__(
        self,
        simulation: Simulator,
        me: int,
        ranks: Sequence[int],
        name: str,
        timeout: timedelta | None = None,
        entered: int = 1,
    ) -> None:
        """``name``: torch's, which another group may have had before the ranks ``entered`` the default group anew."""
        self._seat = ranks.index(me)
        super().__init__(self._seat, len(ranks))
        self._simulation, self._me, self._ranks, self._name = simulation, me, tuple(ranks), name
        self._unique_name = name if entered == 1 else f"{name}, entered {entered}"
        self._collectives, self._limit = 0, limit_of(timeout)

    def size(self) -> int:
        return len(self._ranks)

    def rank(self) -> int:
        return self._seat

    def getBackendName(self) -> str:
        """Not what ``get_backend`` says: for "gloo" DDP would ask for gloo's own object."""
        return "virtual"

    @property
    def _device_types(self) -> list[torch.device]:
        return [torch.device("cpu")]

    supports_coalescing, supports_splitting = False, True

    def _get_backend(self, device: torch.device) -> VirtualGroup:
        """A group is its own backend, which torch 2.15 queries for its features."""
        return self

    def split_group(self, ranks: Sequence[int], *, group_name: str, **_: Any) -> VirtualGroup | None:
        """Split the group, from torch 2.15 on. ``ranks``: in this group."""
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
        at_once = waited_for_at_once()
        operation = self._message("send", tensors[0], member(self._ranks, dst), tag)
        operation.turn = (dst - self._seat) % len(self._ranks)
        sends = [] if at_once or not self._simulation.withholds else [sent(operation.tensors)]
        if sends:
            operation.tensors, operation.copied = sends[0].as_called, sends[0].is_copy
        self._simulation.send(operation)
        return VirtualWork(self._simulation, operation, tensors, sends)

    def recv(self, tensors: Tensors, src: int, tag: int = 0) -> VirtualWork:
        return self._recv(tensors, member(self._ranks, src), tag, waited_for_at_once())

    def recv_anysource(self, tensors: Tensors, tag: int = 0) -> VirtualWork:
        if not self._simulation.rules.any_source:
            raise RuntimeError("NCCL has no receive from any source: name it, recv(x, src=...)")
        return self._recv(tensors, ANY_SOURCE, tag, waited_for_at_once())

    def _recv(self, tensors: Tensors, source: int, tag: int, at_once: bool) -> VirtualWork:
        operation = self._message("recv", tensors[0], source, tag)
        receives = self._withheld(operation, [operation.tensors], at_once)
        self._simulation.recv(operation)
        return VirtualWork(self._simulation, operation, tensors, receives=receives)

    def _withheld(self, operation: Operation, outputs: Tensors, at_once: bool, inputs: Tensors = ()) -> Tensors:
        """The buffers into which the operation writes only when the rank waits for it."""
        operation.withheld = self._simulation.withholds and not at_once
        if operation.withheld and self._simulation.strict:
            for tensor in outputs:
                if not overlaps(tensor, inputs):
                    data_movement.spoil(tensor)
        return outputs if operation.withheld else ()

    def _message(self, kind: str, tensor: torch.Tensor, peer: int, tag: int) -> Operation:
        check_tag(tag)
        check_contiguous(tensor)
        if profiling():
            label = "recvAnySource" if peer == ANY_SOURCE else kind
            mark(f"{called(self)}:{label}", [tensor])
        operation = self._simulation.new_operation(
            self._me, kind, nbytes(tensor), peer, self._ranks, self._unique_name, tag, detached(tensor)
        )
        operation.limit = self._limit
        return operation

    # ---- collectives

    def allreduce(self, tensors: Tensors, opts: Any = None) -> VirtualWork:
        operator = reduction(opts)
        move = functools.partial(data_movement.all_reduce, operator=operator)
        return self._collective("all_reduce", move, tensors, tensors, operator=operator, opts=opts)

    def allreduce_coalesced(self, tensors: Tensors, opts: Any = None) -> VirtualWork:
        for tensor in tensors:
            check_coalesced(tensor)
        return self.allreduce(tensors, opts)

    def reduce(self, tensors: Tensors, opts: Any) -> VirtualWork:
        operator = reduction(opts)
        move = functools.partial(data_movement.reduce, operator=operator, root=opts.rootRank)
        return self._collective("reduce", move, tensors, tensors, operator=operator, root=opts.rootRank, opts=opts)

    def broadcast(self, tensors: Tensors, opts: Any) -> VirtualWork:
        move = functools.partial(data_movement.broadcast, root=opts.rootRank)
        return self._collective("broadcast", move, tensors, tensors, root=opts.rootRank, opts=opts)

    def scatter(self, outputs: Tensors, inputs: Sequence[Tensors], opts: Any) -> VirtualWork:
        move = functools.partial(data_movement.scatter, root=opts.rootRank)
        pieces = inputs[0] if inputs else []
        return self._collective("scatter", move, outputs, pieces, like=outputs[:1], root=opts.rootRank, opts=opts)

    def gather(self, outputs: Sequence[Tensors], inputs: Tensors, opts: Any) -> VirtualWork:
        move = functools.partial(data_movement.gather, root=opts.rootRank)
        slots = outputs[0] if outputs else []
        return self._collective("gather", move, slots, inputs, like=inputs[:1], root=opts.rootRank, opts=opts)

    def allgather(self, outputs: Sequence[Tensors], inputs: Tensors, opts: Any = None) -> VirtualWork:
        return self._collective("all_gather", data_movement.all_gather, outputs[0], inputs, like=inputs[:1], opts=opts)

    def all_gather_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any = None) -> VirtualWork:
        return self._collective(
            "all_gather", data_movement.all_gather_into_tensor, [output], [input], like=[input], opts=opts
        )

    def reduce_scatter(self, outputs: Tensors, inputs: Sequence[Tensors], opts: Any = None) -> VirtualWork:
        operator = reduction(opts)
        move = functools.partial(data_movement.reduce_scatter, operator=operator)
        return self._collective("reduce_scatter", move, outputs, inputs[0], operator=operator, opts=opts)

    def reduce_scatter_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any = None) -> VirtualWork:
        operator = reduction(opts)
        move = functools.partial(data_movement.reduce_scatter_tensor, operator=operator)
        return self._collective("reduce_scatter", move, [output], [input], like=[output], operator=operator, opts=opts)

    def alltoall(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> VirtualWork:
        return self._collective(
            "all_to_all", data_movement.all_to_all, outputs, inputs, like=[inputs[0].new_empty(0)], opts=opts
        )

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
        if self.size() > 1:
            check_not_in_place(input, output)
        outputs = split(output, output_sizes, self.size(), "output")
        return self.alltoall(outputs, split(input, input_sizes, self.size(), "input"), opts)

    def barrier(self, opts: Any = None) -> VirtualWork:
        work = self._collective("barrier", data_movement.nothing, [], [], opts=opts)
        work.limit(getattr(opts, "timeout", None))
        return work

    def monitored_barrier(self, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
        """Rank 0 waits for the others, and names those that are missing after ``timeout``; the others wait for rank 0.
        Without a timeout who is missing is told as a deadlock."""
        work = self._collective("barrier", data_movement.nothing, [], [])
        work.wait_monitored(timeout, wait_all_ranks)

    # ---- several at once: each counts as an operation of its own

    def allgather_coalesced(self, outputs: Sequence[Tensors], inputs: Tensors, opts: Any = None) -> VirtualWork:
        """``outputs``: for each rank a list."""
        with marked_once(f"{called(self)}:all_gather", inputs):
            return jointly([self.allgather([list(o)], [i], opts) for *o, i in zip(*outputs, inputs, strict=True)])

    def all_gather_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> VirtualWork:
        with marked_once(f"{called(self)}:all_gather", inputs):
            return jointly([self.all_gather_single(o, i, opts) for o, i in zip(outputs, inputs, strict=True)])

    def reduce_scatter_single_coalesced(self, outputs: Tensors, inputs: Tensors, opts: Any = None) -> VirtualWork:
        with marked_once(f"{called(self)}:reduce_scatter", inputs):
            return jointly([self.reduce_scatter_single(o, i, opts) for o, i in zip(outputs, inputs, strict=True)])

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
        opts: Any = None,
    ) -> VirtualWork:
        """Join the group's next collective. ``like``: a tensor whose size and dtype must agree between the ranks."""
        backend = "nccl" if self._simulation.rules.name == "nccl" else "gloo"
        demand(kind, inputs, outputs, len(self._ranks), operator, backend)
        if profiling():
            mark(f"{called(self)}:{kind}", inputs)
        payload = max(sum(map(nbytes, outputs)), sum(map(nbytes, inputs)))
        fits = tuple((t.numel(), dtype_name(t.dtype) + memory_order(t)) for t in (inputs if like is None else like))
        peer = None if root is None else member(self._ranks, root)
        tensors = list(map(detached, outputs)), list(map(detached, inputs))
        part = self._simulation.new_operation(self._me, kind, payload, peer, self._ranks, self._unique_name, 0, tensors)
        part.reduction, part.fits, part.limit = operator, fits, self._limit
        if kind == "all_to_all":
            part.sends, part.takes = tuple(t.numel() for t in inputs), tuple(t.numel() for t in outputs)
        sends: list[Sent] = []
        receives = self._withheld(part, tensors[0], not getattr(opts, "asyncOp", True), tensors[1])
        if part.withheld:
            sends = [sent(t) for t in tensors[1]]
            part.tensors = tensors[0], [s.as_called for s in sends]
        self._collectives += 1
        self._simulation.join(part, self._collectives, move)
        return VirtualWork(self._simulation, part, outputs, sends, receives)


# ---- the arguments of collectives, as torch.distributed passes them


def detached(tensor: torch.Tensor) -> torch.Tensor:
    return quietly(torch.Tensor.detach)(tensor) if tensor.requires_grad else tensor


def check_coalesced(tensor: torch.Tensor) -> None:
    """Raise ValueError for a tensor that an all_reduce of several, coalesced, does not take; a single one does."""
    if tensor.layout is not torch.strided:
        told = f"takes no tensor of layout {dtype_name(tensor.layout)}: reduce it alone, by dist.all_reduce(x)"
        raise ValueError(f"all_reduce_coalesced {told}")
    if tensor.requires_grad and tensor.is_leaf:
        raise ValueError("all_reduce_coalesced takes no leaf that requires a gradient: give it x.detach()")


def check_contiguous(tensor: torch.Tensor) -> None:
    """Raise ValueError for a tensor that is not contiguous, or not dense, as gloo and NCCL do."""
    if tensor.layout is not torch.strided:
        raise ValueError(f"this tensor has the layout {dtype_name(tensor.layout)}: send x.to_dense() instead")
    if tensor.is_quantized:
        raise ValueError("this tensor is quantised: send x.int_repr() instead, and its scale and zero point")
    if not tensor.is_contiguous():
        shape = tuple(tensor.shape)
        raise ValueError(
            f"this tensor (shape {shape}) is not contiguous: send x.contiguous() instead; receive into a new tensor "
            "that is, and not into x.contiguous(), which would be a copy"
        )


def check_tag(tag: int) -> None:
    """Raise ValueError for what gloo cannot send."""
    if not 0 <= tag < 1 << 31:
        raise ValueError(f"a tag must be from 0 to 2**31 - 1, and not {tag}")


def split(tensor: torch.Tensor, sizes: Sequence[int] | None, ranks: int, what: str) -> list[torch.Tensor]:
    """The pieces of all_to_all_single along dimension 0, as views."""
    rows = tensor.shape[0]
    if sizes:
        return list(torch.split(tensor, list(sizes)))
    if rows % ranks:
        raise UsageError(f"all_to_all_single cannot cut {rows} rows of its {what} into {ranks} equal pieces.")
    return list(torch.split(tensor, rows // ranks)) if rows else [tensor] * ranks


def reduction(opts: Any) -> str:
    """The reduction in an options object: "SUM", "MAX" ... or, with the factor in front, "0.5·SUM"."""
    operator: Any = getattr(opts, "reduceOp", dist.ReduceOp.SUM)
    name = str(getattr(operator, "op", operator)).rsplit(".", 1)[-1]
    if name == "PREMUL_SUM":  # NCCL's: fully_shard divides gradients with it
        return f"{float(operator.factor)!r}·SUM"
    if name not in REDUCTIONS:
        raise UsageError(f"The virtual cluster has no reduction {name}; it has {', '.join(REDUCTIONS)}.")
    return name
