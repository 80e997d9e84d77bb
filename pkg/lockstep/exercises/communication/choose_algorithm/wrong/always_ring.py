"""The learner thought: the ring is optimal."""

MISCONCEPTION = "always-ring"
TELL = 'You always answer "ring". With many ranks and short messages its 2(K-1) rounds cost too much: count each of them with its alpha.'
VARIANTS = ["ring_without_rounds"]


def choose_algorithm(nbytes, ranks, alpha, beta):
    return "ring"
