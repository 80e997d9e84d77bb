"""Observes a function that divides a dataset's examples among ranks: it is called as every rank would call it, and what
it returns is described. Facts, no sentences.

Many functions are right, since any order will do. So nothing is compared with one right answer: what counts is who has
which example, and what is left of an epoch's shares and order in the next one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, combinations, pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

MANY = 100  # examples: of so many no two orders that were drawn are alike by chance

Partition = Callable[[list[Any], int, int, int], Any]  # dataset, rank, ranks, epoch
Shares = Sequence[Sequence[int]]  # by rank, the positions of its examples in the dataset
Facts = dict[str, Any]


def observed(
    fn: Partition, dataset: Sequence[Any], ranks: int, epochs: int | Sequence[int], twice: bool = False
) -> Facts:
    """The ``facts`` of what ``fn`` gives on each rank in each epoch: in the first ones, or in those that are listed.

    If that is no list of examples, there are none: ``kind`` is the type of the first answer that is no list, and
    ``foreign`` the first item that is no example, which may be a "position". ``twice``: one call is made again in other
    ways; ``called_again`` has what comes of it."""
    seen: Facts = {"n": len(dataset), "ranks": ranks, "kind": "", "foreign": "", "position": False}
    seen |= {"depends": "", "touched": ""}
    tried = range(epochs) if isinstance(epochs, int) else epochs
    with random_numbers_as_before():
        answers = {epoch: [called(fn, dataset, rank, ranks, epoch) for rank in range(ranks)] for epoch in tried}
        seen |= called_again(fn, dataset, ranks - 1, ranks, tried[-1]) if twice else {}
    flat = [answer for of_epoch in answers.values() for answer in of_epoch]
    kinds = [type(answer).__name__ for answer in flat if not isinstance(answer, (list, tuple))]
    odd = next((items for answer in flat if not kinds and (items := strangers(answer, dataset))), [])
    if kinds or odd:
        is_position = type(odd[0]) is int and 0 <= odd[0] < len(dataset) if odd else False
        foreign = f"{odd[0]!r:.80}" if odd else ""
        return seen | {"kind": "".join(kinds[:1]), "foreign": foreign, "position": is_position}
    shares = {epoch: [located(answer, dataset) for answer in of_epoch] for epoch, of_epoch in answers.items()}
    return seen | facts(located(dataset, dataset), shares)


# ---- calls


def called(fn: Partition, dataset: Sequence[Any], rank: int, ranks: int, epoch: int, salt: int = 0) -> Any:
    """What ``fn`` gives a rank: it gets a list of its own, and the program's random numbers, which differ by rank and
    go on from epoch to epoch."""
    seed(salt + ranks * epoch + rank)
    return fn(list(dataset), rank, ranks, epoch)


def called_again(fn: Partition, dataset: Sequence[Any], rank: int, ranks: int, epoch: int) -> Facts:
    """What a call does besides, and what its answer ``depends`` on: the "call", since each gives another one; "hash",
    which another process of Python salts otherwise; the "random" numbers that the program has drawn before; "" for
    nothing. ``touched`` is the generator whose numbers the call has changed."""
    seed(ranks * epoch + rank)
    untouched = next_numbers()
    seed(ranks * epoch + rank)
    first = fn(list(dataset), rank, ranks, epoch)
    touched = [name for name, number in next_numbers().items() if number != untouched[name]]
    ways = {"call": called(fn, dataset, rank, ranks, epoch)}
    with patch.dict(getattr(fn, "__globals__", {}), hash=otherwise_salted):
        ways["hash"] = called(fn, dataset, rank, ranks, epoch)
    ways["random"] = called(fn, dataset, rank, ranks, epoch, salt=1000)
    depends = [name for name, answer in ways.items() if located(answer, dataset) != located(first, dataset)]
    return {"depends": "".join(depends[:1]), "touched": "".join(touched[:1])}


def otherwise_salted(value: Any) -> int:
    """``hash`` as in another process of Python: of text and bytes it is another one, of numbers it is the same."""
    if isinstance(value, tuple):
        return hash(tuple(otherwise_salted(part) for part in value))
    return hash((type(value), "salt", value)) if isinstance(value, (str, bytes)) else hash(value)


def seed(number: int) -> None:
    random.seed(number)
    np.random.seed(number)
    torch.manual_seed(number)


def next_numbers() -> dict[str, float]:
    """The next one of each generator that a program has without making one."""
    return {"random": random.random(), "numpy.random": float(np.random.random()), "torch": float(torch.rand(()))}


@contextmanager
def random_numbers_as_before() -> Iterator[None]:
    """Whoever calls goes on with the random numbers that were next before."""
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_rng_state(states[2])


# ---- which examples they are


def located(share: Any, dataset: Sequence[Any]) -> list[int]:
    """The positions of the examples in a list; of those that are equal, the first one's. A value that is no list has
    none, and an item that is no example has none."""
    return [i for i in _found(share, dataset) if i is not None]


def strangers(share: Any, dataset: Sequence[Any]) -> list[Any]:
    """The items of a list that are no examples."""
    return [item for item, i in zip(share, _found(share, dataset), strict=True) if i is None]


def _found(share: Any, dataset: Sequence[Any]) -> list[int | None]:
    where = dict(zip(map(id, dataset), firsts(dataset), strict=True))
    items = share if isinstance(share, (list, tuple)) else ()
    return [where[id(item)] if id(item) in where else first(item, dataset) for item in items]


def firsts(dataset: Sequence[Any]) -> list[int]:
    """Of each example the first that is equal."""
    try:
        places: dict[Any, int] = {}
        return [places.setdefault(example, i) for i, example in enumerate(dataset)]
    except TypeError:  # they cannot be hashed
        return [i if (found := first(example, dataset)) is None else found for i, example in enumerate(dataset)]


def first(item: Any, dataset: Sequence[Any]) -> int | None:
    return next((i for i, example in enumerate(dataset) if is_copy(item, example)), None)


def is_copy(item: Any, example: Any) -> bool:
    """Whether it is the very object, or a copy: a row of an array equals a list, and is none."""
    if item is example or not isinstance(item, type(example)):
        return item is example
    with suppress(Exception):  # arrays and tensors say of each element whether it is equal
        return bool(item == example)
    return False


# ---- who has what


def facts(wanted: Sequence[int], epochs: Mapping[int, Shares]) -> Facts:
    """``wanted``: the positions that all shares together should have, each once, but for equal examples.

    Of the first epoch in which somebody has too much or too little, or else of the first of all: ``sizes``, and whether
    they are ``uneven``; how many examples are ``lost`` and ``doubled``, and which ranks have the first of these
    (``holders``); what was done to the ``tail``; and whether it is as if each rank had an order of its ``own``. Of all
    epochs: what ``stays``."""
    epoch = next((e for e, shares in epochs.items() if not is_fair(wanted, shares)), min(epochs))
    n, shares = len(wanted), epochs[epoch]
    times, once = Counter(chain(*shares)), Counter(wanted)
    lost, doubled = list((once - times).elements()), list(times - once)
    return {
        "epoch": epoch,
        "sizes": [len(share) for share in shares],
        "uneven": max(map(len, shares)) - min(map(len, shares)) > 1,
        "lost": len(lost),
        "doubled": len(doubled),
        "tail": tail_of(n, shares, len(lost), len(doubled)),
        "holders": [rank for rank, share in enumerate(shares) for i in share if i in doubled[:1]],
        "own": is_each_for_itself(n, shares),
        **what_stays(n, epochs),
    }


def is_fair(wanted: Sequence[int], shares: Shares) -> bool:
    """Whether every example is on one rank, once, and sizes differ by one at most."""
    sizes = [len(share) for share in shares]
    return sorted(chain(*shares)) == sorted(wanted) and max(sizes) - min(sizes) <= 1


def tail_of(n: int, shares: Shares, lost: int, doubled: int) -> str:
    """ "dropped" or "padded", where all shares have one size because that was done to the last examples; or ""."""
    sizes = {len(share) for share in shares}
    if lost and not doubled and sizes == {n // len(shares)}:
        return "dropped"
    return "padded" if doubled and not lost and sizes == {-(-n // len(shares))} else ""


def is_each_for_itself(n: int, shares: Shares) -> bool:
    """Whether any two of K ranks have as much in common as if each had drawn its n/K examples alone: n/K², roughly."""
    usual = n / len(shares) ** 2
    common = [len(set(a) & set(b)) for a, b in combinations(shares, 2)]
    return n >= MANY and len(shares) > 1 and all(usual / 2 < number < usual * 3 / 2 for number in common)


def what_stays(n: int, epochs: Mapping[int, Shares]) -> Facts:
    """What two epochs, ``between``, have in common that no shuffle leaves: "all"; the "sets" of examples that share a
    rank, whichever; many "pairs" of them (``still`` so many percent, where ``usual`` are others); the "order" in the
    shares. Or "file": an epoch, ``between``, has the order of the dataset. "": nothing of this."""
    found: Facts = {"stays": "", "between": "", "still": 0, "usual": 0}
    if n < MANY:
        return found
    filed = [e for e, shares in epochs.items() if all(i < j for share in shares for i, j in pairwise(share))]
    if len(filed) == len(epochs):
        return found | {"stays": "file", "between": f"{filed[0]}"}
    for a, b in combinations(epochs, 2):
        if stays := same_in_both(epochs[a], epochs[b]):
            return found | stays | {"between": f"{a} and {b}"}
    return found | {"stays": "file", "between": f"{filed[0]}"} if filed else found


def same_in_both(before: Shares, after: Shares) -> Facts:
    """One of ``what_stays``, or nothing."""
    if before == after:
        return {"stays": "all"}
    sets = [[frozenset(share) for share in shares] for shares in (before, after)]
    if len(before) > 1 and set(sets[0]) == set(sets[1]):
        return {"stays": "sets"}
    place = {i: (rank, at) for rank, share in enumerate(after) for at, i in enumerate(share)}
    pairs = [(place[i], place[j]) for share in before for i, j in combinations(share, 2) if i in place and j in place]
    together = [(i, j) for i, j in pairs if i[0] == j[0]]
    if len(before) > 1 and len(together) > 2 * len(pairs) / len(before):
        return {"stays": "pairs", "still": round(100 * len(together) / len(pairs)), "usual": round(100 / len(before))}
    return {"stays": "order"} if sum(i < j for i, j in together) > 0.9 * len(together) else {}
