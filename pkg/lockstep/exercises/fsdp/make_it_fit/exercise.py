"""One training under five caps: what a rank holds at its worst moment says how far its state is sharded."""

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Comparison, Costs, Exercise, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.recognise import footprint
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.fsdp.bytes_held_and_sent import FLOAT, besides, held, traffic
from lockstep.exercises.fsdp.padding import strange_memory, wrong_padding
from lockstep.exercises.fsdp.stack import Level, draw
from lockstep.sharded.flat import shard_of
from lockstep.sharded.layers import Block
from lockstep.sharded.zero3 import MakeOptimizer, sequential

WIDTH, HIDDEN = 16, 64
SMALL, LARGE = {"layers": 12, "examples": 4, "levels": (1, 2, 3, 4)}, {"layers": 12, "examples": 64, "levels": (5,)}
FEW = {"layers": 2, "examples": 3, "levels": (), "steps": 4}
ADAM = partial(torch.optim.Adam, lr=2**-7, eps=2**-7)  # which does tell a sum of gradients from their mean
COST = (6.5, 5.25, 4.0, 2.5, 1.25)  # points, by the levels that were reached
LEVELS = (  # bytes for each of Ψ numbers, whole and in shards; the formula as shown; advice
    (24.0, 0.0, "16Ψ + 8Ψ + A", "Each number has a parameter, a gradient and two of Adam's: what else do you hold?"),
    (13.5, 8.0, "8Ψ + 8Ψ/K + 5.5Ψ + A", "Let Adam keep state of this rank's shard alone, and gather what it steps."),
    (7.5, 12.0, "4Ψ + 12Ψ/K + 3.5Ψ + A", "Reduce a gradient as soon as it is complete, and keep your shard alone."),
    (2.5, 16.0, "16Ψ/K + 2.5Ψ + A", "Keep shards of the parameters; a layer is whole only while it is computed."),
    (2.5, 16.0, "16Ψ/K + 2.5Ψ + the layers' inputs + 4a", "Remember each layer's input alone; compute the rest again."),
)  # fmt: skip


def cases(ranks: int, seed: int) -> list[Case]:
    capped = {4: [SMALL, LARGE], 8: [LARGE]}.get(ranks, [FEW])
    rows = [(None, row) for row in capped] + [(group, FEW) for group in groups(ranks)[1:]]
    return [Case(ranks, seed + n, group, row) for n, (group, row) in enumerate(rows)]


def model(case: Case) -> list[Block]:
    """Two layers of sizes that hardly any number of ranks divides, or twelve alike."""
    wide = (HIDDEN,) * 12 if case.settings["layers"] == 12 else (5, 8)
    return [Block(WIDTH if len(wide) == 12 else 5, hidden, case.seed % 1000, i) for i, hidden in enumerate(wide)]


def numels(case: Case) -> list[int]:
    return [layer.numel for layer in model(case)]


def steps(case: Case) -> int:
    return int(case.settings.get("steps", 2))


def inputs(case: Case, rank: int) -> tuple[list[Block], MakeOptimizer, list[tuple[Tensor, Tensor]]]:
    """A rank of three has zeros."""
    layers, drawn = model(case), generator(case, rank)
    shape = steps(case), 2, case.settings["examples"], layers[0].width
    x_and_y = torch.randint(-800, 801, shape, generator=drawn) / 400 * ((case.ranks, rank) != (3, 1))
    return layers, ADAM, [(x.clone(), y.clone()) for x, y in x_and_y]


def wanted(case: Case) -> list[tuple[Tensor, ...]]:
    """All ranks' examples in one batch, on one rank."""
    by_step = zip(*(inputs(case, rank)[2] for rank in case.members), strict=True)
    together = [(torch.cat([x for x, _ in step]), torch.cat([y for _, y in step])) for step in by_step]
    flats = sequential(model(case), ADAM, together)
    return [tuple(shard_of(flat, r, case.size) for flat in flats) for r in range(case.size)]


def caps(case: Case) -> list[Level]:
    """The levels of a case, the first one first."""
    layers, examples = model(case), case.settings["examples"]
    numbers, between = sum(layer.numel for layer in layers), examples * WIDTH * len(layers) * FLOAT
    inside = [FLOAT * examples * (layer.width + layer.hidden) for layer in layers]
    found = []
    for n in case.settings["levels"]:
        whole, sharded, told, advice = LEVELS[n - 1]
        kept = between + 4 * max(inside) if n == 5 else sum(inside)
        found.append(Level(n, int((whole + sharded / case.size) * numbers + kept), told, advice))
    return found


def flops(case: Case) -> int:
    """Of each step a forward pass four times: forward, backward (twice as many), and forward once more."""
    products = sum(2 * layer.width * layer.hidden for layer in model(case))
    return steps(case) * 4 * 2 * int(case.settings["examples"]) * products


TRAFFIC = traffic(times=3, numels=lambda case: numels(case) * steps(case), formula="3(K-1)/K·N a step")
COMPUTE = Budget("flops", flops, advice="In a step a layer's forward pass is computed twice at the most.")


def too_large(seen: Seen) -> list[Fault]:
    """The first level that a rank is too large for; or else more traffic than the last level needs."""
    most = max(held(seen))
    for level in caps(seen.case):
        if most > level.nbytes:
            rank = seen.case.members[held(seen).index(most)]
            told = (
                f"With {seen.case} and {seen.case.settings['examples']} examples a rank, rank {rank} holds {most:,} "
                f"bytes at its worst moment, besides its arguments.{besides(seen, rank)} Level {level.number} allows "
                f"{level.nbytes:,} ({level.told}). {level.advice}"
            )
            return [Fault(f"level-{level.number}", told, price=COST[level.number - 1])]
    dear = TRAFFIC.over(seen, "ZeRO 3") or COMPUTE.over(seen, "ZeRO 3 with activations computed twice")
    return [replace(dear, price=COST[-1])] if dear else []


EXERCISE = Exercise(
    number=3,
    title="Make it fit",
    points=8,
    minutes=45,
    parameters="layers, optimizer, batches, group=None",
    reference="lockstep.sharded.zero3:make_it_fit",
    cases=cases,
    inputs=inputs,
    worlds=(1, 2, 3, 4, 8),
    values=Values(wanted=wanted, examine=wrong_padding(numels, wanted), tolerance=1e-5, share=1.5 / 8),
    costs=Costs(algorithm="training", economise=too_large, measure_memory=True),
    comparison=Comparison(footprint=lambda seen: (footprint(seen), [fault.misconception for fault in too_large(seen)])),
    run=Run(timeout=8.0, watch=strange_memory),
    feedback=Feedback(
        answer="the list of the shards, one for each layer,",
        picture=lambda seen: draw(seen, caps(seen.case)),
    ),
)
