"""The learner thought: more than four sectors for a request is uncoalesced."""

MISCONCEPTION = "healthy-as-uncoalesced"
TELL = "32 float64 fill eight sectors, and none is wasted. Compare the bytes moved, 32 · sectors, with those asked for, global_bytes."


def diagnose(counts):
    if counts["races"] > 0:
        return "race"
    if counts["atomics"] > counts["threads"] / 4:
        return "serial atomics"
    if counts["sectors"] > 4 * counts["global_requests"]:
        return "uncoalesced"
    if counts["wavefronts"] > 2 * counts["shared_requests"]:
        return "bank conflicts"
    if counts["lanes"] < 0.6 * 32 * counts["instructions"]:
        return "divergence"
    return "healthy"
