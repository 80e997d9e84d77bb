"""Attention by heads: values and gradients of one rank, one all-reduce a pass, and heads that nobody computes twice."""

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Costs
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.tensor_parallel.layer_steps import Layer, Part, flops, passes
from lockstep.exercises.without_waiting.evidence import case
from lockstep.tensor_parallel.attention import causal, heads_of, stretch

# heads, those with keys and values, positions, width of a head, width of x; by ranks, in the world and in a group of it
TRIED = {
    1: [(6, 2, 3, 2, 5)],
    2: [(4, 4, 5, 2, 7), (6, 3, 2, 2, 7), (4, 2, 1, 1, 3)],
    3: [(5, 5, 3, 3, 6)],
    4: [(8, 2, 4, 2, 9), (6, 6, 2, 1, 7)],
    8: [(8, 1, 3, 2, 9)],
}
IN_A_GROUP = {4: (6, 3, 3, 2, 7), 8: (4, 1, 3, 3, 5)}
n = 2  # sequences
ATTENTION = 14  # n·H·T²·d: two products forward and five backward, which computes the scores again


def cases(ranks: int, seed: int) -> list[Case]:
    """By turns as many heads of keys, fewer than ranks, or one; one position; and an x without gradient."""
    rows = [(group, size) for group in groups(ranks) for size in ([IN_A_GROUP[ranks]] if group else TRIED[ranks])]
    return [
        case(
            ranks, seed + i, group, f"H = {H}, G = {G}, T = {T}, d = {d}, h = {h}",
            "x needs no gradient" if T == 1 else "", H=H, G=G, T=T, d=d, h=h, constant="x" if T == 1 else "",
        )
        for i, (group, (H, G, T, d, h)) in enumerate(rows)
    ]  # fmt: skip


def drawn(case: Case) -> list[Tensor | int]:
    H, G, T, d, h = (int(case.settings[name]) for name in "HGTdh")
    shapes = ((n, T, h), (h, H * d), (h, G * d), (h, G * d), (H * d, h))
    dice = generator(case, -1000)
    return [*(torch.randn(shape, generator=dice, dtype=torch.float64) for shape in shapes), H]


def attention(x: Tensor, Q: Tensor, K: Tensor, V: Tensor, W: Tensor, heads: int) -> Tensor:
    d = Q.shape[1] // heads
    query, key, value = ((x @ matrix).reshape(*x.shape[:2], -1, d).transpose(1, 2) for matrix in (Q, K, V))
    return causal(query, key, value).transpose(1, 2).flatten(2) @ W


def stretch_of(case: Case, r: int, keys: bool) -> slice:
    """Where member r's heads are: those of the queries, or of keys and values."""
    own = heads_of(r, case.size, case.settings["H"], case.settings["G"])[keys]
    there = stretch(own, case.settings["d"], 0)
    return slice(there.start, there.stop)


QUERIES = Part(lambda case, r, whole: (slice(None), stretch_of(case, r, keys=False)), "columns")
KEYS = Part(lambda case, r, whole: (slice(None), stretch_of(case, r, keys=True)), "columns")
ROWS = Part(lambda case, r, whole: stretch_of(case, r, keys=False), "rows")


def products(case: Case) -> int:
    """With x's gradient, and those of the matrices. With more ranks than KV heads each rank computes one of these."""
    H, G, T, d, h = (int(case.settings[name]) for name in "HGTdh")
    return 3 * 2 * n * T * h * (2 * H * d + 2 * max(G, case.size) * d) + ATTENTION * n * H * T * T * d


def unscaled(x: Tensor, Q: Tensor, K: Tensor, V: Tensor, W: Tensor, heads: int) -> Tensor:
    return attention(x, Q * (Q.shape[1] // heads) ** 0.5, K, V, W, heads)


MISTAKEN = {
    "With scores that aren't divided by √d, that would be right.": unscaled,
    "With K in place of V, that would be right.": lambda x, Q, K, V, W, heads: attention(x, Q, K, K, W, heads),
    "With V in place of K, that would be right.": lambda x, Q, K, V, W, heads: attention(x, Q, V, V, W, heads),
}
INSIDE = {"Q": QUERIES, "K": KEYS, "V": KEYS, "W": ROWS}
LAYER = Layer("x Q K V W heads", attention, drawn, inside=INSIDE, mistaken=MISTAKEN)
EXERCISE = LAYER.exercise(
    number=4,
    title="Attention on K ranks",
    points=4,
    minutes=25,
    parameters="x, Q, K, V, W, heads, group=None",
    reference="lockstep.tensor_parallel:parallel_attention",
    cases=cases,
    worlds=(1, 2, 3, 4, 8),
    costs=Costs(
        algorithm="attention",
        budgets=(
            *passes(1, lambda case: 8 * n * case.settings["T"] * case.settings["h"], "n·T·h"),
            flops(products, "one rank's, and with more ranks than G keys and values of one head on each"),
        ),
    ),
)
