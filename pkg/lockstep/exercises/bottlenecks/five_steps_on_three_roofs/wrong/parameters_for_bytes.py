"""The learner thought: N numbers are N to move."""

MISCONCEPTION = "parameters-for-bytes"
TELL = "You move N where it is 2·N: a weight has 2 bytes."


def five_steps_on_three_roofs(N, T, K, cache, peak, memory, network):
    work = {
        "prefill": (2 * N * T, N, 0),
        "decode": (2 * N * T, N + cache * T, 0),
        "data parallel": (6 * N * T, 3 * N, 2 * (K - 1) / K * N),
        "fully sharded": (6 * N * T, 3 * N, 3 * (K - 1) / K * N),
        "optimizer": (12 * N, 28 * N, 0),
    }
    found = {}
    for name, (flops, moved, sent) in work.items():
        times = {"compute": flops / peak, "memory": moved / memory, "network": sent / network}
        roof = max(times, key=times.get)
        found[name] = (times[roof], roof)
    return found
