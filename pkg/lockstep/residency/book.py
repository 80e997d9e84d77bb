"""Which storages are alive, and what each of them is: the account that every operation of a rank passes through.

Counted by storage, not by tensor: a view costs nothing, and a storage counts until the last tensor on it is gone. What
a storage is often shows later than it is made, so the book keeps a log of births and deaths, and what a storage *turned
out to be* holds for its whole life:

    parameters       what a module or an optimizer calls so; also what ``fully_shard`` gathers, while it is there
    optimizer state  the tensors in ``optimizer.state``
    gradients        what autograd puts into a ``.grad``; DDP's buckets of them; what a backward pass leaves behind
    activations      what goes into or comes out of an operation that autograd records (the batch too), and what an
                     autograd function saves
    buffers          all else: buffers of modules, what is received or sent, the temporaries of a backward pass

Where two fit, the first of this list wins; a module's registered buffer is always one. A tensor on the "meta" device is
none of these, nor is one of a fake mode that a program enters itself: they have no memory. Not seen: what kernels and
communication libraries allocate inside (gloo's own buffers, the workspace of a convolution).
"""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from threading import get_ident
from types import FunctionType
from typing import Any

import torch
from torch._C import _current_autograd_node, _current_graph_task_id
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import Module
from torch.utils._pytree import tree_iter

from lockstep.events import MEMORY_KINDS, Memory
from lockstep.residency import reckoning
from lockstep.residency.besides import Besides
from lockstep.residency.leaves import closed_over, has_memory, is_parameter, requires_grad, tensors_of, wrapped
from lockstep.residency.reckoning import ACTIVATION, BUFFER, GRADIENT, OPTIMIZER, OTHER, PARAMETER

LOG_LIMIT = 3 << 17  # numbers, three for each birth or death, after which the log is folded


class Storage(weakref.ref[torch.UntypedStorage]):
    """One storage while it is alive: a weak reference that knows what it refers to."""

    __slots__ = ("in_backward", "key", "nbytes", "number")
    key: int
    number: int
    nbytes: int
    in_backward: bool  # made while a backward pass ran


class Residency:
    """The book of one rank. ``clock`` tells the seconds since its run began; ``overflow`` is told, once, of the bytes
    that are asked for when the rank would hold more than ``limit`` with them. ``mode``: the fake mode that the rank
    itself runs under, if its tensors have no data."""

    mode: FakeTensorMode | None = None
    besides: Besides | None = None  # that looks for what is no tensor, while somebody asks

    def __init__(
        self,
        clock: Callable[[], float] = float,
        limit: float = math.inf,
        overflow: Callable[[int], None] = lambda asked: None,
    ) -> None:
        self._clock, self._limit, self._overflow = clock, limit, overflow
        self._held = 0  # bytes; ``now`` is the exact sum
        self._stepping: Callable[[], torch.optim.Optimizer | None] = lambda: None  # whose step is under way
        self._alive: dict[int, Storage] = {}
        self._numbers = count()
        self._kinds: dict[int, int] = {}  # by the number of a storage; OTHER is left out
        self._log: list[float] = []  # number, change in bytes, seconds; and so on
        self._before: Memory | None = None  # what was folded
        self._carried = 0
        self._expected: Any = None
        self._threads: set[int] = set()  # those that make tensors: not a backend's
        self._backward = False  # whether the last operation was one of a backward pass

    # ---- what the world tells

    def adopt(self, tree: Any) -> None:
        """Book what a rank starts with: its function with what that closes over, its arguments, and the modules and
        optimizers among them."""
        for leaf in tree_iter(tree):
            if isinstance(leaf, FunctionType):
                self.adopt([v for v in closed_over(leaf) if not isinstance(v, FunctionType)])
            elif isinstance(leaf, Module):
                for module in leaf.modules():
                    self.belongs(module)
            elif isinstance(leaf, torch.optim.Optimizer):
                self.optimizes(leaf)
            elif isinstance(leaf, torch.Tensor):
                self._book(leaf, OTHER)

    def note(self, tree: Any) -> None:
        """Book tensors of which nothing more is known."""
        if isinstance(tree, torch.Tensor):
            self._book(tree, OTHER)
        else:
            for tensor in tensors_of((tree,)):
                self._book(tensor, OTHER)

    def see(self, func: Any, args: Any, out: Any) -> None:
        """Book what an operation has returned, and what its arguments turn out to be."""
        kind = OTHER
        self._backward = _current_graph_task_id() != -1
        if self._backward and type(_current_autograd_node()).__name__ == "AccumulateGrad":
            kind = GRADIENT
        elif torch.is_grad_enabled() and self._records(func, args):
            kind = ACTIVATION
        if isinstance(out, torch.Tensor):
            self._book(out, kind)
        else:
            for tensor in tensors_of((out,)):
                self._book(tensor, kind)

    def foresee(self, func: Any, args: Any) -> None:
        """An operation on DTensors: autograd records this one, and not the same on local tensors that is to come."""
        recorded = torch.is_grad_enabled() and self._records(func, args)
        self._expected = func if recorded else None

    def _records(self, func: Any, args: Any) -> bool:
        if func is self._expected:
            self._expected = None
        elif not requires_grad(args) or func.namespace == "_c10d_functional":  # what is sent is none for that
            return False
        for tensor in tensors_of(args):
            self._book(tensor, PARAMETER if is_parameter(tensor) else ACTIVATION)
        return True

    def knows(self, tensor: torch.Tensor) -> bool:
        """Whether it is booked, or there is nothing of it to book."""
        if inside := wrapped(tensor):
            return all(map(self.knows, inside))
        try:
            key = tensor.untyped_storage()._cdata
        except NotImplementedError:  # sparse tensors have none
            return True
        return key in self._alive or not has_memory(tensor, self.mode)

    def look(self) -> None:
        """The rank communicates: a moment to see what it holds besides."""
        if self.besides:
            self.besides.look()

    # ---- what hooks tell

    def owns(self, parameter: torch.Tensor) -> None:
        """A module calls it a parameter, from now on."""
        self._book(parameter, PARAMETER)

    def belongs(self, module: Module) -> None:
        """What ``module`` holds itself (not its children)."""
        for parameter in module._parameters.values():
            if parameter is not None:
                self._book(parameter, PARAMETER)
        for buffer in module._buffers.values():
            if buffer is not None:
                self._book(buffer, BUFFER)

    def begins_step(self, optimizer: torch.optim.Optimizer) -> None:
        """What it makes is known for its state when the step has ended, or when somebody asks (``held``)."""
        self._stepping = weakref.ref(optimizer)

    def optimizes(self, optimizer: torch.optim.Optimizer) -> None:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                self._book(parameter, PARAMETER)
                if parameter.grad is not None:
                    self._book(parameter.grad, GRADIENT)
        for state in optimizer.state.values():
            for tensor in tensors_of(state.values() if isinstance(state, dict) else (state,)):
                self._book(tensor, OPTIMIZER)

    def saved(self, tensors: tuple[Any, ...]) -> None:
        """What an autograd function keeps for its backward."""
        for tensor in tensors_of(tensors):
            self._book(tensor, PARAMETER if is_parameter(tensor) else ACTIVATION)

    def resized(self, storage: torch.UntypedStorage) -> None:
        """``fully_shard`` frees what it gathered by resizing it to nothing."""
        known = self._alive.get(storage._cdata)
        if known is not None:
            self._resize(known, storage.nbytes())

    # ---- the account

    def _book(self, tensor: torch.Tensor, kind: int) -> None:
        try:
            storage = tensor.untyped_storage()
            key = storage._cdata
        except NotImplementedError:  # sparse tensors have none
            return
        known = self._alive.get(key)
        if known is None:
            if inside := wrapped(tensor):
                for part in inside:
                    self._book(part, kind)
                return
            if not has_memory(tensor, self.mode):
                return
            known = self._born(key, storage)
        elif known.nbytes != storage.nbytes():
            self._resize(known, storage.nbytes())
        if kind:
            self._rise(known, kind)

    def _born(self, key: int, storage: torch.UntypedStorage) -> Storage:
        if len(self._log) > LOG_LIMIT:
            self._fold()
        nbytes = storage.nbytes()
        self._held += nbytes
        if self._held > self._limit:
            self._exceed(nbytes)
        known = self._alive[key] = Storage(storage, self._gone)
        known.key, known.number, known.nbytes = key, next(self._numbers), nbytes
        known.in_backward = self._backward
        self._threads.add(get_ident())
        self._log.extend((known.number, known.nbytes, self._clock()))
        return known

    def _resize(self, known: Storage, nbytes: int) -> None:
        more = nbytes - known.nbytes
        self._held += more
        if self._held > self._limit:
            self._exceed(more)
        self._log.extend((known.number, more, self._clock()))
        known.nbytes = nbytes

    def _exceed(self, more: int) -> None:
        """What only a cycle of garbage holds is no memory: when Python collects it is luck."""
        gc.collect()
        if self.now + more > self._limit:
            self._limit = math.inf
            self._overflow(more)

    def _gone(self, known: Storage) -> None:
        self._alive.pop(known.key, None)
        self._held -= known.nbytes
        if not self._backward and get_ident() in self._threads:  # a backend may let go of a buffer late
            self._settle(known)
        self._log.extend((known.number, -known.nbytes, self._clock()))

    def _settle(self, known: Storage) -> None:
        """What a backward pass makes and leaves behind is a gradient; what goes before its end was a temporary."""
        if known.in_backward:
            self._rise(known, GRADIENT)

    def _rise(self, known: Storage, kind: int) -> None:
        if kind > self._kinds.get(known.number, OTHER):
            self._kinds[known.number] = kind

    # ---- the answer

    @property
    def now(self) -> int:
        return sum(known.nbytes for known in list(self._alive.values()))

    def held(self) -> dict[str, int]:
        """What is alive by kind, as far as it shows by now."""
        if (optimizer := self._stepping()) is not None:
            self.optimizes(optimizer)
        totals = [0] * len(MEMORY_KINDS)
        for known in list(self._alive.values()):
            self._settle(known)
            totals[reckoning.COLUMN[self._kinds.get(known.number, OTHER)]] += known.nbytes
        return reckoning.by_kind(totals)

    @property
    def peak(self) -> int:
        return self.memory().peak

    def memory(self) -> Memory:
        """All that is known by now."""
        alive = list(self._alive.values())
        for known in alive:
            self._settle(known)
        return self._so_far()

    @contextmanager
    def stretch(self) -> Iterator[Callable[[], Memory]]:
        """``memory`` of what goes on while entered, and not before: with what was alive then, as it was taken for."""
        self._fold()
        before, self._before = self._before, None
        try:
            yield self.memory
        finally:
            self._before = reckoning.merged(before, self._before) if self._before else before

    def _so_far(self) -> Memory:
        return reckoning.merged(self._before, reckoning.reckon(self._log, self._kinds, self._carried))

    def _fold(self) -> None:
        """Keep the peaks so far in place of the log. What is still alive begins anew, as what it is taken for now."""
        self._before = self._so_far()
        alive, self._log = list(self._alive.values()), []
        for known in alive:
            self._log.extend((known.number, known.nbytes, self._clock()))
        self._carried = len(alive)
        self._kinds = {k.number: self._kinds[k.number] for k in alive if k.number in self._kinds}
