"""The learner thought: two units are whole at once, so each may be as large as half of the room."""

MISCONCEPTION = "fills-half"
TELL = "Each unit is as large as half of the memory allows. The largest that fit are not the fastest: while the first is gathered nothing is computed, and while the last computes nothing travels."


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

    units, unit = [], []
    for i in range(L):
        if unit and states + 4 * ranks * 2 * shard([*unit, i]) > memory:
            units.append(unit)
            unit = []
        unit.append(i)
    return [*units, unit]
