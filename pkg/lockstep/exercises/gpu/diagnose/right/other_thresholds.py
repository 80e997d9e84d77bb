"""Other thresholds, another order."""


def diagnose(counts):
    if counts["races"] > 0:
        return "race"
    if counts["shared_requests"] and counts["wavefronts"] / counts["shared_requests"] > 2.5:
        return "bank conflicts"
    if counts["global_bytes"] / (32 * counts["sectors"]) < 0.4:
        return "uncoalesced"
    if counts["atomics"] >= 0.5 * counts["threads"]:
        return "serial atomics"
    if counts["lanes"] / counts["instructions"] < 20:
        return "divergence"
    return "healthy"
