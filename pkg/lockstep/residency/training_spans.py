"""What a rank works on, and since when: its pass of training, the layer, and the micro-batch.

Modules and optimizers tell it through hooks; the rest follows from autograd's sequence numbers. A node of the graph
bears the number that was next when its operation ran in the forward pass. So whoever notes the number at the beginning
and at the end of each module's forward knows to which layer, and to which call of the model, a node belongs that runs
in the backward pass, in whatever order a pipeline runs them.

A layer is a member of a Sequential or a ModuleList ("blocks.3"), otherwise a child of the model ("head"). A micro-batch
is one of several calls of a model between two updates, if no backward pass covers two of them: a recurrent network has
steps and not micro-batches.
"""

from __future__ import annotations

import weakref
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from threading import get_ident
from typing import Any, NamedTuple

from torch._C import _current_autograd_node, _current_graph_task_id
from torch._C._autograd import _get_sequence_nr
from torch.nn import Module

from lockstep.events import Span

MOST = 50_000  # spans; from then on only the passes are told apart
WRAPPERS = frozenset(("_orig_mod", "_checkpoint_wrapped_module", "_fsdp_wrapped_module"))
OF_NO_CALL = 1 << 62  # the number of a node that no forward pass made, such as one that accumulates gradients


@dataclass(eq=False)
class Model:
    """A module that a program calls itself: it is no part of another one that it calls."""

    kind: str  # the name of its class
    layers: dict[int, str]  # by the id of a module: the layer to which it belongs
    calls: int = 0  # since the last update
    is_divided: bool = False  # it was called more than once between two updates
    is_recurrent: bool = False  # one backward pass has covered several of its calls


class Work(NamedTuple):
    """A layer of a model, in one of the model's calls."""

    model: Model
    layer: str
    call: int


@dataclass
class TrainingSpans:
    """The spans of one rank, as far as its own thread works."""

    _begun: list[tuple[float, str, Work | None]] = field(default_factory=list)
    _models: weakref.WeakKeyDictionary[Module, Model] = field(default_factory=weakref.WeakKeyDictionary)
    _found: list[Model] = field(default_factory=list)  # in the order in which they were first called
    _inside: list[tuple[int, Work]] = field(default_factory=list)  # the modules whose forward runs: id and work
    _numbers: list[int] = field(default_factory=list)  # autograd's, at which ...
    _works: list[Work | None] = field(default_factory=list)  # ... this began
    _covered: dict[Model, int] = field(default_factory=dict)  # the call that this backward pass covers
    _task: int = -1  # the backward pass
    _thread: int = 0

    def enters(self, module: Module, seconds: float) -> None:
        """The forward of ``module`` begins; in a backward pass, an activation is computed again."""
        if self._thread != get_ident():
            if self._thread:
                return
            self._thread = get_ident()
        is_again = _current_graph_task_id() != -1
        work = self._work(module, is_again)
        self._inside.append((id(module), work))
        self._notes(work)
        self.begins("backward" if is_again else "forward", seconds, work)

    def leaves(self, module: Module, seconds: float) -> None:
        """The forward of ``module`` has ended, or has failed."""
        places = [n for n, (mine, _) in enumerate(self._inside) if mine == id(module)]
        if not places or self._thread != get_ident():
            return
        del self._inside[places[-1] :]
        work = self._inside[-1][1] if self._inside else None
        self._notes(work)
        if self._begun:
            self.begins(self._begun[-1][1], seconds, work)

    def propagates(self, seconds: float) -> None:
        """An operation of a backward pass, which began at ``seconds``."""
        if self._inside and self._thread == get_ident():
            return  # an activation is computed again: the module has said so
        number = getattr(_current_autograd_node(), "_sequence_nr", lambda: OF_NO_CALL)()
        work = self._works[bisect_right(self._numbers, number) - 1] if self._numbers and number < OF_NO_CALL else None
        if number >= OF_NO_CALL and self._begun and self._begun[-1][1] == "backward":
            work = self._begun[-1][2]
        if work is not None:
            self._covers(work)
        self.begins("backward", seconds, work)

    def updates(self, seconds: float) -> None:
        """An optimizer's step begins, or a program writes its parameters: what follows is another batch."""
        self.begins("update", seconds)
        for model in self._found:
            model.calls = 0

    def begins(self, phase: str, seconds: float, work: Work | None = None) -> None:
        """Not that again which goes on already, and nothing that took no time."""
        if len(self._begun) > MOST:
            work = None
        if self._begun and self._begun[-1][0] == seconds and self._begun[-1][1] == phase:
            self._begun.pop()
        if not self._begun or self._begun[-1][1:] != (phase, work):
            self._begun.append((seconds, phase, work))

    @property
    def phase(self) -> str:
        return self._begun[-1][1] if self._begun else ""

    def spans(self) -> tuple[Span, ...]:
        """All of them, with names."""
        kinds = Counter(model.kind for model in self._found)
        are_several = sum(bool(set(model.layers.values()) - {""}) for model in self._found) > 1
        names: dict[Model, str] = {}
        turns: Counter[str] = Counter()
        for model in self._found:
            names[model] = f"{model.kind} {turns[model.kind]}" if kinds[model.kind] > 1 else model.kind
            turns[model.kind] += 1
        found = [Span(at, phase, *_told(work, names, are_several)) for at, phase, work in self._begun]
        return tuple(span for n, span in enumerate(found) if not n or found[n - 1][1:] != span[1:])

    # ---- which layer, and which call

    def _work(self, module: Module, is_again: bool) -> Work:
        for _, outer in reversed(self._inside):
            layer = outer.model.layers.get(id(module))
            return outer if layer is None else outer._replace(layer=layer or outer.layer)
        if is_again and self._begun and (now := self._begun[-1][2]) and id(module) in now.model.layers:
            return now._replace(layer=now.model.layers[id(module)])
        model = self._models.get(module)
        if model is None:
            model = self._models[module] = Model(type(module).__name__.removeprefix("FSDP"), layers_of(module))
            self._found.append(model)
        model.calls += 1
        model.is_divided |= model.calls > 1
        return Work(model, "", model.calls - 1)

    def _notes(self, work: Work | None) -> None:
        number = _get_sequence_nr()
        if self._numbers and self._numbers[-1] == number:
            self._works[-1] = work
        else:
            self._numbers.append(number)
            self._works.append(work)
        if len(self._numbers) > MOST:  # a graph that old is gone
            del self._numbers[: MOST // 2], self._works[: MOST // 2]

    def _covers(self, work: Work) -> None:
        if self._task != (task := _current_graph_task_id()):
            self._task, self._covered = task, {}
        work.model.is_recurrent |= self._covered.setdefault(work.model, work.call) != work.call


def layers_of(model: Module) -> dict[int, str]:
    """By the id of each module in ``model``, the layer to which it belongs; "" for what is no layer's."""
    return {id(module): layer_of(path) for path, module in model.named_modules()}


def layer_of(path: str) -> str:
    """``blocks.3.attention.query`` is in ``blocks.3``, ``head.norm`` in ``head``."""
    parts = [part for part in path.split(".") if part not in WRAPPERS]
    if parts[:1] == ["module"]:  # that of DistributedDataParallel
        del parts[0]
    number = next((n for n, part in enumerate(parts) if part.isdigit()), 0)
    return ".".join(parts[: number + 1])


def _told(work: Work | None, names: dict[Model, str], are_several: bool) -> tuple[Any, ...]:
    """The layer's name, and the number of the micro-batch."""
    if work is None:
        return "", None
    layer = f"layer {work.layer}" if work.layer.isdigit() else work.layer
    if not layer:
        layer = names[work.model] if set(work.model.layers.values()) == {""} or are_several else ""
    elif are_several:
        layer = f"{names[work.model]}, {layer}"
    is_micro_batch = work.model.is_divided and not work.model.is_recurrent
    return layer, work.call if is_micro_batch else None
