"""The learner thought: idle lanes explain everything."""

MISCONCEPTION = "healthy-as-divergence"
TELL = "A last block that is not full, or one lane that adds atomically, is no illness: divergence is a share of lanes far below 1."


def diagnose(counts):
    if counts["lanes"] < 0.99 * 32 * counts["instructions"]:
        return "divergence"
    if counts["races"] > 0:
        return "race"
    if counts["atomics"] > counts["threads"] / 4:
        return "serial atomics"
    if 32 * counts["sectors"] > 2 * counts["global_bytes"]:
        return "uncoalesced"
    if counts["wavefronts"] > 2 * counts["shared_requests"]:
        return "bank conflicts"
    return "healthy"
