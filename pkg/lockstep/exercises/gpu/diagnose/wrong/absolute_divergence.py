"""The learner thought: many instructions mean divergence."""

MISCONCEPTION = "healthy-as-divergence"
TELL = "Many instructions only mean a large kernel. Divergence is a low share of lanes at work: lanes / (32 · instructions)."


def diagnose(counts):
    if counts["races"] > 0:
        return "race"
    if counts["atomics"] > counts["threads"] / 4:
        return "serial atomics"
    if 32 * counts["sectors"] > 2 * counts["global_bytes"]:
        return "uncoalesced"
    if counts["wavefronts"] > 2 * counts["shared_requests"]:
        return "bank conflicts"
    if counts["instructions"] > 40:
        return "divergence"
    return "healthy"
