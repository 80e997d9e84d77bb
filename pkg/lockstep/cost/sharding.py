"""What sharded data parallelism keeps on a rank, and what it sends: ZeRO's stages 0 to 3, of which 3 is FSDP.

    Ψ       parameters, numbers; in units of N_1, N_2, ... that are cut and gathered one by one
    K       ranks
    n       Σ ceil(N_u/K), what a rank has of them all if it has a shard: the last shards are padded

                                      parameters   gradients   optimizer state     sent in a step
    stage 0  data parallel                Ψ            Ψ              Ψ              2(K-1)·Ψ/K
    stage 1  ZeRO's P_os                 K·n          K·n             n              2(K-1)·n
    stage 2  P_os+g                      K·n           n              n              2(K-1)·n
    stage 3  P_os+g+p, FSDP               n            n              n              3(K-1)·n

Each column is in numbers; how many bytes one is, the *recipe* says (``training.RECIPES``): 4 + 4 + 8 with Adam in
float32, 2 + 2 + 12 in mixed precision. Activations come on top, and so does what is gathered for a while
(``peak_gathered``). What is sent is what a ring sends, which is the least. Source: Rajbhandari et al., "ZeRO",
arXiv:1910.02054, sections 5 and 7, without its temporary buffers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lockstep.cost.training import BYTES, RECIPES, Recipe
from lockstep.errors import UsageError
from lockstep.events import Count

STAGES = (0, 1, 2, 3)
ADAM = RECIPES["adam fp32"]
MIXED = RECIPES["adam mixed"]

Sizes = int | Sequence[int]  # numbers of all parameters as one unit, or of each unit


class States(NamedTuple):
    """Bytes of the model states on one rank."""

    parameters: int
    gradients: int
    optimizer: int

    @property
    def total(self) -> int:
        return sum(self)


def shard_lengths(sizes: Sizes, ranks: int) -> list[int]:
    """How many numbers each rank has of each unit: ceil(N_u/K), padding included. Their sum is n."""
    units = [sizes] if isinstance(sizes, int) else list(sizes)
    if ranks < 1 or not units or min(units) < 0:
        raise UsageError(f"Units have 0 numbers or more, on 1 rank or more: not {units} on {ranks}.")
    return [-(-size // ranks) for size in units]


def model_states(sizes: Sizes, ranks: int, stage: int, recipe: Recipe = ADAM) -> States:
    """What a rank keeps between two steps, and the gradients at the end of a backward pass.

    Padding counts, in what is whole too, from stage 1 on. Raises UsageError for a stage that is none of 0 to 3."""
    _check(stage)
    shard = sum(shard_lengths(sizes, ranks))
    whole = ranks * shard if stage else _total(sizes)
    kept = (shard if stage >= first else whole for first in (3, 2, 1))  # the stage that first cuts each of the three
    return States(*(each * numbers for each, numbers in zip(bytes_of(recipe), kept, strict=True)))


def bytes_of(recipe: Recipe) -> States:
    """Bytes for one parameter: its own, its gradient's, and the optimizer's, to which the master weights belong."""
    each = {kind: BYTES[dtype] for kind, dtype in recipe.items()}
    parameter, gradient = each.pop("weights"), each.pop("gradients", 0)
    return States(parameter, gradient, sum(each.values()))


def peak_gathered(sizes: Sizes, ranks: int, at_once: int = 1, recipe: Recipe = ADAM) -> int:
    """Bytes of the parameters that stage 3 has gathered at its worst moment: the largest unit, or the largest
    ``at_once`` neighbours where the next ones are fetched ahead. Gathered units have their padding, too.

    Source: Zhao et al., "PyTorch FSDP", arXiv:2304.11277, section 3.2: O(Σψ_i/F + max ψ_i) numbers with the shards."""
    whole = [ranks * n for n in shard_lengths(sizes, ranks)]
    at_once = min(at_once, len(whole))
    return bytes_of(recipe).parameters * max(
        sum(whole[first : first + at_once]) for first in range(len(whole) - at_once + 1)
    )


# ---- what is sent


def sent(sizes: Sizes, ranks: int, stage: int, kept: int = 0) -> float:
    """Numbers that a rank sends in a step, by rings. ``kept``: units, from the last on, that stage 3 does not let go
    of between forward and backward, so that it gathers them once."""
    _check(stage)
    lengths = shard_lengths(sizes, ranks)
    if stage == 0:
        return 2 * (ranks - 1) * _total(sizes) / ranks
    again = lengths[: len(lengths) - kept] if stage == 3 else []
    return (ranks - 1) * (2 * sum(lengths) + sum(again))


def booked(sizes: Sizes, ranks: int, stage: int, kept: int = 0, recipe: Recipe = ADAM) -> dict[str, Count]:
    """The collectives of one rank and step by kind, one for each unit, and their bytes as a trace has them
    (``events.Event.nbytes``): all N numbers of an all-reduce, all K·n of an all-gather or a reduce-scatter.

    Stages 1 and 2 reduce-scatter the gradients and all-gather the new parameters; stage 3 gathers before each of its
    two passes. ``kept`` as in ``sent``."""
    _check(stage)
    each, whole = bytes_of(recipe), [ranks * n for n in shard_lengths(sizes, ranks)]
    if stage == 0:
        return {"all_reduce": Count(len(whole), each.gradients * _total(sizes))}
    gathered = whole + (whole[: len(whole) - kept] if stage == 3 else [])
    return {
        "all_gather": Count(len(gathered), each.parameters * sum(gathered)),
        "reduce_scatter": Count(len(whole), each.gradients * sum(whole)),
    }


class Hybrid(NamedTuple):
    """Bytes that a rank sends in a step: within its node, and to other nodes."""

    within: float
    across: float


def hybrid(nbytes: float, ranks: int, per_node: int) -> Hybrid:
    """Shards within each node, replicas across: gathered and reduced inside, then a rank's shard of the gradients is
    all-reduced with those of the same number in the other nodes. ``nbytes``: M, of all parameters.

        within   3·M·(G-1)/G                    G = per_node
        across   2·(M/G)·(H-1)/H                H = ranks/G nodes"""
    if per_node < 1 or ranks % per_node:
        raise UsageError(f"{ranks} ranks do not fill nodes of {per_node}.", "Take a number that divides the ranks.")
    nodes = ranks // per_node
    return Hybrid(3 * nbytes * (per_node - 1) / per_node, 2 * (nbytes / per_node) * (nodes - 1) / nodes)


def published_across(nbytes: float, ranks: int, per_node: int) -> dict[str, float]:
    """The bytes that cross hosts for each GPU as the FSDP paper has them (arXiv:2304.11277, section 3.2.2), with M
    bytes, W GPUs, G of them in a host. It takes all traffic for traffic between hosts, which is the worst case; its
    hybrid is ours with W-1 in place of W-G."""
    share = (ranks - 1) / ranks
    return {
        "full replication": 2 * nbytes * share,
        "full sharding": 3 * nbytes * share,
        "hybrid sharding": 2 * nbytes * share / per_node,
    }


def bytes_a_parameter(stage: int, ranks: int, recipe: Recipe = MIXED) -> float:
    """Of the model states on a rank, nothing padded: what the stage cuts is there in ``ranks`` parts. Times the
    parameters it is ZeRO's Table 1."""
    _check(stage)
    each = bytes_of(recipe)
    cut = sum((each.optimizer, each.gradients, each.parameters)[:stage])
    return each.total - cut + cut / ranks


def _total(sizes: Sizes) -> int:
    return sizes if isinstance(sizes, int) else sum(sizes)


def _check(stage: int) -> None:
    if stage not in STAGES:
        raise UsageError(f"There is no stage {stage}.", "ZeRO has 1, 2 and 3; 0 is data parallelism without it.")
