"""Epochs of steps that are bucketed by length: what is random in them, and what is padded. Facts, no sentences."""

from __future__ import annotations

import builtins
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from random import Random
from statistics import mean
from typing import Any

import numpy as np
import torch

from lockstep.checks.plain import plain

Evidence = dict[str, Any]
Steps = list[list[list[int]]]
PAIRS = [(seed, epoch) for seed in (1, 2) for epoch in range(8)]
LOOKALIKES = [  # of two numbers made one: a sum, a product, digits side by side, 10, 100 or 1,000 times the seed
    *(((1, e + 1), (2, e)) for e in range(7)), ((1, 2), (2, 1)), ((1, 11), (11, 1)),
    *(((3, times), (4, 0)) for times in (10, 100, 1000)),
]  # fmt: skip
RARE = sorted({pair for both in LOOKALIKES for pair in both} - set(PAIRS))
EARLY, LATE, APART = 0.25, 0.75, 0.3  # of places between 0 and 1; a right answer is far from these
TRIED = {  # samples, size, ranks, window
    "one rank": [(150, 4, 1, 8)],
    "several ranks": [(200, 2, 4, 6)],
    "samples that fill no step": [(119, 4, 3, 3), (127, 8, 1, 5), (131, 4, 3, 4)],
    "a window of one step": [(60, 3, 2, 1)],
    "batches of one sample": [(90, 1, 1, 12), (90, 1, 3, 8)],
    "one window only": [(48, 4, 2, 90)],
    "fewer samples than a step has, or none": [(5, 3, 2, 4), (0, 3, 2, 4), (6, 3, 2, 4)],
}


def lengths_of(samples: int, seed: int) -> list[int]:
    """Mostly short ones, as texts are; some are equal."""
    dice = Random(seed)
    return [1 + int(dice.lognormvariate(3.5, 0.9)) for _ in range(samples)]


def watch(fn: Callable[..., Any], arguments: tuple[int, ...]) -> dict[str, Any]:
    """The epochs of several seeds, each of which the function makes twice, as two ranks would."""
    samples, size, ranks, window, seed = arguments
    lengths = lengths_of(samples, seed)
    own, found = list(lengths), []
    for n, pair in enumerate([*PAIRS, *RARE]):
        both = []
        for rank in range(2 if n < 4 else 1):
            with process_of(rank, seed):
                both.append(plain(fn(own, size, ranks, window, *pair)))
        found.append(both)
    return {"epochs": found, "kept": own == lengths}


@contextmanager
def process_of(rank: int, seed: int) -> Iterator[None]:
    """The process of a rank, which has drawn other numbers before, and in which texts have other hashes."""
    random.seed(seed + 7 * rank)
    np.random.seed((seed + 7 * rank) % 2**32)
    torch.manual_seed(seed + 7 * rank)
    own = builtins.hash
    builtins.hash = lambda value: own((own(value), rank)) if holds_text(value) else own(value)
    try:
        yield
    finally:
        builtins.hash = own


def holds_text(value: Any) -> bool:
    """Whether Python's hash of it differs between processes."""
    return isinstance(value, (str, bytes)) or (isinstance(value, (tuple, frozenset)) and any(map(holds_text, value)))


def facts(samples: int, size: int, ranks: int, window: int, seed: int, answer: Any) -> Evidence:
    lengths, step = lengths_of(samples, seed), size * ranks
    epochs = [both[0] for both in answer["epochs"]]
    shaped = next((n for n, steps in enumerate(epochs) if not is_nested(steps)), -1)
    found: Evidence = {"kept": answer["kept"], "shaped": shaped < 0, "size": size, "ranks": ranks, "window": window}
    if shaped >= 0:
        return found
    orders = [[n for one in steps for batch in one for n in batch] for steps in epochs]
    found |= {
        "outside": next((n for order in orders for n in order if not 0 <= n < samples), None), "samples": samples,
        "twice": next((n for order in orders for n in set(order) if order.count(n) > 1), None),
        "sizes": sorted({len(batch) for steps in epochs for one in steps for batch in one} - {size}),
        "batches": sorted({len(one) for steps in epochs for one in steps} - {ranks}),
        "steps": next((len(steps) for steps in epochs if len(steps) != samples // step), None),
        "right": samples // step,
        "unlike": any(len(both) > 1 and both[0] != both[1] for both in answer["epochs"]),
    }  # fmt: skip
    whole = not any(found[key] for key in ("sizes", "batches")) and found["outside"] is None
    if not whole or found["steps"] is not None or found["twice"] is not None or not orders[0]:
        return found
    return found | padding_of(epochs, lengths, window) | random_of(epochs, lengths, window)


def is_nested(steps: Any) -> bool:
    """Whether it is a list of lists of lists of integers."""
    lists = isinstance(steps, list) and all(isinstance(one, list) for one in steps)
    deep = lists and all(isinstance(batch, list) for one in steps for batch in one)
    return deep and all(type(n) is int for one in steps for batch in one for n in batch)


def windows_of(steps: Steps, window: int) -> Iterator[Steps]:
    return (steps[n : n + window] for n in range(0, len(steps), window))


def flat(steps: Steps) -> list[int]:
    return [n for one in steps for batch in one for n in batch]


def padding_of(epochs: list[Steps], lengths: list[int], window: int) -> Evidence:
    """The first window in which another way to make steps computes fewer tokens; and whether its batches, each by
    itself, are of like length."""
    for steps in epochs:
        for number, own in enumerate(windows_of(steps, window)):
            step, size = len(flat(own[:1])), len(own[0][0])
            spread = sorted(lengths[n] for n in flat(own))
            least = step * sum(spread[step - 1 :: step])
            computed = step * sum(max(lengths[n] for n in flat([one])) for one in own)
            if computed > least:
                alone = size * sum(max(lengths[n] for n in batch) for one in own for batch in one)
                like = alone == size * sum(spread[size - 1 :: size])
                return {"padded": number, "computed": computed, "least": least, "like": like and step > size > 1}
    return {"padded": None, "computed": 0, "least": 0, "like": False}


def random_of(epochs: list[Steps], lengths: list[int], window: int) -> Evidence:
    """Whether windows and steps are as random as they should be. Each of these is told only where a right answer
    would have it less than once in a million checks."""
    cut = [[frozenset(flat(own)) for own in windows_of(steps, window)] for steps in epochs]
    place = np.argsort(np.argsort(lengths, kind="stable")) / max(1, len(lengths) - 1)  # 0 the shortest, 1 the longest
    out = [place[n] for steps in epochs for n in set(range(len(lengths))) - set(flat(steps))]
    means = [mean(place[n] for n in own) for sets in cut for own in sets if len(own) >= 6]
    long = [
        [max(lengths[n] for n in flat([one])) for one in own] for steps in epochs for own in windows_of(steps, window)
    ]
    many = len(cut[0]) > 1 or len(out) > len(epochs)
    of_pair = dict(zip([*PAIRS, *RARE], cut, strict=True))
    same = any(one == cut[0] for one in cut[1:8])
    pair = next(((a, b) for a, b in LOOKALIKES if many and of_pair[a] == of_pair[b]), None)
    return {
        "same": many and same, "seedless": many and cut[:8] == cut[8:16],
        "pair": pair, "left": mean(out) if len(out) >= 60 else 0.5,
        "apart": 12 * float(np.var(means)) if len(means) >= 12 else 0.0,
        "sorted": sum(map(len, long)) >= 40 and max(map(len, long)) > 1 and all(in_order(own) for own in long),
    }  # fmt: skip


def in_order(numbers: list[int]) -> bool:
    return all(a <= b for a, b in pairwise(numbers)) or all(a >= b for a, b in pairwise(numbers))
