"""The learner thought: what is best for forward is best for backward."""

from functools import cache
from math import inf

MISCONCEPTION = "forward-only"
TELL = "These units are the best for the forward pass alone. In the backward pass twice as much is computed, and twice as much travels."


def choose_units(sizes, memory, ranks, alpha, beta, seconds):
    L = len(sizes)
    states = 16 * -(-sum(sizes) // ranks)

    def shard(u):
        return -(-sum(sizes[i] for i in u) // ranks)

    def gather(u):
        return alpha + 4 * (ranks - 1) * shard(u) * beta

    def compute(u):
        return sum(seconds[i] for i in u)

    def fits(units):
        n = [shard(u) for u in units]
        pairs = [a + b for a, b in zip(n, n[1:])] or n
        return states + 4 * ranks * max(pairs) <= memory

    def time(units):
        g, c = [gather(u) for u in units], [compute(u) for u in units]
        total = g[0] + sum(max(c[u], g[u + 1]) for u in range(len(units) - 1)) + c[-1]
        for u in range(len(units)):
            travels = (g[u - 1] if u > 0 else 0) + (g[u + 1] if u + 1 < len(units) else 0)
            total += max(2 * c[u], travels)
        return total + g[0]

    def cut(ends):
        return [list(range(a, b)) for a, b in zip([0, *ends], [*ends, L])]

    @cache
    def rest(a, b, c):
        """Least seconds from unit b..c on, which follows a..b."""
        if c == L:
            return step(a, b, c, c), []
        return min(
            (
                (step(a, b, c, d) + rest(b, c, d)[0], [c, *rest(b, c, d)[1]])
                for d in range(c + 1, L + 1)
                if fits([range(b, c), range(c, d)])
            ),
            default=(inf, []),
        )

    def step(a, b, c, d):
        before, u, after = (gather(range(*e)) if e[0] < e[1] else 0 for e in ((a, b), (b, c), (c, d)))
        work = compute(range(b, c))
        return max(work, after)

    starts = [
        (rest(0, 0, b)[0] + 1 * gather(range(b)), [*rest(0, 0, b)[1]])
        for b in range(1, L + 1)
        if b < L or fits([range(L)])
    ]
    return cut(min(starts)[1])
