"""The learner thought: it has to stay below the memory."""

import math

MISCONCEPTION = "crashed:RankRaised"


def choose_units(sizes, memory, ranks, alpha, beta, seconds):
    L = len(sizes)
    room = memory - 16 * math.ceil(sum(sizes) / ranks)

    def n(a, b):
        return -(-sum(sizes[a:b]) // ranks)

    def g(a, b):
        return alpha + 4 * (ranks - 1) * n(a, b) * beta

    def c(a, b):
        return sum(seconds[a:b])

    if 4 * ranks * n(0, L) < room:
        best = (c(0, L) + g(0, L) + 2 * c(0, L) + g(0, L) + 0.0 + 0.0, [(0, L)])
        best = (g(0, L) + c(0, L) + max(2 * c(0, L), 0) + g(0, L), [(0, L)])
    else:
        best = (math.inf, None)
    state = {}  # (a, b, e): units [a, b) and [b, e); the backward pass of the latter is not in it
    for b in range(1, L):
        for e in range(b + 1, L + 1):
            if 4 * ranks * (n(0, b) + n(b, e)) < room:
                t = g(0, b) + max(c(0, b), g(b, e)) + max(2 * c(0, b), g(b, e)) + g(0, b)
                state[0, b, e] = (t, [(0, b), (b, e)])
    for e in range(2, L + 1):
        for (a, b, end), (t, units) in [x for x in state.items() if x[0][2] == e]:
            if e == L:
                total = t + c(b, e) + max(2 * c(b, e), g(a, b))
                if total < best[0]:
                    best = (total, units)
            for d in range(e + 1, L + 1):
                if 4 * ranks * (n(b, e) + n(e, d)) < room:
                    new = t + max(c(b, e), g(e, d)) + max(2 * c(b, e), g(a, b) + g(e, d))
                    if new < state.get((b, e, d), (math.inf,))[0]:
                        state[b, e, d] = (new, units + [(e, d)])
    return [list(range(a, b)) for a, b in best[1]]
