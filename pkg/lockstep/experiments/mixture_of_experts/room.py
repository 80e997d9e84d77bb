"""An experiment in which experts pay, at equal FLOPs: learning pairs by heart.

Each of 8,192 random keys has a random one of 64 values. A mixture learns them: key + mixture(key), then a fixed linear
layer gives a score for each value. With k = 1 a key meets one expert, however many there are. So a key takes the same
FLOPs with 16 experts as with one, which is the dense layer; the gate is counted beside them, and is small.

Random pairs follow no rule, so what can be known of them is what there is room for: parameters count, not FLOPs.
Language has both, facts to remember and rules to compute. So this shows that experts can pay, and for what; it does not
say how much they gain on a text. For that, see Table 1 of Switch Transformers in ``published``.

The runs are recorded in the course's file: ``python -m lockstep.experiments.mixture_of_experts.room`` recomputes it, in
some minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch.nn import functional as F

from lockstep.experts.balance import load_balancing_loss
from lockstep.experts.gate import TopKGate
from lockstep.experts.serial import SerialMoE
from lockstep.experts.training import one_thread
from lockstep.tables import Table, published
from lockstep.tally import counted

PAIRS, VALUES, WIDTH, HIDDEN = 8192, 64, 32, 64
STEPS, RATE, BALANCE = 400, 0.01, 0.01
EXPERTS, SEEDS = (1, 2, 4, 8, 16), (0, 1)
FILE = "room.csv"
PROVENANCE = f"""\
# {PAIRS} random keys, each with one of {VALUES} random values: the share that a mixture knows after {STEPS} steps of
# Adam with all pairs in each step, by the number of its experts, top-1, each {WIDTH} wide with {HIDDEN} inside.
# provenance: computed, on a CPU; python -m lockstep.experiments.mixture_of_experts.room computes this file anew.
"""


class Known(NamedTuple):
    experts: int
    seed: int
    share: float  # of the pairs whose value has the highest score


def recorded() -> list[Known]:
    """The runs in the course's file."""
    rows = published("experiments/mixture_of_experts", FILE)
    return [Known(int(row["experts"]), int(row["seed"]), float(row["known"])) for row in rows]


def computed(experts: Sequence[int] = EXPERTS, seeds: Sequence[int] = SEEDS, steps: int = STEPS) -> Iterator[Known]:
    """The same runs, computed now."""
    for E, seed in counted([(E, seed) for E in experts for seed in seeds], "Training", each=20.0):
        with one_thread():
            yield Known(E, seed, learned(E, seed, steps))


def learned(E: int, seed: int = 0, steps: int = STEPS, pairs: int = PAIRS) -> float:
    """Train a mixture of ``E`` experts, top-1, on ``pairs`` pairs; returns the share that it knows at the end."""
    generator = torch.Generator().manual_seed(seed)
    keys = torch.randn(pairs, WIDTH, generator=generator)
    values = torch.randint(VALUES, (pairs,), generator=generator)
    to_scores = torch.randn(WIDTH, VALUES, generator=generator) / WIDTH**0.5
    mixture = SerialMoE(TopKGate(WIDTH, E, 1, "before", seed=seed), HIDDEN, seed=seed)
    adam = torch.optim.Adam(mixture.parameters(), RATE)
    decay = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.0, steps)
    for _ in range(steps):
        scores = (keys + mixture(keys)) @ to_scores
        routing = mixture.routing
        loss = F.cross_entropy(scores, values) + BALANCE * load_balancing_loss(routing.scores, routing.experts)
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
        decay.step()
    return float((scores.argmax(1) == values).float().mean())


def key_flops(E: int) -> tuple[int, int]:
    """FLOPs of a key's forward pass: of its one expert with the fixed layer, and of the gate."""
    return 4 * WIDTH * HIDDEN + 2 * WIDTH * VALUES, 2 * WIDTH * E


def written(runs: Sequence[Known]) -> str:
    """The text of the course's file with these runs."""
    lines = [f"{run.experts},{run.seed},{run.share:.4f}" for run in runs]
    return "\n".join([PROVENANCE + "experts,seed,known", *lines, ""])


def room_table(runs: Sequence[Known] | None = None) -> Table:
    """A row for each number of experts: FLOPs, parameters, and what each seed has learnt."""
    runs, rows = recorded() if runs is None else runs, []
    for E in dict.fromkeys(run.experts for run in runs):
        expert, gate = key_flops(E)
        known = " and ".join(f"{run.share:.0%}" for run in runs if run.experts == E)
        parameters = E * (2 * WIDTH * HIDDEN + WIDTH)
        rows.append([f"{E}" if E > 1 else "1: dense", f"{expert:,} + {gate:,}", f"{parameters:,}", known])
    head = ["experts", "FLOPs of a key, + gate", "parameters", "pairs known, with two seeds"]
    return Table(f"{PAIRS:,} random pairs learnt by heart, k = 1, recorded", head, rows)


if __name__ == "__main__":
    sys.stdout.write(written(list(computed())))
