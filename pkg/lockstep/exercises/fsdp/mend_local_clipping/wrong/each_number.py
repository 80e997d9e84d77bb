"""The learner thought: each number is held between -max_norm and max_norm."""

MISCONCEPTION = "clips-numbers"
TELL = "You clip each number by itself. That changes the direction: what is asked for is one factor for all."


def mend_local_clipping(gradients, max_norm, group=None):
    return [g.clamp(-max_norm, max_norm) for g in gradients]
