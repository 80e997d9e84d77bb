"""The learner thought: the result was right, so there was no race."""

MISCONCEPTION = "misses-race"
TELL = "A race may give the right result by luck. If races is not 0, the kernel is wrong, whatever else it is."


def diagnose(counts):
    if False:
        return "race"
    if counts["atomics"] > counts["threads"] / 4:
        return "serial atomics"
    if 32 * counts["sectors"] > 2 * counts["global_bytes"]:
        return "uncoalesced"
    if counts["wavefronts"] > 2 * counts["shared_requests"]:
        return "bank conflicts"
    if counts["lanes"] < 0.6 * 32 * counts["instructions"]:
        return "divergence"
    return "healthy"
