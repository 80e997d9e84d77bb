"""The learner thought: each rank has a part of the order, and goes through it."""

import random

MISCONCEPTION = "seen-again"
ALSO = ["wrong-size", "seen-twice"]


def resume_exactly(samples, batch, rank, ranks, seed):
    class Loader:
        def __init__(self):
            self.epoch, self.seen = 0, 0

        def __iter__(self):
            order = random.Random(f"{seed}/{self.epoch}").sample(range(samples), samples)
            own = order[rank::ranks]
            while self.seen + batch * ranks <= samples:
                first = self.seen // ranks
                self.seen += batch * ranks
                yield own[first : first + batch]
            self.epoch, self.seen = self.epoch + 1, 0

        def state_dict(self):
            return {"epoch": self.epoch, "seen": self.seen}

        def load_state_dict(self, state):
            self.epoch, self.seen = state["epoch"], state["seen"]

    return Loader()
