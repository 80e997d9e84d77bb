"""The cost of attention under context parallelism: what a rank sends, and how many pairs of positions it computes.

    b, T    examples, positions        H, G   heads of queries; of keys and values       e    bytes of a number
    K       ranks                      d      width of a head

Numbers that a rank sends, K dividing T:

                    forward                                backward
    ring            2(K - 1)·G·b(T/K)·d                    2(2K - 1)·G·b(T/K)·d
    Ulysses         (2H + 2G)·b(T/K)·d·(K - 1)/K           as forward

So forward a ring sends K·G/(H + G) times as much: with as many heads of keys as of queries, K/2 times; with grouped
queries, of 64 heads and 8, K/9 times. Which is faster is a question of what hides it: a ring's round needs
2·G·b(T/K)·d numbers to arrive while b(T/K)²·H·d·4/2 FLOP (causal, zig-zag) are computed, so with long sequences it is
free.

Source: Jacobs et al., DeepSpeed Ulysses, arXiv:2309.14509, section 3.2; Liu et al., Ring Attention, arXiv:2310.01889.
"""

from __future__ import annotations

WAYS = ("ring", "ulysses")


def sent(way: str, b: int, T: int, H: int, G: int, d: int, K: int, backward: bool = False) -> float:
    """Numbers that a rank sends for the attention of one layer. ``way``: one of WAYS. A rank alone sends nothing."""
    if K == 1:
        return 0.0
    of_a_head = b * T / K * d
    if way == "ring":
        return 2 * (2 * K - 1 if backward else K - 1) * G * of_a_head
    return (2 * H + 2 * G) * of_a_head * (K - 1) / K


def flop(b: int, T: int, H: int, d: int, backward: bool = False) -> float:
    """FLOP of causal attention in one layer, on all ranks: two products forward, five backward, of which one computes
    the scores anew."""
    return (5 if backward else 2) * 2 * b * H * d * T * (T + 1) / 2
