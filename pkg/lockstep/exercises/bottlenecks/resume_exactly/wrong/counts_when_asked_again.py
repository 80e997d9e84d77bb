"""The learner thought: a batch is seen when the next one is asked for."""

import random

MISCONCEPTION = "seen-again"
ALSO = ["seen-twice"]


def resume_exactly(samples, batch, rank, ranks, seed):
    class Loader:
        def __init__(self):
            self.epoch, self.seen = 0, 0

        def __iter__(self):
            order = random.Random(f"{seed}/{self.epoch}").sample(range(samples), samples)
            while self.seen + batch * ranks <= samples:
                first = self.seen + batch * rank
                yield order[first : first + batch]
                self.seen += batch * ranks
            self.epoch, self.seen = self.epoch + 1, 0

        def state_dict(self):
            return {"epoch": self.epoch, "seen": self.seen}

        def load_state_dict(self, state):
            self.epoch, self.seen = state["epoch"], state["seen"]

    return Loader()
