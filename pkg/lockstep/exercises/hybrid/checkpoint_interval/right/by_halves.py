"""One step more is worth it as long as n(n+1)·step² is less than 2·d·M."""


def checkpoint_interval(step, nbytes, bandwidth, gpu_hours, gpus, restart):
    d = nbytes / bandwidth
    M = gpu_hours * 3600 / gpus
    n = 1
    # f(n+1) < f(n)  <=>  n(n+1) s^2 < 2dM
    lo, hi = 1, 1
    while hi * (hi + 1) * step**2 < 2 * d * M:
        hi *= 2
    while lo < hi:
        mid = (lo + hi) // 2
        if mid * (mid + 1) * step**2 < 2 * d * M:
            lo = mid + 1
        else:
            hi = mid
    t = lo * step
    return [lo, 1 / (1 + d / t + (t / 2 + restart) / M)]
