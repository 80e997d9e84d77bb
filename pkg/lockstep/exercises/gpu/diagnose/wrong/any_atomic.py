"""The learner thought: an atomic operation is an illness."""

MISCONCEPTION = "healthy-as-serial-atomics"
TELL = "A healthy kernel may add atomically once a warp. Serial atomics are about as many as there are threads."


def diagnose(counts):
    if counts["races"]:
        return "race"
    if counts["atomics"]:
        return "serial atomics"
    if 32 * counts["sectors"] > 2 * counts["global_bytes"]:
        return "uncoalesced"
    if counts["wavefronts"] > 2 * counts["shared_requests"]:
        return "bank conflicts"
    if counts["lanes"] < 0.6 * 32 * counts["instructions"]:
        return "divergence"
    return "healthy"
