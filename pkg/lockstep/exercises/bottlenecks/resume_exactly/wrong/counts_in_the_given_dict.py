"""The learner thought: the dict that I load is mine from now on."""

import random

MISCONCEPTION = "changes-the-state"


def resume_exactly(samples, batch, rank, ranks, seed):
    step = ranks * batch

    class Loader:
        def __init__(self):
            self.state = {"epoch": 0, "seen": 0}

        def __iter__(self):
            order = list(range(samples))
            random.Random(f"{seed}-{self.state['epoch']}").shuffle(order)
            while self.state["seen"] + step <= samples:
                first = self.state["seen"] + rank * batch
                self.state["seen"] += step
                yield order[first : first + batch]
            self.state["epoch"] += 1
            self.state["seen"] = 0

        def state_dict(self):
            return dict(self.state)

        def load_state_dict(self, state):
            self.state = state

    return Loader()
