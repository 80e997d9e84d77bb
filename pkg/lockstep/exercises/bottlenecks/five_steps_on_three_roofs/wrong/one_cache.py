"""The learner thought: a decode step reads the cache once."""

MISCONCEPTION = "one-cache"
TELL = "In decode you read one cache. Each of the T sequences has one of its own."


def five_steps_on_three_roofs(N, T, K, cache, peak, memory, network):
    work = {
        "prefill": (2 * N * T, 2 * N, 0),
        "decode": (2 * N * T, 2 * N + cache, 0),
        "data parallel": (6 * N * T, 6 * N, 2 * (K - 1) / K * 2 * N),
        "fully sharded": (6 * N * T, 6 * N, 3 * (K - 1) / K * 2 * N),
        "optimizer": (12 * N, 28 * N, 0),
    }
    found = {}
    for name, (flops, moved, sent) in work.items():
        times = {"compute": flops / peak, "memory": moved / memory, "network": sent / network}
        roof = max(times, key=times.get)
        found[name] = (times[roof], roof)
    return found
