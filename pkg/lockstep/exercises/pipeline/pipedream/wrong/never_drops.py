"""The learner thought: versions go by themselves."""

MISCONCEPTION = "never-drops"
TELL = "You never drop a version. All of them stay in memory."


def pipedream(stage, stages, minibatches):
    kept = min(stages - stage, minibatches)
    order = [("F", i) for i in range(kept)]
    for i in range(minibatches):
        order += [("B", i)] + [("F", kept + i)] * (kept + i < minibatches)
    stream = []
    for kind, i in order:
        stream.append((kind, i))
        if kind == "B":
            stream.append(("U", i))
    return stream
