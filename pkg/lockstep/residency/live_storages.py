"""Memory accounting of a rank: which tensor storages are alive, and of which kind each is.

Memory is counted by storage, not by tensor: a view costs nothing, and a storage counts until its last tensor is gone.
The kind of a storage is often known only later than its allocation. So allocations and deallocations are logged, and
the kind that a storage *turns out* to have applies to its whole lifetime:

    parameters       parameters of modules and optimizers; also what ``fully_shard`` gathers, while it exists
    optimizer state  the tensors in ``optimizer.state``
    gradients        what autograd puts into a ``.grad``; DDP's buckets; what a backward pass leaves behind
    activations      inputs and outputs of operations that autograd records (also the batch), and what an autograd
                     function saves
    buffers          all else: buffers of modules, what is received or sent, the temporaries of a backward pass

If two kinds apply, the first in this list is used; a module's registered buffer is always a buffer. Tensors on the
"meta" device, and those of a fake mode that a program enters itself, have no memory. Allocations inside kernels and
communication libraries (gloo's buffers, the workspace of a convolution) are not seen.
"""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
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
from lockstep.residency import memory_timeline
from lockstep.residency.memory_timeline import ACTIVATION, BUFFER, GRADIENT, OPTIMIZER, OTHER, PARAMETER
from lockstep.residency.nested_tensors import closed_over, has_memory, is_parameter, requires_grad, tensors_of, wrapped
from lockstep.residency.non_tensor_memory import Besides
from lockstep.residency.training_spans import TrainingSpans

LOG_LIMIT = 3 << 17  # numbers, three per allocation or deallocation, after which the log is compacted (but of a tape)


class Storage(weakref.ref[torch.UntypedStorage]):
    """A live storage: a weak reference with its key, size and number."""

    __slots__ = ("in_backward", "key", "nbytes", "number")
    key: int
    number: int
    nbytes: int
    in_backward: bool  # allocated during a backward pass


class Residency:
    """The memory account of one rank.

    clock: returns the seconds since the run began.
    limit: bytes that the rank may hold.
    overflow: called once with the size of the allocation that exceeds ``limit``.
    mode: the fake mode of a rank whose tensors have no data."""

    mode: FakeTensorMode | None = None
    besides: Besides | None = None  # looks for memory outside tensors, while ``weighed`` runs
    log_limit: float = LOG_LIMIT

    def __init__(
        self,
        clock: Callable[[], float] = float,
        limit: float = math.inf,
        overflow: Callable[[int], None] = lambda asked: None,
    ) -> None:
        self._clock, self._limit, self._overflow = clock, limit, overflow
        self._held = 0  # bytes; ``now`` is the exact sum
        self._stepping: Callable[[], torch.optim.Optimizer | None] = lambda: None  # the optimizer inside its step
        self._alive: dict[int, Storage] = {}
        self._numbers = count()
        self._kinds: dict[int, int] = {}  # by the number of a storage, without OTHER
        self._log: list[float] = []  # number, change in bytes, seconds; and so on
        self._before: Memory | None = None  # of the compacted part of the log
        self._carried = 0
        self._expected: Any = None
        self._threads: set[int] = set()  # threads that allocate tensors, unlike those of a backend
        self._backward = False  # whether the last operation was one of a backward pass
        self._work = TrainingSpans()
        self._was = 0.0  # seconds: when the last operation had ended, and the next could begin

    # ---- called by the world in which the rank runs

    def adopt(self, tree: Any) -> None:
        """Account for what a rank starts with: its function with its closure, its arguments, and the modules and
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
        """Account for tensors of unknown kind."""
        if isinstance(tree, torch.Tensor):
            self._book(tree, OTHER)
        else:
            for tensor in tensors_of((tree,)):
                self._book(tensor, OTHER)

    def see(self, func: Any, args: Any, out: Any) -> None:
        """Account for an operation: its results, and what its arguments turn out to be."""
        kind = OTHER
        self._backward = _current_graph_task_id() != -1
        if self._backward:
            self._work.propagates(self._was)
        elif self._work.phase == "backward" and func._schema.is_mutable and not torch.is_grad_enabled():
            self._writes(args)
        if self._backward and type(_current_autograd_node()).__name__ == "AccumulateGrad":
            kind = GRADIENT
        elif torch.is_grad_enabled() and self._records(func, args):
            kind = ACTIVATION
        if isinstance(out, torch.Tensor):
            self._book(out, kind)
        else:
            for tensor in tensors_of((out,)):
                self._book(tensor, kind)
        self._was = self._clock()

    def _writes(self, args: Any) -> None:
        """After a backward pass a program without an optimizer writes its parameters itself: that is its update."""
        first = args[0] if args else None
        if any(map(is_parameter, tensors_of((first,)))) and has_memory(tensors_of((first,))[0], self.mode):
            self._work.updates(self._was)

    def foresee(self, func: Any, args: Any) -> None:
        """An operation on DTensors, which autograd records instead of the one on local tensors that will follow."""
        recorded = torch.is_grad_enabled() and self._records(func, args)
        self._expected = func if recorded else None

    def _records(self, func: Any, args: Any) -> bool:
        if func is self._expected:
            self._expected = None
        elif not requires_grad(args) or func.namespace == "_c10d_functional":  # being sent makes no activation
            return False
        for tensor in tensors_of(args):
            self._book(tensor, PARAMETER if is_parameter(tensor) else ACTIVATION)
        return True

    def knows(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor's storage is accounted for, or it has none."""
        if inside := wrapped(tensor):
            return all(map(self.knows, inside))
        try:
            key = tensor.untyped_storage()._cdata
        except NotImplementedError:  # sparse tensors have none
            return True
        return key in self._alive or not has_memory(tensor, self.mode)

    def look(self) -> None:
        """The rank communicates: an occasion to search for memory outside tensors."""
        if self.besides:
            self.besides.look()

    # ---- called by hooks

    def owns(self, parameter: torch.Tensor) -> None:
        """A module has registered a parameter."""
        self._book(parameter, PARAMETER)

    def belongs(self, module: Module) -> None:
        """Account for the parameters and buffers of ``module`` itself, without its children."""
        for parameter in module._parameters.values():
            if parameter is not None:
                self._book(parameter, PARAMETER)
        for buffer in module._buffers.values():
            if buffer is not None:
                self._book(buffer, BUFFER)

    def computes(self, module: Module) -> None:
        """The forward pass of ``module`` begins. In a backward pass that is an activation computed again."""
        self.belongs(module)
        self._was = self._clock()
        self._work.enters(module, self._was)

    def has_computed(self, module: Module) -> None:
        """The forward pass of ``module`` has ended, or has failed."""
        self._was = self._clock()
        self._work.leaves(module, self._was)

    def begins_step(self, optimizer: torch.optim.Optimizer) -> None:
        """An optimizer's step begins: tensors of its state are recognized at its end, or by ``held``."""
        self._stepping = weakref.ref(optimizer)
        self._was = self._clock()
        self._work.updates(self._was)

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
        """An autograd function has saved tensors for its backward pass."""
        for tensor in tensors_of(tensors):
            self._book(tensor, PARAMETER if is_parameter(tensor) else ACTIVATION)

    def resized(self, storage: torch.UntypedStorage) -> None:
        """A storage was resized; ``fully_shard`` frees gathered parameters by resizing to 0."""
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
        if len(self._log) > self.log_limit:
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
        """The limit is exceeded: collect garbage first, since memory in reference cycles does not count."""
        gc.collect()
        if self.now + more > self._limit:
            self._limit = math.inf
            self._overflow(more)

    def _gone(self, known: Storage) -> None:
        self._alive.pop(known.key, None)
        self._held -= known.nbytes
        if not self._backward and get_ident() in self._threads:  # a backend may release a buffer late
            self._settle(known)
        self._log.extend((known.number, -known.nbytes, self._clock()))

    def _settle(self, known: Storage) -> None:
        """A storage that outlives the backward pass in which it was allocated is a gradient; others are temporaries."""
        if known.in_backward:
            self._rise(known, GRADIENT)

    def _rise(self, known: Storage, kind: int) -> None:
        if kind > self._kinds.get(known.number, OTHER):
            self._kinds[known.number] = kind

    # ---- results

    @property
    def now(self) -> int:
        return sum(known.nbytes for known in list(self._alive.values()))

    def held(self) -> dict[str, int]:
        """Live bytes by kind, as far as kinds are known by now."""
        if (optimizer := self._stepping()) is not None:
            self.optimizes(optimizer)
        totals = [0] * len(MEMORY_KINDS)
        for known in list(self._alive.values()):
            self._settle(known)
            totals[memory_timeline.COLUMN[self._kinds.get(known.number, OTHER)]] += known.nbytes
        return memory_timeline.by_kind(totals)

    @property
    def peak(self) -> int:
        return self.memory().peak

    def memory(self) -> Memory:
        """The memory of the run so far."""
        alive = list(self._alive.values())
        for known in alive:
            self._settle(known)
        return replace(self._so_far(), spans=self._work.spans())

    @contextmanager
    def stretch(self) -> Iterator[Callable[[], Memory]]:
        """A context that yields a ``memory`` of this piece of the run only. What is alive at its beginning counts, with
        its kind at that time."""
        self._fold()
        before, self._before = self._before, None
        try:
            yield self.memory
        finally:
            self._before = memory_timeline.merged(before, self._before) if self._before else before

    def _so_far(self) -> Memory:
        log = self._log[:]  # it grows meanwhile, when the garbage collector or a thread that ends frees a tensor
        return memory_timeline.merged(self._before, memory_timeline.reckon(log, self._kinds, self._carried))

    def _fold(self) -> None:
        """Compact the log: keep the peaks so far, and log live storages again, with their present kinds."""
        self._before = self._so_far()
        alive, self._log = list(self._alive.values()), []
        for known in alive:
            self._log.extend((known.number, known.nbytes, self._clock()))
        self._carried = len(alive)
        self._kinds = {k.number: self._kinds[k.number] for k in alive if k.number in self._kinds}
