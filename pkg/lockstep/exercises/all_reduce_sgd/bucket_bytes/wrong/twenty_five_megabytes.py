"""The learner thought: torch knows best: bucket_cap_mb=25."""

MISCONCEPTION = "constant"
TELL = "This is 25 MB, torch's default, whatever the gradients. What is best depends on them, on alpha and on beta."


def bucket_bytes(gradients, ranks, alpha, beta):
    return 25 * 1024 * 1024
