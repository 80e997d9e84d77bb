"""The learner thought: as many layers on each stage."""

MISCONCEPTION = "as-many-layers-each"
TELL = "Your stages have equally many layers. Layers cost different times: count these, not the layers."


def partition_layers(costs, stages):
    n = len(costs)
    return [n * (s + 1) // stages - n * s // stages for s in range(stages)]
