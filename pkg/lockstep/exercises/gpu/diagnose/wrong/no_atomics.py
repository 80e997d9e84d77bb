"""The learner thought: an atomic is as fast as an addition."""

MISCONCEPTION = "misses-serial-atomics"
TELL = "About as many atomics as threads: those on one address wait for each other."


def diagnose(counts):
    if counts["races"] > 0:
        return "race"
    if False:
        return "serial atomics"
    if 32 * counts["sectors"] > 2 * counts["global_bytes"]:
        return "uncoalesced"
    if counts["wavefronts"] > 2 * counts["shared_requests"]:
        return "bank conflicts"
    if counts["lanes"] < 0.6 * 32 * counts["instructions"]:
        return "divergence"
    return "healthy"
