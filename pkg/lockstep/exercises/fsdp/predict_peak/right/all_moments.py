"""A list of all moments, and the largest."""


def predict_peak(sizes, ranks, stage):
    n = [(N + ranks - 1) // ranks for N in sizes]
    whole = sizes if stage == 0 else [ranks * s for s in n]
    L = len(sizes)
    if stage == 0:
        return 4 * 4 * sum(sizes)
    always = 2 * sum(n) + (sum(n) if stage == 3 else sum(whole))
    if stage == 1:
        return 4 * (always + max(sum(whole[: i + 1]) + sum(n[i:]) for i in range(L)))
    if stage == 2:
        return 4 * (always + max(whole[i] + sum(n[i:]) for i in range(L)))
    computing = [2 * whole[i] + sum(n[i + 1 :]) for i in range(L)]
    reducing = [whole[i] + sum(n[i:]) for i in range(L)]
    return 4 * (always + max(computing + reducing))
