"""Workers that are late now and then: a fixed trace of delays by worker and step, the same for every scheme.

Two kinds of stragglers ask for two kinds of help. A machine that is always slow makes all of a synchronous step slow,
and with any finite bound it makes all of a parameter server slow as well, only later. One that is late now and then
holds up a synchronous step nearly always, if there are many of them; a bound of a few steps lets the others go on until
it has caught up.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from random import Random

from torch import Tensor

from lockstep.without_waiting.local_sgd import Gradient

OFTEN = 0.1  # of its steps a worker is late


class Late:
    """A gradient that takes ``more[step]`` seconds longer."""

    def __init__(self, gradient: Gradient, more: Sequence[float]) -> None:
        self.gradient, self.more = gradient, more

    def __call__(self, w: Tensor, step: int) -> Tensor:
        time.sleep(self.more[step])
        return self.gradient(w, step)


def drawn(workers: int, steps: int, seconds: float, often: float = OFTEN, seed: int = 0) -> list[list[float]]:
    """By worker and step the extra time: 0, or ``seconds``. Always the same for the same seed."""
    dice = Random(seed)
    return [[seconds * (dice.random() < often) for _ in range(steps)] for _ in range(workers)]
