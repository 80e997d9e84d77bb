"""What sharded data parallelism keeps on a rank, and what it sends: ZeRO's stages 0 to 3; stage 3 is FSDP.

    Ψ       parameters, numbers; in units of N_1, N_2, ... that are sharded and gathered one by one
    K       ranks
    n       Σ ceil(N_u/K), the length of a rank's shards: the last shards are padded

                                      parameters   gradients   optimizer state     sent in a step
    stage 0  data parallel                Ψ            Ψ              Ψ              2(K-1)·Ψ/K
    stage 1  ZeRO's P_os                 K·n          K·n             n              2(K-1)·n
    stage 2  P_os+g                      K·n           n              n              2(K-1)·n
    stage 3  P_os+g+p, FSDP               n            n              n              3(K-1)·n

Each column is in numbers; the *recipe* defines the bytes of each (``training.RECIPES``): 4 + 4 + 8 with Adam in
float32, 2 + 2 + 12 in mixed precision. Activations come on top, and so do parameters that are gathered for a while
(``peak_gathered``). What is sent is what a ring sends, which is the least.

**The peak of a step** (``predict_peak``): the most bytes of parameters, gradients and optimizer state at any moment, in
float32 with Adam, which keeps two numbers for each that a rank updates, from the first step on.

    N_i, n_i    numbers of layer i, and of its shard: n_i = ceil(N_i/K)
    whole       a layer's vector as a rank holds it: N_i numbers at stage 0, else K·n_i, with padding

    stage   all the time              in the backward pass, from the last layer to the first
    0       2 whole (Adam) + whole    (1) gradient
    1       2 n_i (Adam) + whole      (1) gradient; and after the backward pass (3) shard, (4) gradient freed
    2       2 n_i (Adam) + whole      (1) gradient, (3) shard, (4) gradient freed
    3       2 n_i (Adam) + n_i        (0) gather, (1) gradient, (2) gathered freed, (3) shard, (4) gradient freed

Activations and temporaries of an operation come on top. ZeRO's Table 1 counts what is there all the time, with the
gradients of stages 2 and 3 in shards: what a step holds for a moment is not in it.

Source: Rajbhandari et al., "ZeRO", arXiv:1910.02054, sections 5 and 7, without its temporary buffers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
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
    """The length of a rank's shard of each unit: ceil(N_u/K), padding included. Their sum is n."""
    units = [sizes] if isinstance(sizes, int) else list(sizes)
    if ranks < 1 or not units or min(units) < 0:
        raise UsageError(f"Units have 0 numbers or more, on 1 rank or more: not {units} on {ranks}.")
    return [shard(size, ranks) for size in units]


def model_states(sizes: Sizes, ranks: int, stage: int, recipe: Recipe = ADAM) -> States:
    """Bytes that a rank keeps between two steps, and of the gradients at the end of a backward pass.

    From stage 1 on they include padding, in whole vectors too. Raises UsageError for a stage other than 0 to 3."""
    _check(stage)
    n = sum(shard_lengths(sizes, ranks))
    whole = ranks * n if stage else _total(sizes)
    kept = (n if stage >= first else whole for first in (3, 2, 1))  # the first stage that shards each of the three
    return States(*(each * numbers for each, numbers in zip(bytes_of(recipe), kept, strict=True)))


def bytes_of(recipe: Recipe) -> States:
    """Bytes for one parameter: its own, its gradient's, and the optimizer's, which include the master weights."""
    each = {kind: BYTES[dtype] for kind, dtype in recipe.items()}
    parameter, gradient = each.pop("weights"), each.pop("gradients", 0)
    return States(parameter, gradient, sum(each.values()))


def peak_gathered(sizes: Sizes, ranks: int, at_once: int = 1, recipe: Recipe = ADAM) -> int:
    """Bytes of the parameters that stage 3 has gathered at its peak: the largest unit, or with prefetching the largest
    ``at_once`` consecutive units. Gathered units have their padding, too.

    Source: Zhao et al., "PyTorch FSDP", arXiv:2304.11277, section 3.2: O(Σψ_i/F + max ψ_i) numbers with the shards."""
    whole = [ranks * n for n in shard_lengths(sizes, ranks)]
    at_once = min(at_once, len(whole))
    return bytes_of(recipe).parameters * max(
        sum(whole[first : first + at_once]) for first in range(len(whole) - at_once + 1)
    )


# ---- what is sent


def sent(sizes: Sizes, ranks: int, stage: int, kept: int = 0) -> float:
    """Numbers that a rank sends in a step, by rings. ``kept``: how many of the last units stage 3 does not free between
    the forward and the backward pass (``reshard_after_forward=False``), so that it gathers them once."""
    _check(stage)
    lengths = shard_lengths(sizes, ranks)
    if stage == 0:
        return 2 * (ranks - 1) * _total(sizes) / ranks
    again = lengths[: len(lengths) - kept] if stage == 3 else []
    return (ranks - 1) * (2 * sum(lengths) + sum(again))


def booked(sizes: Sizes, ranks: int, stage: int, kept: int = 0, recipe: Recipe = ADAM) -> dict[str, Count]:
    """The collectives of one rank and step by kind, one for each unit, and their bytes as a trace counts them
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
    """Hybrid sharding: shards within each node, replicas across nodes. Parameters are gathered and gradients reduced
    inside; then a rank's shard of the gradients is all-reduced across nodes. ``nbytes``: M, of all parameters.

        within   3·M·(G-1)/G                    G = per_node
        across   2·(M/G)·(H-1)/H                H = ranks/G nodes"""
    if per_node < 1 or ranks % per_node:
        raise UsageError(f"{ranks} ranks do not fill nodes of {per_node}.", "Take a number that divides the ranks.")
    nodes = ranks // per_node
    return Hybrid(3 * nbytes * (per_node - 1) / per_node, 2 * (nbytes / per_node) * (nodes - 1) / nodes)


def published_across(nbytes: float, ranks: int, per_node: int) -> dict[str, float]:
    """Bytes across hosts per GPU by the FSDP paper (arXiv:2304.11277, section 3.2.2), with M bytes, W GPUs, G of them
    in a host. It counts all traffic as traffic between hosts, the worst case; its hybrid is ours with W-1 instead of
    W-G."""
    share = (ranks - 1) / ranks
    return {
        "full replication": 2 * nbytes * share,
        "full sharding": 3 * nbytes * share,
        "hybrid sharding": 2 * nbytes * share / per_node,
    }


def bytes_a_parameter(stage: int, ranks: int, recipe: Recipe = MIXED) -> float:
    """Bytes of model states per parameter on a rank, without padding: what the stage shards is divided by ``ranks``.
    Times the number of parameters it is ZeRO's Table 1."""
    _check(stage)
    each = bytes_of(recipe)
    cut = sum((each.optimizer, each.gradients, each.parameters)[:stage])
    return each.total - cut + cut / ranks


def _total(sizes: Sizes) -> int:
    return sizes if isinstance(sizes, int) else sum(sizes)


def _check(stage: int) -> None:
    if stage not in STAGES:
        raise UsageError(f"There is no stage {stage}.", "ZeRO has 1, 2 and 3; 0 is data parallelism without it.")


# ---- the peak of a step

FLOAT32 = 4  # bytes
MOMENTS = 2  # of Adam: numbers for each parameter


def shard(N: int, K: int) -> int:
    """Numbers in the shard of each of K ranks of a vector of N numbers: ceil(N/K)."""
    return -(-N // K)


def predict_peak(sizes: Sequence[int], ranks: int, stage: int) -> int:
    """Bytes at the peak of a step. ``sizes``: the numbers N_i of each layer; ``stage``: 0 to 3."""
    return FLOAT32 * max(accumulate(changes(sizes, ranks, stage), initial=held(sizes, ranks, stage)))


def held(sizes: Sequence[int], ranks: int, stage: int) -> int:
    """Numbers that a rank holds all the time."""
    whole, shards = _whole(sizes, ranks, stage), [shard(N, ranks) for N in sizes]
    parameters = sum(shards if stage == 3 else whole)
    return parameters + MOMENTS * sum(whole if stage == 0 else shards)


def changes(sizes: Sequence[int], ranks: int, stage: int) -> Iterator[int]:
    """What is allocated (+) and freed (-) during the backward pass and after it, in numbers."""
    last_first = [(w, shard(N, ranks)) for w, N in zip(_whole(sizes, ranks, stage), sizes, strict=True)][::-1]
    for whole, n in last_first:
        if stage == 3:
            yield whole  # (0)
        yield whole  # (1)
        if stage == 3:
            yield -whole  # (2)
        if stage >= 2:
            yield from (n, -whole)  # (3), (4)
    if stage == 1:
        for whole, n in last_first:
            yield from (n, -whole)  # (3), (4)


def _whole(sizes: Sequence[int], ranks: int, stage: int) -> list[int]:
    if stage not in (0, 1, 2, 3):
        raise UsageError(f"There is no stage {stage!r} of ZeRO.", "Stages are 0 (DDP), 1, 2 and 3.")
    return list(sizes) if stage == 0 else [ranks * shard(N, ranks) for N in sizes]
