"""The learner thought: an all-reduce sends the gradients out and gets them back."""

MISCONCEPTION = "whole-gradients"
TELL = "You let a device send all the bytes, whatever K is. With K devices it is (K − 1)/K of them, so nothing on one device."


def five_steps_on_three_roofs(N, T, K, cache, peak, memory, network):
    work = {
        "prefill": (2 * N * T, 2 * N, 0),
        "decode": (2 * N * T, 2 * N + cache * T, 0),
        "data parallel": (6 * N * T, 6 * N, 2 * 1 * 2 * N),
        "fully sharded": (6 * N * T, 6 * N, 3 * 1 * 2 * N),
        "optimizer": (12 * N, 28 * N, 0),
    }
    found = {}
    for name, (flops, moved, sent) in work.items():
        times = {"compute": flops / peak, "memory": moved / memory, "network": sent / network}
        roof = max(times, key=times.get)
        found[name] = (times[roof], roof)
    return found
