"""A helper that compares."""


def five_steps_on_three_roofs(N, T, K, cache, peak, memory, network):
    def pick(f, m, s):
        c, b, n = f / peak, m / memory, s / network
        if c >= b and c >= n:
            return (c, "compute")
        return (b, "memory") if b >= n else (n, "network")

    w = 2 * N
    return {
        "prefill": pick(2 * N * T, w, 0),
        "decode": pick(2 * N * T, w + T * cache, 0),
        "data parallel": pick(6 * N * T, 3 * w, 2 * (K - 1) / K * w),
        "fully sharded": pick(6 * N * T, 3 * w, 3 * (K - 1) / K * w),
        "optimizer": pick(12 * N, N * (2 + 12 + 12 + 2), 0),
    }
