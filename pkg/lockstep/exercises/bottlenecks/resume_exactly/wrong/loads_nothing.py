"""The learner thought: a for begins at the beginning of what is left, wherever it is left."""

import random

MISCONCEPTION = "no-way-back"
ALSO = ["seen-twice", "seen-again"]


def resume_exactly(samples, batch, rank, ranks, seed):
    class Loader:
        def __init__(self):
            self.epoch, self.seen, self.start = 0, 0, 0

        def __iter__(self):
            self.seen = self.start
            order = random.Random(f"{seed}/{self.epoch}").sample(range(samples), samples)
            while self.seen + batch * ranks <= samples:
                first = self.seen + batch * rank
                self.seen += batch * ranks
                yield order[first : first + batch]
            self.epoch, self.seen = self.epoch + 1, 0
            self.start = 0

        def state_dict(self):
            return {"epoch": self.epoch, "seen": self.seen}

        def load_state_dict(self, state):
            self.epoch, self.start = state["epoch"], state["seen"]
            self.seen = self.start

    return Loader()
