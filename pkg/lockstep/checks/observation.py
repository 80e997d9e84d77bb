"""What was seen of a learner's function, as plain data: numbers, text, tensors, a Trace. No code, no pickle.

So a judge can work in another process, which never touches the learner's code: ``save`` writes JSON and safetensors.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from lockstep.checks.case import Case
from lockstep.checks.guard import LibraryAnswer, NotWritten
from lockstep.checks.plain import Other
from lockstep.errors import RankState
from lockstep.events import Trace

NOT_WRITTEN = f"{NotWritten.__module__}.{NotWritten.__qualname__}"
LIBRARY_ANSWER = f"{LibraryAnswer.__module__}.{LibraryAnswer.__qualname__}"
MOST_EVENTS = 2000  # a longer timeline would weigh more than the whole notebook


def drawable(trace: Trace) -> bool:
    """Whether a timeline of it shows something, and is no burden."""
    return bool(trace.communication) and trace.time > 0 and len(trace) <= MOST_EVENTS


@dataclass(frozen=True)
class Failure:
    """How a run ended that did not end well: an error of `lockstep.errors` as facts, by which it is judged, and as the
    sentences in which it is told (``message``, ``states`` and ``remedy``). Nobody looks for words in these."""

    kind: str  # "Deadlock", "RankRaised" ...
    message: str
    states: tuple[RankState, ...] = ()
    remedy: str = ""
    exception: str = ""  # what was raised: "ValueError", or with its module, "lockstep.errors.UsageError"
    text: str = ""  # the exception's own
    told: str = ""  # the learner's lines of its traceback, and what Python says of it
    origin: str = ""  # whose line raised it: "learner", "torch", "lockstep" or "library"; "" if nobody raised
    stated: bool = False  # by a raise statement
    mistake: str = ""  # the name that Lockstep's own error has for it
    rank: int | None = None  # whose end was the cause, if it was one's
    ended: str = ""  # how its process ended, if it did: "was killed by SIGSEGV: segmentation fault"
    signal: str = ""  # what killed it: "SIGSEGV"
    where: str = ""  # the learner's line: "ring.py, line 4, in ring"
    source: str = ""  # the text of that line
    limit: float = 0.0  # seconds that the run was given

    def __str__(self) -> str:
        return "\n".join([self.message, *map(str, self.states)])

    @property
    def not_written(self) -> bool:
        """The learner's own code says so. An abstract method of torch raises the same, and so does any library."""
        own = self.exception == "NotImplementedError" and self.origin == "learner" and self.stated
        return own or self.exception == NOT_WRITTEN

    @property
    def library_answer(self) -> bool:
        """The function called what it was asked to write."""
        return self.exception == LIBRARY_ANSWER

    @property
    def raised(self) -> str:
        """The exception as Python tells it: its type, its text, and the lines that led to it."""
        return f"{self.exception}: {self.text}\n{self.told}" if self.exception else ""


@dataclass(frozen=True)
class Seen:
    """One case, as it went. Lists are by global rank; ranks outside the group have None."""

    case: Case
    returned: tuple[Any, ...] = ()
    arguments: tuple[Any, ...] = ()  # each a list: the arguments as they were when the function had returned
    trace: Trace = field(default_factory=Trace)
    peak_memory: tuple[int, ...] = ()
    printed: str = ""
    failure: Failure | None = None


@dataclass(frozen=True)
class Observation:
    """Everything a judge gets."""

    exercise: str
    world: str  # "virtual", "processes", "spmd"
    cluster: str = ""
    signature: str = ""  # why the function cannot be called as published; empty if it can
    problem: str = ""  # why it could not be loaded at all
    seen: tuple[Seen, ...] = ()
    unseen: tuple[Case, ...] = ()  # cases left out after the function hung, or had used up its time

    def __iter__(self) -> Iterator[Seen]:
        return iter(self.seen)

    def failure_with(self, case: Case | None) -> Failure | None:
        """How the run of ``case`` failed, if it did."""
        return next((seen.failure for seen in self.seen if seen.case == case), None)


def save(observation: Observation, folder: Path) -> None:
    """Write ``observation.json`` and ``tensors.safetensors`` into ``folder``."""
    tensors: dict[str, torch.Tensor] = {}
    folder.mkdir(parents=True, exist_ok=True)
    head = {k: getattr(observation, k) for k in ("exercise", "world", "cluster", "signature", "problem")}
    seen = [_seen_to_json(s, tensors) for s in observation.seen]
    data = head | {"seen": seen, "unseen": [c.to_json() for c in observation.unseen]}
    (folder / "observation.json").write_text(json.dumps(data))
    save_file(tensors, folder / "tensors.safetensors")


def load(folder: Path) -> Observation:
    """Read back what ``save`` wrote."""
    data = json.loads((folder / "observation.json").read_text())
    tensors = load_file(folder / "tensors.safetensors")
    seen = tuple(_seen_from_json(s, tensors) for s in data.pop("seen"))
    unseen = tuple(Case.from_json(c) for c in data.pop("unseen"))
    return Observation(**data, seen=seen, unseen=unseen)


def _seen_to_json(seen: Seen, tensors: dict[str, torch.Tensor]) -> dict[str, Any]:
    return {
        "case": seen.case.to_json(),
        "returned": _pack(list(seen.returned), tensors),
        "arguments": _pack(list(seen.arguments), tensors),
        "trace": seen.trace.to_json(),
        "peak_memory": list(seen.peak_memory),
        "printed": seen.printed,
        "failure": seen.failure and asdict(seen.failure),
    }


def _seen_from_json(data: dict[str, Any], tensors: dict[str, torch.Tensor]) -> Seen:
    failed = data["failure"]
    return Seen(
        Case.from_json(data["case"]),
        tuple(_unpack(data["returned"], tensors)),
        tuple(_unpack(data["arguments"], tensors)),
        Trace.from_json(data["trace"]),
        tuple(data["peak_memory"]),
        data["printed"],
        _failure_from_json(failed) if failed else None,
    )


def _failure_from_json(data: dict[str, Any]) -> Failure:
    states = [RankState(**{**s, "waits_for": tuple(s["waits_for"])}) for s in data["states"]]
    return Failure(**{**data, "states": tuple(states)})


def _pack(value: Any, tensors: dict[str, torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        name = f"t{len(tensors)}"
        tensors[name] = value.detach().cpu().contiguous().clone()
        return {"tensor": name}
    if isinstance(value, Other):
        return {"type": value.type, "text": value.text}
    if isinstance(value, dict):
        return {"items": {k: _pack(v, tensors) for k, v in value.items()}}
    return [_pack(v, tensors) for v in value] if isinstance(value, list) else value


def _unpack(value: Any, tensors: dict[str, torch.Tensor]) -> Any:
    if isinstance(value, dict) and "items" in value:
        return {k: _unpack(v, tensors) for k, v in value["items"].items()}
    if isinstance(value, dict):
        return tensors[value["tensor"]] if "tensor" in value else Other(value["type"], value["text"])
    return [_unpack(v, tensors) for v in value] if isinstance(value, list) else value
