"""The learner thought: one atomic addition a warp is one for 32 threads."""

MISCONCEPTION = "healthy-as-serial-atomics"
TELL = "A last warp that is not full adds once, too: one a warp is a little more than one for 32 threads. Serial atomics are about as many as there are threads."


def diagnose(counts):
    if counts["races"] > 0:
        return "race"
    if counts["atomics"] > counts["threads"] / 32:
        return "serial atomics"
    if 32 * counts["sectors"] > 2 * counts["global_bytes"]:
        return "uncoalesced"
    if counts["wavefronts"] > 2.5 * counts["shared_requests"]:
        return "bank conflicts"
    if counts["lanes"] < 16 * counts["instructions"]:
        return "divergence"
    return "healthy"
