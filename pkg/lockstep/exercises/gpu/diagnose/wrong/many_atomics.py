"""The learner thought: many atomic operations are an illness, and few are none."""

MISCONCEPTION = "misses-serial-atomics"
TELL = "How many there are says how large the kernel is. Compare atomics with threads: about as many are an illness."


def diagnose(counts):
    if counts["races"] > 0:
        return "race"
    if counts["atomics"] > 64:
        return "serial atomics"
    if 32 * counts["sectors"] > 2 * counts["global_bytes"]:
        return "uncoalesced"
    if counts["wavefronts"] > 2.5 * counts["shared_requests"]:
        return "bank conflicts"
    if counts["lanes"] < 16 * counts["instructions"]:
        return "divergence"
    return "healthy"
