"""The cost of a Transformer layer under tensor parallelism: activations that a rank keeps, and what it sends.

    b, T    examples, positions (the papers' s)          K    ranks (their t)
    h, a    width, heads                                 L    layers
    V       tokens of the vocabulary                     e    bytes of a number

(1) *Kept for the backward pass* by a layer of ``tensor_parallel``, in numbers, with fused attention, without dropout:

    tensor                   4·bTh + 12·bTh/K     + abT/K + 4·bT        the same on all ranks: inputs and outputs of the
    sequence               (16·bTh                + abT   + 4·bT)/K     two norms; sharded: queries, keys, values and
    sequence, kept           2·bTh + (14·bTh      + abT   + 4·bT)/K     attention's output (4), input and output of
                                                                        GeLU (8). Small: a number for each head and
                                                                        position; mean and deviation of each norm.

(2) *Published*, in bytes: numbers of 16 bits, dropout masks of 8, and attention that keeps its scores. Korthikanti
    et al., arXiv:2205.05198, equations 1, 2 and 4, and Table 2:

    one rank                        bTh·(34 + 5·aT/h)            34 = 2·16 of ours, and two masks of a byte
    tensor                          bTh·(10 + 24/K + 5·aT/(hK))  10 = 2·4 and two masks; 24 = 2·12
    tensor, sequence                bTh·(34/K + 5·aT/(hK))       5  = softmax 2, dropout's mask 1, its output 2
    selective recomputation         without 5·aT/(hK): the core of attention is recomputed
    full recomputation              2·bTh: the input of the layer

(3) *Sent* for a layer and step, by rings, in numbers: four all-reduces of bTh, 8·(K-1)/K·bTh. In sequence parallelism
    each is a reduce-scatter and an all-gather; two more all-gathers fetch again what was not kept: 10·(K-1)/K·bTh. The
    weights are 12·h², so that data parallelism sends 24·(K-1)/K·h²: the same with a batch of bT = 3·h tokens.
"""

from __future__ import annotations

from lockstep.errors import UsageError
from lockstep.events import Count

WAYS = ("tensor", "sequence", "sequence, kept")
RECOMPUTED = ("", "selective", "full")
ALL_REDUCES = 4  # of a layer and step: two forward, two backward


def activations(b: int, T: int, h: int, a: int, K: int, way: str = "tensor") -> float:
    """Numbers that a rank keeps for the backward pass of one layer: (1). ``way``: one of WAYS."""
    alike, parts = {"tensor": (4, 12), "sequence": (0, 16), "sequence, kept": (2, 14)}[_checked(way, K)]
    each = K if way != "tensor" else 1
    return b * T * (h * (alike + parts / K) + a / K + 4 / each)


def published_activations(b: int, T: int, h: int, a: int, K: int = 1, sequence: bool = False, again: str = "") -> float:
    """Bytes of activations of one layer by Korthikanti et al.: (2). ``again``: what is recomputed, one of
    RECOMPUTED."""
    if again not in RECOMPUTED or K < 1:
        raise UsageError(f"There is no recomputation {again!r} on {K} ranks.", f"Known: {', '.join(RECOMPUTED[1:])}.")
    if again == "full":
        return 2 * b * T * h
    outside = 34 / K if sequence else 10 + 24 / K
    return b * T * h * (outside + (0 if again else 5 * a * T / (h * K)))


def parameters(h: int, K: int) -> int:
    """Numbers of a layer's parameters on one rank, where K divides h. Matrices and the biases of column-parallel layers
    are sharded; six vectors are not, the norms' four and the biases of row-parallel layers."""
    if K < 1 or h % K:
        raise UsageError(f"{K} ranks do not divide a width of {h}.", "Sizes that divide are counted here.")
    return (12 * h * h + 7 * h) // K + 6 * h


# ---- what is sent


def sent(b: int, T: int, h: int, K: int, way: str = "tensor") -> float:
    """Numbers that a rank sends for one layer in a step: (3)."""
    return {"tensor": 8, "sequence": 10, "sequence, kept": 8}[_checked(way, K)] * (K - 1) / K * b * T * h


def booked_block(b: int, T: int, h: int, way: str = "tensor", e: int = 4) -> dict[str, Count]:
    """The collectives of one layer and step by kind, and their bytes as a trace counts them (``events.Event.nbytes``):
    all b·T·h numbers of each. In sequence parallelism the gradients of six vectors of h numbers are partial sums, which
    are all-reduced."""
    n = e * b * T * h
    if _checked(way) == "tensor":
        return {"all_reduce": Count(ALL_REDUCES, ALL_REDUCES * n)}
    gathers = 6 if way == "sequence" else 4
    return {
        "all_gather": Count(gathers, gathers * n),
        "all_reduce": Count(6, 6 * e * h),
        "reduce_scatter": Count(4, 4 * n),
    }


def booked(b: int, T: int, h: int, L: int, context: int, way: str = "tensor", e: int = 4) -> dict[str, Count]:
    """The collectives of the whole GPT in a step, as ``booked_block`` has those of a layer: L layers, the embedding,
    the logits, and the loss, which all-reduces three numbers for each token."""
    n, short = e * b * T * h, Count(3, 3 * e * b * T)
    if way == "tensor":
        outside = {"all_reduce": Count(2 + short.number, 2 * n + short.nbytes)}
    else:
        gathers = 3 if way == "sequence" else 2
        outside = {  # and a norm, and the position embeddings
            "all_gather": Count(gathers, gathers * n),
            "all_reduce": Count(3 + short.number, e * h * (2 + context) + short.nbytes),
            "reduce_scatter": Count(2, 2 * n),
        }
    layers = booked_block(b, T, h, way, e)
    return {
        kind: Count(L * layers[kind].number + count.number, L * layers[kind].nbytes + count.nbytes)
        for kind, count in outside.items()
    }


def equal_traffic(h: int) -> int:
    """The tokens in a batch for which tensor and data parallelism send the same for a layer; with more, tensor
    parallelism sends more. Data parallelism sends its 12·h² gradients whatever the batch is."""
    return 3 * h


def _checked(way: str, K: int = 1) -> str:
    if way not in WAYS or K < 1:
        raise UsageError(f"There is no way {way!r} on {K} ranks.", f"Known: {', '.join(WAYS)}.")
    return way
