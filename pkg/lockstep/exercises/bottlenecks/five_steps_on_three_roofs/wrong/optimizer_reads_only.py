"""The learner thought: Adam reads the gradient, the weight and two moments."""

MISCONCEPTION = "optimizer-reads-only"
TELL = "For the optimizer you count what it reads, and the weight. It writes three float32, too."


def five_steps_on_three_roofs(N, T, K, cache, peak, memory, network):
    work = {
        "prefill": (2 * N * T, 2 * N, 0),
        "decode": (2 * N * T, 2 * N + cache * T, 0),
        "data parallel": (6 * N * T, 6 * N, 2 * (K - 1) / K * 2 * N),
        "fully sharded": (6 * N * T, 6 * N, 3 * (K - 1) / K * 2 * N),
        "optimizer": (12 * N, 16 * N, 0),
    }
    found = {}
    for name, (flops, moved, sent) in work.items():
        times = {"compute": flops / peak, "memory": moved / memory, "network": sent / network}
        roof = max(times, key=times.get)
        found[name] = (times[roof], roof)
    return found
