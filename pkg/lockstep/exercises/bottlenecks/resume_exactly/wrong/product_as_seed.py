"""The learner thought: a product tells two numbers apart."""

import random

MISCONCEPTION = "same-each-epoch"


def resume_exactly(samples, batch, rank, ranks, seed):
    step = ranks * batch

    class Loader:
        def __init__(self):
            self.epoch = 0
            self.seen = 0

        def __iter__(self):
            order = list(range(samples))
            random.Random(seed * (self.epoch + 1)).shuffle(order)
            while self.seen + step <= samples:
                first = self.seen + rank * batch
                self.seen += step
                yield order[first : first + batch]
            self.epoch += 1
            self.seen = 0

        def state_dict(self):
            return {"epoch": self.epoch, "seen": self.seen}

        def load_state_dict(self, state):
            self.epoch = state["epoch"]
            self.seen = state["seen"]

    return Loader()
