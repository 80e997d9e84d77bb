"""The samples of a step are dealt by turns, and an iterator object keeps the place."""

import numpy as np


def resume_exactly(samples, batch, rank, ranks, seed):
    return Loader(samples, batch, rank, ranks, seed)


class Loader:
    def __init__(self, samples, batch, rank, ranks, seed):
        self.samples, self.batch, self.rank, self.ranks, self.seed = samples, batch, rank, ranks, seed
        self.load_state_dict({"epoch": 0, "taken": 0})

    def load_state_dict(self, state):
        self.epoch, self.taken = state["epoch"], state["taken"]
        self.order = np.random.default_rng([self.seed, self.epoch]).permutation(self.samples).tolist()

    def state_dict(self):
        return dict(epoch=self.epoch, taken=self.taken)

    def __iter__(self):
        return self

    def __next__(self):
        ends = self.taken + self.ranks * self.batch
        if ends > self.samples:
            self.load_state_dict({"epoch": self.epoch + 1, "taken": 0})
            raise StopIteration
        mine = self.order[self.taken + self.rank : ends : self.ranks]
        self.taken = ends
        return mine
