"""The ratios by name, then the largest excess."""


def diagnose(counts):
    if counts["races"]:
        return "race"
    excess = {
        "serial atomics": counts["atomics"] / counts["threads"] * 4,
        "uncoalesced": 32 * counts["sectors"] / max(1, counts["global_bytes"]) / 2,
        "bank conflicts": counts["wavefronts"] / max(1, counts["shared_requests"]) / 2,
        "divergence": 0.6 / (counts["lanes"] / (32 * counts["instructions"])),
    }
    for illness, value in excess.items():
        if value > 1:
            return illness
    return "healthy"
