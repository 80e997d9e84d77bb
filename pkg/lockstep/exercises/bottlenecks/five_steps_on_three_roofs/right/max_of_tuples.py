"""Pairs compare by their first value; lists in place of pairs."""


def five_steps_on_three_roofs(N, T, K, cache, peak, memory, network):
    def roof(f, m, s=0):
        return list(max((s / network, "network"), (m / memory, "memory"), (f / peak, "compute")))

    return {
        "optimizer": roof(12 * N, 28 * N),
        "fully sharded": roof(6.0 * N * T, 2 * 2 * N + 2 * N, 6 * N - 6 * N / K),
        "data parallel": roof(6.0 * N * T, 2 * 2 * N + 2 * N, 4 * N - 4 * N / K),
        "decode": roof(2.0 * N * T, 2 * N + cache * T),
        "prefill": roof(2.0 * N * T, 2 * N),
    }
