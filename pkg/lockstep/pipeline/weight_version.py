"""How old are the weights that a pass of PipeDream uses? Closed forms, for an endless row of minibatches.

    s, p      this stage, and the number of stages
    i         a minibatch; version v is the weights after v updates of this stage

Stage s begins with p - s forward passes. From then on, one backward pass with its update stands before each F: F of i
follows the updates 0 to i - (p - s), so it sees version max(0, i - (p - s) + 1). B of i comes right after update i - 1.

    rule            F of i                      B of i
    none            max(0, i - p + s + 1)       i
    stashing        max(0, i - p + s + 1)       the same as F
    vertical sync   max(0, i - p + 1)           the same, on every stage: what F of i uses on stage 0

Source: Narayanan et al., "PipeDream: Generalized Pipeline Parallelism for DNN Training", SOSP 2019, section 3.3.
"""

from __future__ import annotations

RULES = ("none", "stashing", "vertical sync")


def weight_version(stage: int, stages: int, minibatch: int, which: str, rule: str) -> int:
    """How many updates the weights have seen that pass ``which``, "F" or "B", of the minibatch uses."""
    if rule == "none" and which == "B":
        return minibatch
    first = 0 if rule == "vertical sync" else stage
    return max(0, minibatch - (stages - first) + 1)
