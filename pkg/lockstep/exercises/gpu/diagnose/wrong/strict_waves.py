"""The learner thought: one wavefront a request is right, and more are a conflict."""

MISCONCEPTION = "healthy-as-bank-conflicts"
TELL = "A request of 32 float64 takes two wavefronts without any conflict."


def diagnose(counts):
    if counts["races"]:
        return "race"
    if counts["atomics"] > 0.25 * counts["threads"]:
        return "serial atomics"
    if 32 * counts["sectors"] > 2 * counts["global_bytes"]:
        return "uncoalesced"
    if counts["wavefronts"] > counts["shared_requests"]:
        return "bank conflicts"
    if counts["lanes"] < 0.6 * 32 * counts["instructions"]:
        return "divergence"
    return "healthy"
