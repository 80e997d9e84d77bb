"""The grid of ranks of a training step, and the model that is trained on it.

    rank = tensor + tp·(context + cp·(data + dp·stage))      Megatron's order: a tensor group inside a node, the stages
                                                             on different ones
    axis   ranks that differ in               what they share
    tp     the part of every matrix           the batch; the weights are cut
    cp     the part of the sequence           the weights, and attention's keys and values
    dp     the batch                          the weights
    pp     the stage, the layers              nothing: they pass activations on
    ep     the experts that they have         the gate; ep neighbours of a stage, tensor ranks first, have all experts

Context and data together have the same weights: the group "dp" has both, dp·cp ranks, and sums their gradients. Of the
experts, ranks that are ep apart in a stage have the same: the group "edp", tp·cp·dp/ep ranks (``expert_layer``). Where
the embedding is also the scores' matrix, the first and the last stage have it: the group "embedding", two ranks.

The axes are named as a plan's: ``lockstep plan`` has the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from lockstep.errors import UsageError

AXES = ("tp", "cp", "dp", "pp")  # their product is the number of ranks; ep is folded into the first three
GROUPS = (*AXES, "ep", "edp", "embedding")
RECOMPUTE = ("none", "selective", "full")
ATTENTION = ("scores", "flash")
TILE = 128  # numbers with one scale in FP8
MOST_RANKS = 1 << 16


@dataclass(frozen=True)
class GPTSize:
    """A GPT-2 or GPT-3 by its sizes. ``attention``: "scores" keeps a matrix of seq x seq for each head, with dropout,
    as programs did until 2022; "flash" is one kernel that keeps neither.

    ``experts``: each layer's MLP is a mixture of so many, of which a token has ``top_k``, each ``expert_ffn`` wide
    (4·hidden if that is 0). ``capacity``: the places of an expert, in parts of what it needs if tokens choose evenly.
    ``dispatch``: how tokens travel to their experts, in the model's ``dtype`` or in "fp8" (``fp8_dispatch``).
    ``tied``: the embedding is also the scores' matrix, as in GPT-2 and GPT-3. Raises UsageError."""

    layers: int
    hidden: int
    heads: int
    seq: int = 2048
    vocab: int = 51200
    dropout: float = 0.1
    attention: str = "scores"
    dtype: str = "float16"
    experts: int = 0
    top_k: int = 0
    expert_ffn: int = 0
    capacity: float = 1.0
    tied: bool = False
    dispatch: str = "dtype"

    def __post_init__(self) -> None:
        self._check_experts()
        for name in ("layers", "hidden", "heads", "seq", "vocab"):
            _counts(name, getattr(self, name))
        if self.hidden % self.heads:
            raise UsageError(f"{self.heads} heads do not divide a hidden size of {self.hidden}.", "Each has as much.")
        if self.attention not in ATTENTION:
            raise UsageError(f"There is no attention {self.attention!r}.", f"Choose one of: {', '.join(ATTENTION)}.")

    def _check_experts(self) -> None:
        if not self.experts:
            if self.top_k or self.expert_ffn or self.dispatch != "dtype":
                told = "top_k, expert_ffn and dispatch are those of experts, and there are none."
                raise UsageError(told, "Say experts=8.")
            return
        if self.dispatch not in ("dtype", "fp8"):
            raise UsageError(f"There is no dispatch {self.dispatch!r}.", 'Choose "dtype" or "fp8".')
        if self.dispatch == "fp8" and self.hidden % TILE:
            told = f"FP8 dispatch scales {TILE} numbers at a time, which does not divide hidden = {self.hidden}."
            raise UsageError(told, f"Choose a multiple of {TILE}.")
        if not self.expert_ffn:
            object.__setattr__(self, "expert_ffn", 4 * self.hidden)
        for name in ("experts", "top_k", "expert_ffn"):
            _counts(name, getattr(self, name))
        if self.top_k > self.experts:
            raise UsageError(f"A token has at most all {self.experts} experts, not {self.top_k}.", "Say top_k=2.")
        if not self.capacity > 0:
            raise UsageError(f"An expert has places, not capacity={self.capacity!r}.", "Say capacity=1.0.")


@dataclass(frozen=True)
class Grid:
    """How a training step is divided. ``zero``: 1 shards the optimizer's state over the data-parallel ranks, 2 the
    gradients, too, 3 the weights, too. ``micro_batch``: sequences of one. ``recompute``: "none", "selective" (the core
    of attention) or "full" (every layer). ``overlap``: the data-parallel sum runs under the last backward passes; with
    ``zero`` 3 the next layer is gathered while one computes. ``ep``: so many of a stage's ranks share the experts.
    ``layout``: layers of each chunk, in the model's order (Megatron Core's ``pipeline_model_parallel_layout``); empty
    for equal chunks, of which the first ones have one more where they cannot be equal. Raises UsageError."""

    dp: int = 1
    tp: int = 1
    pp: int = 1
    cp: int = 1
    zero: int = 0
    micro_batch: int = 1
    recompute: str = "none"
    sequence_parallel: bool = False
    overlap: bool = False
    ep: int = 1
    layout: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in (*AXES, "micro_batch", "ep"):
            _counts(name, getattr(self, name))
        if self.tp * self.replicas % self.ep:
            told = f"ep = {self.ep} does not divide the {self.tp * self.replicas} ranks of a stage, tp·cp·dp."
            raise UsageError(told, "Choose a divisor of it.")
        if self.recompute not in RECOMPUTE:
            raise UsageError(
                f"There is no recomputation {self.recompute!r}.", f"Choose one of: {', '.join(RECOMPUTE)}."
            )
        if self.zero not in (0, 1, 2, 3):
            raise UsageError(f"ZeRO has no stage {self.zero!r}.", "Choose 0, 1, 2 or 3.")
        for layers in self.layout:
            _counts("each number of layout", layers)

    @property
    def ranks(self) -> int:
        return self.tp * self.replicas * self.pp

    @property
    def replicas(self) -> int:
        """Ranks with the same weights."""
        return self.cp * self.dp

    def rank(self, tensor: int, replica: int, stage: int) -> int:
        return tensor + self.tp * (replica + self.replicas * stage)

    def seat(self, rank: int) -> tuple[int, int, int]:
        """(tensor, replica, stage) of a rank: the inverse of ``rank``. A replica is context + cp·data."""
        return rank % self.tp, rank // self.tp % self.replicas, rank // self.tp // self.replicas

    def group(self, axis: str, rank: int) -> tuple[int, ...]:
        """The ranks of the group of ``rank`` on this axis, itself among them."""
        tensor, replica, stage = self.seat(rank)
        if axis == "tp":
            return tuple(self.rank(i, replica, stage) for i in range(self.tp))
        if axis == "cp":
            first = replica // self.cp * self.cp
            return tuple(self.rank(tensor, first + i, stage) for i in range(self.cp))
        if axis == "dp":
            return tuple(self.rank(tensor, i, stage) for i in range(self.replicas))
        if axis in ("ep", "edp"):
            each = self.tp * self.replicas
            first, part = stage * each, rank % each % self.ep
            near = range(rank - part, rank - part + self.ep)
            return tuple(near if axis == "ep" else range(first + part, first + each, self.ep))
        ends = (0, self.pp - 1) if axis == "embedding" else ()
        if ends and stage not in ends:
            return (rank,)
        return tuple(self.rank(tensor, replica, i) for i in sorted({*ends} or range(self.pp)))


def layers_of_chunks(model: GPTSize, grid: Grid, places: int) -> list[int]:
    """How many layers each of ``places`` chunks has, in the model's order."""
    each, more = divmod(model.layers, places)
    return list(grid.layout) or [each + (at < more) for at in range(places)]


def check(
    model: GPTSize, grid: Grid, chunks: int, micro_batches: int, schedule: str = "interleaved", alike: bool = True
) -> None:
    """Raise UsageError where the model cannot be divided so. ``alike``: ranks of a group must have equal parts, so that
    one of them can be recorded in place of all; otherwise heads, vocabulary and positions may be cut unequally."""
    if grid.ranks > MOST_RANKS:
        raise UsageError(f"{grid.ranks:,} ranks are more than can be simulated here.", f"At most {MOST_RANKS:,}.")
    _counts("chunks", chunks)
    _counts("micro_batches", micro_batches)
    if grid.ep > 1 and not model.experts:
        raise UsageError(
            f"ep = {grid.ep} needs experts, and this model has none.", "Say GPTSize(…, experts=8, top_k=2)."
        )
    if model.experts and grid.tp > 1 and not grid.sequence_parallel:
        told = "With experts each tensor rank has tokens of its own."
        raise UsageError(told, "Choose sequence_parallel=True where tp is above 1.")
    _check_parts(model, grid, alike)
    _check_layers(model, grid, grid.pp * chunks)
    if grid.zero == 3 and schedule.startswith("zb"):
        told = f"{schedule} splits the backward pass, and with zero=3 a layer is whole only once in it."
        raise UsageError(told, 'Choose "interleaved", or zero up to 2.')
    if chunks > 1 and grid.pp == 1:
        raise UsageError(f"{chunks} chunks need a pipeline, and pp is 1.", "Choose chunks=1, or pp above 1.")


def _check_parts(model: GPTSize, grid: Grid, alike: bool) -> None:
    both = grid.cp * grid.tp if grid.sequence_parallel else 1
    for what, n, axis, parts, must in (
        ("heads", model.heads, "tp", grid.tp, alike),
        ("vocab", model.vocab, "tp", grid.tp, alike),
        ("seq", model.seq, "cp", grid.cp, alike),
        ("seq", model.seq, "cp times tp (of sequence_parallel)", both, True),
        ("experts", model.experts, "ep", grid.ep, True),
    ):
        if n % parts and must:
            raise UsageError(f"{axis} = {parts} does not divide {what} = {n}.", f"Choose a divisor of {n}.")
        if 0 < n < parts:
            raise UsageError(f"{axis} = {parts} is more than {what} = {n}.", f"Choose at most {n}.")


def _check_layers(model: GPTSize, grid: Grid, places: int) -> None:
    if places > model.layers:
        told = f"pp times chunks = {places} is more than layers = {model.layers}."
        raise UsageError(told, f"Each chunk has a layer: choose at most {model.layers}.")
    if grid.layout and (len(grid.layout), sum(grid.layout)) != (places, model.layers):
        told = (
            f"layout has {sum(grid.layout)} layers in {len(grid.layout)} chunks, and the model {model.layers} layers."
        )
        raise UsageError(told, f"Give {places} numbers that add up to {model.layers}.")


def _counts(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"{name} is a whole number from 1 on, not {value!r}.", f"Write {name}=1, say.")
