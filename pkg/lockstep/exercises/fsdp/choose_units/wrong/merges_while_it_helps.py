"""The learner thought: put together whichever neighbours help most, until none do."""

MISCONCEPTION = "wrong-values"


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

    units = [[i] for i in range(L)]
    while True:
        merged = [units[:i] + [units[i] + units[i + 1]] + units[i + 2 :] for i in range(len(units) - 1)]
        better = [m for m in merged if fits(m) and time(m) < time(units)]
        if not better:
            return units
        units = min(better, key=time)
