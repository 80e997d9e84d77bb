"""Records every c10d operation of a rank's process: plain ``dist`` calls, functional collectives, and the traffic of
DDP, FSDP and DTensor. An operation is recorded when it is posted, as the public operation that it is.

Its ``end`` is when a wait returned, or when it was first observed to be complete, whichever came first.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from lockstep import places
from lockstep.comm.operation import Operation
from lockstep.deadlock_report import ANY_SOURCE, member
from lockstep.events import POINT_TO_POINT
from lockstep.record import journal as entries
from lockstep.record.argument_checks import demand
from lockstep.record.c10d_operators import kind_of, payload, pieces, signature, tensors, what_moves, what_must_agree
from lockstep.record.future_callbacks import Callbacks
from lockstep.record.limited_waits import NEVER, ends_by_itself, limit_of, limit_of_group
from lockstep.record.polls import Questions
from lockstep.record.reduce_ops import Reductions
from lockstep.record.started_threads import Started
from lockstep.residency import Hooks, Residency

PRODUCTS = (torch.ops.aten.mm, torch.ops.aten.addmm, torch.ops.aten.bmm, torch.ops.aten.baddbmm)


class Recorder:
    """A context that records this process's communication as ``operations`` of ``rank``. ``began``: the run's beginning
    on ``time.monotonic``.

    ``journal`` is called with each entry as bytes, so that it can be read when the process is dead or stuck; ``replay``
    turns the bytes into ``operations``.
    """

    def __init__(
        self,
        rank: int,
        began: float,
        journal: Callable[[bytes], object] | None = None,
        residency: Residency | None = None,
    ) -> None:
        self.operations: list[Operation] = []
        self.residency = residency or Residency(self.now)
        self._rank, self._began, self._journal = rank, began, journal
        self._works: dict[int, tuple[Any, list[int]]] = {}  # by id of the Work: it, and its operations
        self._done: dict[int, list[int]] = {}  # observed to be complete before they were waited for
        self._running: dict[int, tuple[Any, list[int]]] = {}  # collectives that may have completed since
        self._results: dict[int, list[int]] = {}  # functional collectives, by the storage of their result
        self._groups: dict[str, tuple[int, ...]] = {}
        self._carriers: dict[str, dict[str, str]] = {}  # by group: the backend for the tensors of each device
        self._limits: dict[str, float] = {}  # by group: the seconds for which it lets an operation wait
        self._waiters: set[int] = set()  # threads in a wait, where the backend allocates for itself
        self._flops, self._flops_before = 0, list[int]()  # issued so far; and before each operation was posted
        self._lock, self._is_completed = threading.Lock(), dist.Work.is_completed
        self._questions = Questions(self._note, journal)
        self._watches, self._reductions = ExitStack(), Reductions()

    def now(self) -> float:
        return time.monotonic() - self._began

    def __enter__(self) -> Recorder:
        """Record this thread, threads that it starts, callbacks of Futures in threads of the backend, and all waits."""
        torch_wait = self._wait = dist.Work.wait

        def wait(work: Any, timeout: timedelta = timedelta(0)) -> Any:
            return self._waited(work, lambda: torch_wait(work, timeout), limit_of(timeout))

        def is_completed(work: Any) -> bool:
            return self._polled(work)

        dist.Work.wait, dist.Work.is_completed = wait, is_completed  # type: ignore[assignment,method-assign]
        others = Started(lambda: RecorderMode(self)), Callbacks(RecorderMode, lambda: RecorderMode(self))
        for watch in (*others, self._reductions, Hooks(lambda: self.residency), RecorderMode(self)):
            self._watches.enter_context(watch)
        return self

    def __exit__(self, *error: Any) -> None:
        self._watches.close()
        dist.Work.wait, dist.Work.is_completed = self._wait, self._is_completed  # type: ignore[method-assign]
        self._look()

    def see(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Execute an operation, and record its communication and the memory of the tensors that it creates."""
        if self._running:
            self._look()
        if self._questions.number:
            self._questions.over()
        namespace = func.namespace
        if namespace in ("c10d", "_c10d_functional"):
            out = self._communicate(func, args, kwargs)
        else:
            out = func(*args, **kwargs)
            if func._overloadpacket in PRODUCTS:
                self._flops += int(flop_registry[func._overloadpacket](*args, **kwargs, out_val=out))
        if namespace != "c10d" and type(out) is not FakeTensor and threading.get_ident() not in self._waiters:
            self.residency.see(func, args, out)
        return out

    # ---- posting

    def _communicate(self, func: Any, args: Any, kwargs: Any) -> Any:
        name, parameters = signature(func)
        given = dict(zip(parameters, args, strict=False)) | kwargs
        if name == "waittensor":
            key = given["tensor"].untyped_storage()._cdata
            return self._timed(self._results.pop(key, []), lambda: func(*args, **kwargs))
        parts = self._read(name, given)
        mine = [self._post(o) for o in parts]
        if name.startswith("monitored"):
            return self._timed(mine, lambda: func(*args, **kwargs), limit_of(timedelta(milliseconds=given["timeout"])))
        out = func(*args, **kwargs)
        if mine:
            self._expect(out, mine)
        return out

    def _read(self, name: str, given: dict[str, Any]) -> list[Operation]:
        if name == "batchp2pops":
            rows = zip(given["op_list"], given["peer_list"], given["tag_list"], given["tensors"], strict=True)
            group = {"group_name": given["group_name"]}
            return [
                o for op, dst, tag, t in rows for o in self._read(op, {"dst": dst, "tag": tag, "tensor": t, **group})
            ]
        kind = kind_of(name)
        if kind is None:
            return []
        return [self._operation(kind, given, ins, outs) for ins, outs in what_moves(name, kind, given)]

    def _operation(self, kind: str, given: dict[str, Any], ins: Sequence[Any], outs: Sequence[Any]) -> Operation:
        group_name, group = self._group(given)
        reduction, backend = self._reductions.of(given), carrier(self._carriers[group_name], (*ins, *outs))
        if kind not in POINT_TO_POINT:
            demand(kind, ins, outs, len(group), reduction, backend)
        peer = next((given[a] for a in ("dst", "src", "root_rank") if a in given), None)
        if peer is not None:
            peer = member(group, peer)
        elif kind == "recv":
            peer = ANY_SOURCE
        operation = Operation(
            self._rank, kind, self.now(), payload(kind, given, ins, outs, len(group)), peer, group, group_name,
            given.get("tag", 0), places.here(), fits=what_must_agree(kind, ins, outs, len(group)),
            reduction=reduction, backend=backend,
        )  # fmt: skip
        operation.limit = self._limits[group_name]
        if kind == "all_to_all":
            operation.sends, operation.takes = pieces(given, ins, outs, len(group))
        return operation

    def _group(self, given: dict[str, Any]) -> tuple[str, tuple[int, ...]]:
        if "process_group" in given:
            group = dist.ProcessGroup.unbox(given["process_group"])
            name = str(group.group_name)
        else:
            name = str(given["group_name"])
            group = None
        if name not in self._groups:
            group = group or torch._C._distributed_c10d._resolve_process_group(name)  # type: ignore[arg-type]
            self._groups[name] = tuple(dist.get_process_group_ranks(group))
            self._carriers[name] = carriers(dist.get_backend_config(group))
            self._limits[name] = limit_of_group(group)
        return name, self._groups[name]

    def _post(self, operation: Operation) -> int:
        self.residency.look()
        with self._lock:
            self.operations.append(operation)
            self._flops_before.append(self._flops)
            index = len(self.operations) - 1
            if self._journal:
                self._journal(entries.posted(index, operation))
        return index

    # ---- ending

    def _expect(self, out: Any, mine: list[int]) -> None:
        """Remember what the rank will wait for: a Work, or the result of a functional collective."""
        last = out[-1] if isinstance(out, tuple) else out
        if isinstance(last, torch.ScriptObject):
            work = dist.Work.unbox(last)
            self._works[id(work)] = work, mine
            self._done.pop(id(work), None)  # the id may have been that of a deleted Work
            if self.operations[mine[0]].kind not in POINT_TO_POINT:
                self._running[id(work)] = work, mine
        else:
            for tensor in tensors(out):
                self._results[tensor.untyped_storage()._cdata] = mine

    def _waited(self, work: Any, wait: Callable[[], Any], limit: float) -> Any:
        _, mine = self._works.pop(id(work), (None, self._done.pop(id(work), [])))
        self._running.pop(id(work), None)
        result = self._timed(mine, wait, limit)
        for i in mine:
            if self.operations[i].peer == ANY_SOURCE:
                self._found(i, self.operations[i].group[work._source_rank()])
        return result

    def _timed(self, mine: list[int], wait: Callable[[], Any], limit: float = NEVER) -> Any:
        began = self.now()
        self._mark(mine, True)
        self._waiters.add(threading.get_ident())
        limited = min([limit, *(self.operations[i].limit for i in mine)]) < NEVER
        try:
            result = ends_by_itself(wait) if limited else wait()
        except RuntimeError:
            for i in mine if limited else ():
                self._note(i, given_up=True)
            raise
        finally:
            self._waiters.discard(threading.get_ident())
        ended = self.now()
        for i in mine:
            self._finish(i, ended, ended - began)
        return result

    def _mark(self, mine: Iterable[int], waiting: bool) -> None:
        for i in mine:
            self._note(i, waiting=waiting, stands=places.here(), meanwhile=self._flops - self._flops_before[i])

    def _finish(self, i: int, ended: float, waited: float, awaited: bool = True) -> None:
        operation = self.operations[i]
        end = ended if operation.end is None else operation.end
        wait, awaited = operation.wait + waited, operation.awaited or awaited
        self._note(i, end=end, wait=wait, waiting=False, awaited=awaited)

    def _polled(self, work: Any) -> bool:
        """``is_completed()``. Records where an operation was first polled, for a rank that never stops."""
        done = self._is_completed(work)
        mine = self._works.get(id(work), (None, []))[1]
        for i in mine:
            if self.operations[i].polled is places.NOWHERE:
                self._note(i, polled=places.here())
            if done:
                self._note(i, meanwhile=self._flops - self._flops_before[i])
        self._questions.asked(mine, done)
        return done

    def _note(self, i: int, **facts: Any) -> None:
        for name, value in facts.items():
            setattr(self.operations[i], name, value)
        if self._journal:
            self._journal(entries.changed(i, facts))

    def _found(self, i: int, source: int) -> None:
        self._note(i, peer=source)

    def _look(self) -> None:
        """Find collectives that have completed without a wait in Python. (DDP waits in C++.)"""
        for key, (work, mine) in list(self._running.items()):
            if self._is_completed(work) and self._succeeded(work):
                del self._running[key]
                self._works.pop(key, None)  # it would keep its tensors alive
                self._done[key] = mine
                for i in mine:
                    self._finish(i, self.now(), 0.0, awaited=False)

    def _succeeded(self, work: Any) -> bool:
        """Whether a completed operation succeeded. (``is_success`` would make torch warn, at the learner's line.)"""
        try:
            self._wait(work)
        except RuntimeError:
            return False
        return True


class RecorderMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The dispatch mode of one thread, through which all of its torch operations pass."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """As for the virtual cluster's Clock. Besides, a launcher's rank then need not load torch's compiler."""
        return False

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._recorder, self.residency = recorder, recorder.residency

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if types and (special := [t for t in types if t.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__]):
            if any(t.__name__ == "FakeTensor" for t in special):  # DTensor asks for shapes
                return func(*args, **(kwargs or {}))
            self.residency.foresee(func, args)
            return NotImplemented  # a DTensor or the like: what it does inside comes here again
        return self._recorder.see(func, args, kwargs or {})


def carriers(config: str) -> dict[str, str]:
    """The backend by kind of device, from a group's backend config: "cpu:gloo,cuda:nccl"."""
    return dict(pair.split(":", 1) for pair in config.split(",") if ":" in pair)


def carrier(of_device: Mapping[str, str], moved: Sequence[torch.Tensor]) -> str:
    """The backend for these tensors, all of which are on the same kind of device."""
    return of_device.get(moved[0].device.type, "") if moved else ""
