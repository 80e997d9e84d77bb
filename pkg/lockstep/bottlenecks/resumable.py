"""A sharded loader that can resume: after a restart no sample of the epoch is seen twice, and none is left out.

The epoch's order is a permutation by seed and epoch, the same on every rank. With ``position`` samples seen by all
ranks together, rank r of K gets the samples at position + r, position + r + K, … So the state is two numbers, the same
on each rank, and a job may go on with *another* number of ranks.

    position counts what the training has *taken*, not what workers have loaded ahead

Batches are whole: a step takes ``batch`` samples on each rank, and what is left of an epoch that fills no step is
dropped, as by ``DistributedSampler(drop_last=True)``. torchdata's ``StatefulDataLoader`` has the same two methods.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lockstep.errors import UsageError


class ResumableLoader:
    """The numbers of the samples that rank ``rank`` of ``ranks`` takes, in batches: iterate over an epoch's rest."""

    def __init__(self, samples: int, batch: int, rank: int = 0, ranks: int = 1, seed: int = 0) -> None:
        if batch < 1 or not 0 <= rank < ranks:
            raise UsageError(f"There is no rank {rank} of {ranks} with batches of {batch}.")
        self.samples, self.batch, self.rank, self.ranks, self.seed = samples, batch, rank, ranks, seed
        self.epoch = self.position = 0

    def order(self) -> list[int]:
        """The epoch's permutation of all samples."""
        return permuted(self.samples, self.seed, self.epoch)

    def __iter__(self) -> Iterator[list[int]]:
        """The rest of the epoch; then the next one begins."""
        order, step = self.order(), self.batch * self.ranks
        while self.position + step <= self.samples:
            mine = order[self.position + self.rank : self.position + step : self.ranks]
            self.position += step  # before the batch is given: it is taken now
            yield mine
        self.epoch, self.position = self.epoch + 1, 0

    def state_dict(self) -> dict[str, int]:
        """Where the training is: to be saved in the checkpoint, at the same step as the weights."""
        return {"epoch": self.epoch, "position": self.position, "samples": self.samples, "seed": self.seed}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Raises UsageError if it is the state of other data, or of another order."""
        if (state["samples"], state["seed"]) != (self.samples, self.seed):
            raise UsageError(
                f"This state is of {state['samples']} samples with seed {state['seed']}, "
                f"the loader has {self.samples} with seed {self.seed}.",
                "Make the loader with those.",
            )
        self.epoch, self.position = state["epoch"], state["position"]


def permuted(samples: int, seed: int, epoch: int) -> list[int]:
    """The order of an epoch, the same wherever it is drawn."""
    found: list[int] = np.random.default_rng((seed, epoch)).permutation(samples).tolist()
    return found


def resume_exactly(samples: int, batch: int, rank: int, ranks: int, seed: int) -> ResumableLoader:
    """The loader of this rank, which resumes exactly: see ``ResumableLoader``."""
    return ResumableLoader(samples, batch, rank, ranks, seed)
