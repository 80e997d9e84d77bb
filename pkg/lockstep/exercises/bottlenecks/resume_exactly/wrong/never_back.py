"""The learner thought: who loads a state has seen fewer epochs than it."""

import random

MISCONCEPTION = "no-way-back"


def resume_exactly(samples, batch, rank, ranks, seed):
    step = ranks * batch

    class Loader:
        def __init__(self):
            self.generator = random.Random(seed)
            self.order = list(range(samples))
            self.drawn = 0
            self.epoch = 0
            self.seen = 0

        def __iter__(self):
            while self.drawn <= self.epoch:
                self.generator.shuffle(self.order)
                self.drawn += 1
            while self.seen + step <= samples:
                first = self.seen + rank * batch
                self.seen += step
                yield self.order[first : first + batch]
            self.epoch += 1
            self.seen = 0

        def state_dict(self):
            return {"epoch": self.epoch, "seen": self.seen}

        def load_state_dict(self, state):
            self.epoch = state["epoch"]
            self.seen = state["seen"]

    return Loader()
