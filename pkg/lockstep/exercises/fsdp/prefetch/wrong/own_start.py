"""The learner thought: layer.start() are the parameters."""

MISCONCEPTION = "starts-anew"
TELL = "You compute with layer.start(), what the parameters once began with. What they are now is in the shards."


def prefetch(layers, shards, x, group=None):
    for layer in layers:
        x = layer(layer.start(), x)
    return x
