"""Sequences of unequal length: a batch is padded to its longest, and all of the padding is computed.

    batch of 4, as they come      ████░░░░  ██░░░░░░  ████████  █░░░░░░░        15 tokens, 32 computed
    bucketed by length            batches of sequences that are about as long

Bucketing sorts *within windows* of some batches, and shuffles the batches: a training still sees its data in a random
order, up to what is beside what in a batch (``bucket_by_sequence_length`` of tf.data; ``group_by_length`` of
Transformers' Trainer takes windows of up to 50 batches). On several ranks every rank must get a batch of the same
bucket at each step: else the shortest waits for the longest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lockstep.errors import UsageError

Batches = list[list[int]]  # of numbers of sequences


def as_they_come(lengths: Sequence[int], batch: int, seed: int = 0) -> Batches:
    """A random order, cut into batches; the last may be smaller."""
    _above_zero(batch)
    order = np.random.default_rng(seed).permutation(len(lengths)).tolist()
    return [order[i : i + batch] for i in range(0, len(order), batch)]


def bucketed(lengths: Sequence[int], batch: int, window: int = 50, seed: int = 0) -> Batches:
    """The same, with the sequences of each ``window`` batches sorted by length before they are cut, and the batches
    shuffled."""
    _above_zero(batch)
    _above_zero(window)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(lengths)).tolist()
    found: Batches = []
    for i in range(0, len(order), batch * window):
        near = sorted(order[i : i + batch * window], key=lambda n: lengths[n])
        found += [near[j : j + batch] for j in range(0, len(near), batch)]
    return [found[i] for i in rng.permutation(len(found))]


def computed_tokens(lengths: Sequence[int], batches: Batches) -> int:
    """Tokens that are computed, padding included: in each batch, its size times its longest."""
    return sum(len(batch) * max(lengths[n] for n in batch) for batch in batches)


def padding(lengths: Sequence[int], batches: Batches) -> float:
    """The share of computed tokens that is padding."""
    return 1 - sum(lengths[n] for batch in batches for n in batch) / computed_tokens(lengths, batches)


def _above_zero(number: int) -> None:
    if number < 1:
        raise UsageError(f"{number} is no number of sequences or batches.", "Give 1 or more.")


# ---- on several ranks


def bucket_by_length(
    lengths: Sequence[int], size: int, ranks: int, window: int, seed: int, epoch: int
) -> list[Batches]:
    """An epoch's steps: for each, a batch of ``size`` samples for each rank, all of about the same length.

    The epoch's random order is cut into windows of ``window`` steps; in each the samples are sorted, cut into steps,
    and the steps are shuffled. What fills no step at the end of the random order is left out. All that is random is
    drawn from ``seed`` and ``epoch``: the ranks need no message to agree."""
    for number in (size, ranks, window):
        _above_zero(number)
    rng, step = np.random.default_rng((seed, epoch)), size * ranks
    order = rng.permutation(len(lengths)).tolist()
    order = order[: len(order) // step * step]
    found: list[Batches] = []
    for i in range(0, len(order), step * window):
        near = sorted(order[i : i + step * window], key=lambda n: lengths[n])
        steps = [near[j : j + step] for j in range(0, len(near), step)]
        found += [[steps[n][k : k + size] for k in range(0, step, size)] for n in rng.permutation(len(steps))]
    return found
