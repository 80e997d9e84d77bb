"""What an observed training script did, compared with serial training on the rows that its ranks saw, step by step.

Each fact is a name and numbers; the first one that is found is reported. Rows come first: what follows is
computed from them. Then the start, the first step that is another one than it should be, the end, and what is saved.
"""

# mypy: disable-error-code="no-untyped-call, var-annotated"

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from lockstep.experiments.horovod.observed_script import Evidence
from lockstep.experiments.horovod.task import MOMENTUM, Network, Task, flat, state

CLOSE = 1e-6  # relatively and absolutely; what moves in these tasks is of the order of 1
Fact = tuple[str, dict[str, Any]]


def first_fact(task: Task, seen: Sequence[Evidence]) -> Fact | None:
    """What is wrong with a run of a script on that task; None if nothing. ``seen`` is the evidence by rank."""
    looks: Sequence[Callable[[Task, Sequence[Evidence]], Iterator[Fact]]] = (passes, shares, orders)
    found = next(chain.from_iterable(look(task, seen) for look in looks), None)
    return found or next(trained(task, seen, replay(task, seen)), None) or next(ends(seen), None)


def ends(seen: Sequence[Evidence]) -> Iterator[Fact]:
    """Whoever has called the script may go on with Horovod."""
    yield from (("shut-down", {"rank": rank}) for rank, one in enumerate(seen) if one["shut_down"])


# ---- rows


def passes(task: Task, seen: Sequence[Evidence]) -> Iterator[Fact]:
    """How many rows each rank's model was given, and in which batches."""
    share = task.rows // task.ranks
    for rank, one in enumerate(seen):
        given = [row for of_pass in one["rows"] for row in of_pass]
        told = {"rank": rank, "given": len(given), "share": share * task.epochs, "rows": task.rows}
        if not given:
            yield "never-called", told
        if -1 in given:
            yield "foreign-rows", told
        sizes = {len(of_pass) for of_pass in one["rows"]}
        if sizes != {task.batch}:
            yield "batch-size", told | {"size": next(size for size in sizes if size != task.batch), "batch": task.batch}
        everything = len(set(given)) == task.rows > share
        if everything and len(given) == task.rows * task.epochs:
            yield "all-rows", told
        if len(given) != share * task.epochs:
            yield "too-few-rows" if len(given) < share * task.epochs else "too-many-rows", told


def shares(task: Task, seen: Sequence[Evidence]) -> Iterator[Fact]:
    """In each epoch each row is on one rank, once."""
    for epoch in range(task.epochs):
        holders = [(row, rank) for rank in range(task.ranks) for row in _of_epoch(task, seen[rank], epoch)]
        count = Counter(row for row, _ in holders)
        missing = sum(row not in count for row in range(task.rows))
        for row, number in sorted(count.items()):
            if number > 1:
                ranks = sorted({rank for r, rank in holders if r == row})
                told = {"epoch": epoch, "row": row, "number": number, "ranks": ranks, "missing": missing}
                yield "row-on-several" if len(ranks) > 1 else "row-twice", told


def orders(task: Task, seen: Sequence[Evidence]) -> Iterator[Fact]:
    """No epoch goes through the rows as another one before."""
    epochs = [[_of_epoch(task, one, epoch) for one in seen] for epoch in range(task.epochs)]
    for (epoch, before), (later, after) in combinations(enumerate(epochs), 2):
        if before == after:
            yield "same-order", {"epoch": epoch, "next": later}


def _of_epoch(task: Task, one: Evidence, epoch: int) -> list[int]:
    passes = one["rows"][epoch * task.steps : (epoch + 1) * task.steps]
    return [row for of_pass in passes for row in of_pass]


# ---- weights


@dataclass
class Serial:
    """Serial training on the batches of all ranks together. ``states``: before each step, and at the end; ``gradients``
    and ``momentum`` by step: before it, in one vector of the trained parameters (None before the first)."""

    states: list[Tensor]
    gradients: list[Tensor]
    momentum: list[Tensor | None]


def replay(task: Task, seen: Sequence[Evidence]) -> Serial:
    """Step by step, from rank 0's weights or its checkpoint, at K times the rate."""
    model, optimizer = start(task)
    x, y = task.data()
    found = Serial([state(model)], [], [_momentum(optimizer)])
    for step in range(task.epochs * task.steps):
        rows = [row for one in seen for row in one["rows"][step]]
        optimizer.zero_grad()
        F.mse_loss(model(x[rows]), y[rows]).backward()
        found.gradients.append(flat([p.grad for p in model.parameters() if p.grad is not None]))
        optimizer.step()
        found.states.append(state(model))
        found.momentum.append(_momentum(optimizer))
    return found


def start(task: Task) -> tuple[Network, torch.optim.SGD]:
    """What all ranks should begin with."""
    model = task.model(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=task.ranks * task.rate, momentum=MOMENTUM)
    if task.checkpoint:
        model.load_state_dict(task.saved()["model"])
        optimizer.load_state_dict(task.saved()["optimizer"])
    return model, optimizer


def _momentum(optimizer: torch.optim.Optimizer) -> Tensor | None:
    buffers = [of_one["momentum_buffer"] for of_one in optimizer.state.values()]
    return flat(buffers) if buffers else None


def trained(task: Task, seen: Sequence[Evidence], right: Serial) -> Iterator[Fact]:
    """The start, the first step that is another one, what is returned, and what is saved."""
    yield from begun(task, seen, right.states[0])
    states = [_until_the_end(one) for one in seen]
    for step, rank in product(range(len(right.gradients)), range(task.ranks)):
        is_last = step + 1 == len(right.gradients)
        if not _same(states[rank][step + 1], right.states[step + 1]):
            if is_last and isinstance(seen[rank]["returned"], str):
                yield "no-model", {"rank": rank, "type": seen[rank]["returned"]}
            yield stepped(task, seen, right, step, rank, states[rank][step + 1])
    yield from kept(task, seen, right)


def _until_the_end(one: Evidence) -> list[Tensor | None]:
    """The states before each pass, and the returned one."""
    return [*one["states"], None if isinstance(one["returned"], str) else one["returned"]]


def _same(a: Tensor | None, b: Tensor | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.shape == b.shape and torch.allclose(a, b, rtol=CLOSE, atol=CLOSE)


def begun(task: Task, seen: Sequence[Evidence], right: Tensor) -> Iterator[Fact]:
    """What is wrong with the weights before the first step."""
    first = state(task.model(0))
    for rank in reversed(range(task.ranks)):
        held, own = seen[rank]["states"][0], state(task.model(rank))
        if _same(held, right):
            continue
        told = {"rank": rank, "parts": _parts(task, ~torch.isclose(held, right)) if held.shape == right.shape else ""}
        if rank and _same(held, own):
            yield "own-start", told
        elif task.checkpoint and _same(held, first):
            everywhere = all(_same(one["states"][0], first) for one in seen)
            yield "checkpoint-ignored" if everywhere else "checkpoint-on-rank-0", told
        elif rank and _own_in_part(held, own, right):
            yield "own-parts", told
        else:
            yield "other-start", told


def _own_in_part(held: Tensor, own: Tensor, right: Tensor) -> bool:
    """Whether each number is either as it should be or this rank's own."""
    return held.shape == right.shape and bool((torch.isclose(held, right) | torch.isclose(held, own)).all())


def _parts(task: Task, wrong: Tensor) -> str:
    """The names, in the state_dict, of the tensors in which numbers are wrong."""
    named = task.model(0).state_dict()
    pieces = wrong.split([t.numel() for t in named.values()])
    return ", ".join(name for name, piece in zip(named, pieces, strict=True) if piece.any())


def stepped(task: Task, seen: Sequence[Evidence], right: Serial, step: int, rank: int, after: Tensor | None) -> Fact:
    """What the first step is that is another one than it should be: all states before it are right."""
    off = float((after - right.states[step + 1]).abs().max()) if after is not None else float("nan")
    told = {"step": step, "rank": rank, "off": off, "K": task.ranks}
    if after is None:
        return "other-step", told
    own = _gradient(task, right.states[step], seen[rank]["rows"][step])
    mean, before = right.gradients[step], right.momentum[step]
    added = torch.stack(right.gradients[: step + 1]).sum(0)
    for name, gradient, momentum, factor in _ways(task.ranks, own, mean, before, added if step else None):
        moved = gradient if momentum is None else MOMENTUM * momentum + gradient
        if _same(after, _after(task, right.states[step], -factor * task.rate * moved)):
            return _lost(step, rank) if name == "momentum-lost" else name, told | {"factor": factor}
    return "other-step", told


def _lost(step: int, rank: int) -> str:
    return "momentum-restarts" if step else "momentum-on-rank-0" if rank else "momentum-lost"


def _ways(
    K: int, own: Tensor, mean: Tensor, momentum: Tensor | None, added: Tensor | None
) -> Iterator[tuple[str, Tensor, Tensor | None, float]]:
    """Mistakes that a step can show: a name, the gradient, the momentum before it, and how often the rate is taken.
    ``added`` is the sum of all gradients up to this step's."""
    if added is not None:
        yield "gradients-add-up", added, momentum, float(K)
    rates = {"": float(K), "rate-not-scaled": 1.0, "rate-divided": 1 / K, "too-large": float(K * K)}
    gradients = {"": mean, "own-gradient": own, "too-large": K * mean}
    for (of_rate, factor), (of_gradient, gradient), lost in product(rates.items(), gradients.items(), (False, True)):
        if not lost or momentum is not None:
            name = of_gradient if of_gradient == "own-gradient" else "momentum-lost" if lost else of_gradient or of_rate
            name = "sum-at-rate" if (name, of_rate) == ("too-large", "rate-not-scaled") else name
            if name:
                yield name, gradient, None if lost else momentum, factor


def _gradient(task: Task, before: Tensor, rows: list[int]) -> Tensor:
    """Of the mean loss of these rows, at that state."""
    model, (x, y) = task.at(before), task.data()
    F.mse_loss(model(x[rows]), y[rows]).backward()
    return flat([p.grad for p in model.parameters() if p.grad is not None])


def _after(task: Task, before: Tensor, change: Tensor) -> Tensor:
    """The state, with its trained parameters changed."""
    model = task.at(before)
    learned = [p for p in model.parameters() if p.requires_grad]
    for p, piece in zip(learned, change.split([p.numel() for p in learned]), strict=True):
        p.data += piece.reshape(p.shape)
    return state(model)


# ---- what is saved


def kept(task: Task, seen: Sequence[Evidence], right: Serial) -> Iterator[Fact]:
    """Rank 0 saves, once, what is there when all is trained."""
    numbers = [len(one["saved"]) for one in seen]
    savers = [rank for rank, number in enumerate(numbers) if number]
    told = {"savers": savers, "number": sum(numbers), "rank": savers[0] if savers else 0}
    if not savers:
        yield "not-saved", told
    elif len(savers) > 1:
        yield "all-save", told
    elif savers != [0]:
        yield "other-rank-saves", told
    elif numbers[0] > 1:
        yield "saves-often", told
    else:
        yield from _contents(task, seen[0]["saved"][0], right, told)


def _contents(task: Task, saved: dict[str, Any] | str, right: Serial, told: dict[str, Any]) -> Iterator[Fact]:
    if isinstance(saved, str):
        yield "saves-something-else", told | {"type": saved}
        return
    if not _same(saved["model"], right.states[-1]):
        yield "saves-other-weights", told
    if saved["momentum"] is None:
        yield "saves-no-momentum", told
    if not _same(saved["momentum"], right.momentum[-1]):
        yield "saves-other-momentum", told
    if abs(saved["rate"] / (task.ranks * task.rate) - 1) > CLOSE:
        yield "saves-other-rate", told | {"rate": saved["rate"], "wanted": task.ranks * task.rate}
