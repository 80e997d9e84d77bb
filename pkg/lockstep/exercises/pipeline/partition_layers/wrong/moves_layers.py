"""The learner thought: the dearest layer goes to the stage that is cheapest now."""

MISCONCEPTION = "moves-layers"
TELL = "You hand out layers one by one, the dearest first, as if they could stand in any order. The first stage has to have the first layers."


def partition_layers(costs, stages):
    filled, sizes = [0] * stages, [0] * stages
    for cost in sorted(costs, reverse=True):
        s = min(range(stages), key=lambda s: (sizes[s] > 0, filled[s]))
        filled[s] += cost
        sizes[s] += 1
    return sizes
