"""The learner thought: units of equally many layers, as many as are best."""

MISCONCEPTION = "equally-many-layers"
TELL = "All your units have as many layers as each other. Layers differ: units of few large and of many small ones are faster."


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

    every = [cut(list(range(k, L, k))) for k in range(1, L + 1)]
    return min((units for units in every if fits(units)), key=time)
