"""The learner thought: the state is an attribute, so return it."""

import random

MISCONCEPTION = "state-lives"


def resume_exactly(samples, batch, rank, ranks, seed):
    class Loader:
        def __init__(self):
            self.state = {"epoch": 0, "seen": 0}

        def __iter__(self):
            order = random.Random(f"{seed}/{self.state['epoch']}").sample(range(samples), samples)
            while self.state["seen"] + batch * ranks <= samples:
                first = self.state["seen"] + batch * rank
                self.state["seen"] += batch * ranks
                yield order[first : first + batch]
            self.state["epoch"] += 1
            self.state["seen"] = 0

        def state_dict(self):
            return self.state

        def load_state_dict(self, state):
            self.state = dict(state)

    return Loader()
