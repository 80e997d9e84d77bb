"""A job that stops and goes on, with other ranks: which samples its loaders give, and the states between. Facts, no
sentences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from lockstep.checks.plain import plain

Evidence = dict[str, Any]
Part = tuple[int, int, int]  # ranks, batch, and the steps that are made, or one of the next two
TO_THE_END, LEFT = -1, -2  # of the epoch; LEFT: the ``for`` is left after two steps, and begun again
SEEDS = 10_000  # a learner may make another number of seed and epoch
LONGEST, METHODS = 200, ("__iter__", "state_dict", "load_state_dict")
TRIED: dict[str, list[tuple[int, list[Part]]]] = {  # samples, parts of a job: a state is handed on between them
    "one epoch": [(40, [(1, 4, -1)]), (40, [(4, 2, -1)])],
    "samples that fill no step": [(43, [(2, 4, -1), (2, 4, -1)]), (5, [(3, 2, -1), (1, 5, -1)])],
    "a stop on one rank": [(40, [(1, 4, 3), (1, 4, -1)])],
    "a stop on several ranks": [(64, [(4, 2, 3), (4, 2, -1)])],
    "a stop before the first batch": [(24, [(2, 3, 0), (2, 3, -1)])],
    "a stop after the last batch": [(24, [(2, 3, 4), (2, 3, -1), (2, 3, -1)])],
    "fewer ranks after a stop": [(64, [(4, 4, 2), (2, 4, -1)]), (10, [(2, 2, 1), (1, 3, -1)])],
    "more ranks after a stop": [(70, [(2, 5, 2), (3, 5, 1), (5, 2, -1)])],
    "another batch after a stop": [(47, [(2, 8, 2), (2, 2, -1)]), (10, [(1, 4, 2), (1, 2, -1)])],
    "several stops": [(90, [(2, 4, 2), (2, 4, 3), (3, 4, 1), (3, 4, 0), (2, 4, -1)])],
    "a stop in a later epoch": [(36, [(2, 3, -1), (2, 3, -1), (2, 3, 2), (2, 3, -1), (2, 3, -1)])],
    "a stop in a later epoch, and other ranks": [(41, [(2, 3, -1), (2, 3, 3), (3, 2, -1), (1, 5, 4), (2, 2, -1)])],
    "a loop that is left, and begun again": [(50, [(2, 3, -2)]), (50, [(1, 5, -1), (1, 5, -2), (1, 5, -1)])],
    "no sample": [(0, [(2, 3, -1), (1, 1, -1)])],
}


class Wrong(Exception):
    """A loader that cannot go on; ``facts`` say why."""

    def __init__(self, **facts: Any) -> None:
        super().__init__()
        self.facts = facts


def watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    """The job as it is told; the same without a stop; two epochs each of this seed, of the next one and of the seed 0;
    and, in a job of whole epochs, what a loader gives that goes back."""
    samples, parts, seed = arguments
    seed %= SEEDS
    try:
        stopped = job(fn, samples, parts, seed)
        same = len({part[:2] for part in parts}) == 1
        through = job(fn, samples, joined(parts), seed, anew=False) if same else None
        two = [(*parts[0][:2], TO_THE_END)] * 2
        own, other, zero = (job(fn, samples, two, number, anew=False) for number in (seed, seed + 1, 0))
        epochs_only = len(parts) > 1 and all(steps == TO_THE_END for _, _, steps in parts)
        back = gone_back(fn, samples, parts[0], seed) if epochs_only else True
        return {"parts": stopped, "through": through, "own": own, "other": other, "zero": zero, "back": back}
    except Wrong as wrong:
        return {"wrong": wrong.facts}


def joined(parts: Sequence[Part]) -> list[Part]:
    """As many epochs, without a stop."""
    return [(ranks, batch, TO_THE_END) for ranks, batch, steps in parts if steps < 0]


def job(fn: Callable[..., Any], samples: int, parts: Sequence[Part], seed: int, anew: bool = True) -> list[Any]:
    """Of each part the steps, each with the batches of all ranks. Between two parts there are new loaders, if ``anew``;
    the state comes from any rank."""
    found, dice, state, loaders, given = [], Random(seed), "", list[Any](), list[Any]()
    for ranks, batch, steps in parts:
        if anew or not loaders:
            loaders = [made(fn, samples, batch, rank, ranks, seed) for rank in range(ranks)]
            given = loaded(loaders, state) if state else []
        found.append(list(stepped(loaders, steps, samples)))
        if any(json.dumps(one) != state for one in given):
            raise Wrong(given=True)
        if anew:
            state = agreed(loaders)[dice.randrange(ranks)]
    return found


def loaded(loaders: Sequence[Any], state: str) -> list[Any]:
    """All of them go on from a state. Returns the dicts that they were given."""
    given = [json.loads(state) for _ in loaders]
    for loader, one in zip(loaders, given, strict=True):
        loader.load_state_dict(one)
    return given


def gone_back(fn: Callable[..., Any], samples: int, part: Part, seed: int) -> bool:
    """Whether loaders that have begun the next epoch, and load a state of the first one, give what came after it."""
    ranks, batch, _ = part
    loaders = [made(fn, samples, batch, rank, ranks, seed) for rank in range(ranks)]
    list(stepped(loaders, 1, samples))
    state = agreed(loaders)[0]
    rest = list(stepped(loaders, TO_THE_END, samples))
    list(stepped(loaders, 1, samples))
    loaded(loaders, state)
    return list(stepped(loaders, TO_THE_END, samples)) == rest


def made(fn: Callable[..., Any], samples: int, batch: int, rank: int, ranks: int, seed: int) -> Any:
    loader = fn(samples, batch, rank, ranks, seed)
    lacks = [name for name in METHODS if not callable(getattr(loader, name, None))]
    if lacks:
        raise Wrong(lacks=lacks[0], type=type(loader).__name__)
    return loader


def stepped(loaders: list[Any], steps: int, samples: int) -> Iterator[list[Any]]:
    """All ranks side by side. After the first step a state is taken, which later ones must not change."""
    iterators, number, kept = [iter(loader) for loader in loaders], 0, list[tuple[Any, str]]()
    while number != steps and number <= samples:
        batches: list[Any] = [next(iterator, None) for iterator in iterators]
        if all(batch is None for batch in batches):
            break
        if any(batch is None for batch in batches):
            raise Wrong(ends=sum(batch is not None for batch in batches), ranks=len(batches), at=number)
        yield [plain(list(batch)) if hasattr(batch, "__iter__") else type(batch).__name__ for batch in batches]
        number += 1
        agreed(loaders)
        if number == 1:
            kept = [(state, json.dumps(state)) for state in (loader.state_dict() for loader in loaders)]
        if number == 2 and steps == LEFT:
            iterators = [iter(loader) for loader in loaders]
    if any(json.dumps(state) != before for state, before in kept):
        raise Wrong(lives=True)


def agreed(loaders: list[Any]) -> list[str]:
    """The states, as text. They are the same on all ranks."""
    states = []
    for loader in loaders:
        state = loader.state_dict()
        try:
            states.append(json.dumps(state))
        except (TypeError, ValueError):
            raise Wrong(plain=type(state).__name__) from None
        if not isinstance(state, dict):
            raise Wrong(plain=type(state).__name__)
    if max(map(len, states)) > LONGEST:
        raise Wrong(long=max(map(len, states)))
    if len(set(states)) > 1:
        raise Wrong(unlike=[state[:60] for state in sorted(set(states))[:2]])
    return states


def facts(samples: int, parts: list[Part], seed: int, answer: Any) -> Evidence:
    none: Evidence = dict.fromkeys(
        ("lacks", "ends", "lives", "plain", "long", "unlike", "sizes", "twice", "missing", "given")
    )
    none |= {
        "outside": None,
        "many": None,
        "moved": False,
        "same": False,
        "zero": False,
        "sorted": False,
        "seeds": False,
        "sum": False,
        "back": True,
    }
    if "wrong" in answer:
        return {**none, **answer["wrong"]}
    first = of_parts(samples, parts, answer["parts"])
    rest = first or of_parts(samples, [(*parts[0][:2], TO_THE_END)] * 2, answer["other"])
    if rest:
        return none | rest
    orders = epochs(parts, answer["parts"])
    own, two, zero = (epochs([(*parts[0][:2], TO_THE_END)] * 2, answer[key]) for key in ("own", "other", "zero"))
    moved = answer["through"] is not None and epochs(joined(parts), answer["through"]) != orders[: len(joined(parts))]
    many = samples >= 20
    return none | {
        "moved": moved, "back": answer["back"], "same": many and two[0] == two[1],
        "zero": many and zero[0] == zero[1], "sorted": many and two[0] == sorted(two[0]),
        "seeds": many and len(orders[0]) >= 12 and orders[0] == two[0],
        "sum": many and own[1:2] == two[:1],
    }  # fmt: skip


def epochs(parts: Sequence[Part], found: list[Any]) -> list[list[int]]:
    """The samples of each epoch, in the order of steps and ranks."""
    orders = [list[int]()]
    for (_, _, steps), own in zip(parts, found, strict=True):
        orders[-1] += [n for batches in own for batch in batches for n in batch]
        if steps < 0:
            orders.append([])
    return orders[:-1] if not orders[-1] and len(orders) > 1 else orders


def of_parts(samples: int, parts: Sequence[Part], found: list[Any]) -> Evidence:
    """What is wrong with the batches, part by part; nothing where all is right."""
    seen, epoch, alone = Counter[int](), 0, True
    for number, ((ranks, batch, steps), own) in enumerate(zip(parts, found, strict=True)):
        batches = [one for step in own for one in step]
        wrong = next((one for one in batches if not isinstance(one, list) or len(one) != batch), None)
        where = {
            "part": number,
            "stops": number > 0,
            "epoch": epoch,
            "ranks": ranks,
            "batch": batch,
            "samples": samples,
        }
        if wrong is not None:
            return {**where, "sizes": len(wrong) if isinstance(wrong, list) else wrong}
        left = samples - seen.total()
        outside = next((n for one in batches for n in one if type(n) is not int or not 0 <= n < samples), None)
        if outside is not None:
            return {**where, "outside": outside}
        before = set(seen)
        seen.update(n for one in batches for n in one)
        if twice := [n for n, times in seen.items() if times > 1]:
            return {**where, "twice": twice[0], "again": twice[0] in before, "alone": alone}
        right = left // (ranks * batch) if steps < 0 else min(steps, left // (ranks * batch))
        if len(own) != right:
            return {**where, "missing": len(own), "right": right, "left": left, "alone": alone}
        alone = False
        if steps < 0:
            seen, epoch, alone = Counter[int](), epoch + 1, True
    return {}
