"""The learner thought: one generator with the seed shuffles each epoch anew."""

import random

MISCONCEPTION = "another-order"
ALSO = ["no-way-back", "seen-again"]


def resume_exactly(samples, batch, rank, ranks, seed):
    class Loader:
        def __init__(self):
            self.epoch, self.seen = 0, 0
            self.dice = random.Random(seed)
            self.order = self.dice.sample(range(samples), samples)

        def __iter__(self):
            order = self.order
            while self.seen + batch * ranks <= samples:
                first = self.seen + batch * rank
                self.seen += batch * ranks
                yield order[first : first + batch]
            self.epoch, self.seen = self.epoch + 1, 0
            self.order = self.dice.sample(range(samples), samples)

        def state_dict(self):
            return {"epoch": self.epoch, "seen": self.seen}

        def load_state_dict(self, state):
            self.epoch, self.seen = state["epoch"], state["seen"]

    return Loader()
