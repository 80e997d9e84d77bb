"""The learner thought: wavefronts are conflicts."""

MISCONCEPTION = "healthy-as-bank-conflicts"
TELL = "Every request of shared memory takes a wavefront. A conflict is many wavefronts for a request."


def diagnose(counts):
    if counts["races"] > 0:
        return "race"
    if counts["atomics"] > counts["threads"] / 4:
        return "serial atomics"
    if 32 * counts["sectors"] > 2 * counts["global_bytes"]:
        return "uncoalesced"
    if counts["wavefronts"] > 0:
        return "bank conflicts"
    if counts["lanes"] < 0.6 * 32 * counts["instructions"]:
        return "divergence"
    return "healthy"
