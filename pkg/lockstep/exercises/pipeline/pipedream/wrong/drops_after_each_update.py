"""The learner thought: an update makes the old version useless."""

MISCONCEPTION = "drops-what-is-needed"
TELL = (
    "You drop the old version after each update. Minibatches whose F has used it are still under way: their B needs it."
)


def pipedream(stage, stages, minibatches):
    kept = min(stages - stage, minibatches)
    order = [("F", i) for i in range(kept)]
    for i in range(minibatches):
        order += [("B", i)] + [("F", kept + i)] * (kept + i < minibatches)
    stream = []
    for kind, i in order:
        stream.append((kind, i))
        if kind == "B":
            stream += [("U", i), ("drop", i)]
    return stream
