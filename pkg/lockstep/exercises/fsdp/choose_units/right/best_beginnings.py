"""From the first layer on: of the beginnings with the same last two units only the best."""


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

    beams = {(0, b): [(2 * gather(range(b)), [(0, b)])] for b in range(1, L + 1) if b < L or fits([range(L)])}
    finished = []
    for c in range(1, L + 1):
        for b in range(c):
            for total, units in beams.get((b, c), []):
                before = gather(range(*units[-2])) if len(units) > 1 else 0
                work = compute(range(b, c))
                if c == L:
                    finished.append((total + work + max(2 * work, before), units))
                for d in range(c + 1, L + 1):
                    if fits([range(b, c), range(c, d)]):
                        after = gather(range(c, d))
                        through = max(work, after) + max(2 * work, before + after)
                        beams.setdefault((c, d), []).append((total + through, [*units, (c, d)]))
        for d in range(c + 1, L + 1):
            if (c, d) in beams:
                best = {}
                for total, units in sorted(beams[c, d]):
                    best.setdefault(units[-2], (total, units))
                beams[c, d] = list(best.values())
    return [list(range(*unit)) for unit in min(finished)[1]]
