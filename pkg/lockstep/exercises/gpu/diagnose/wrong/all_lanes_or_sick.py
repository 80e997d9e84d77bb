"""The learner thought: a healthy kernel has all of its lanes at work."""

MISCONCEPTION = "healthy-as-divergence"
TELL = "A last block that is not full, or one lane that adds atomically, is no illness: divergence is a share of lanes far below 1."


def diagnose(counts):
    if counts["races"] > 0:
        return "race"
    if counts["atomics"] > counts["threads"] / 4:
        return "serial atomics"
    if 32 * counts["sectors"] > 2 * counts["global_bytes"]:
        return "uncoalesced"
    if counts["wavefronts"] > 2 * counts["shared_requests"]:
        return "bank conflicts"
    if counts["lanes"] < 32 * counts["instructions"]:
        return "divergence"
    return "healthy"
