"""The learner thought: the update belongs to the F that follows it."""

MISCONCEPTION = "wrong-values"


def pipedream(stage, stages, minibatches):
    kept = min(stages - stage, minibatches)
    order = [("F", i) for i in range(kept)]
    for i in range(minibatches):
        order += [("B", i)] + [("F", kept + i)] * (kept + i < minibatches)
    stream, newest, used, alive = [], 0, {}, {0}
    waiting = []
    for kind, i in order + [("end", 0)]:
        if kind != "B":
            stream += [("U", j) for j in waiting]
            waiting = []
        if kind != "end":
            stream.append((kind, i))
        if kind == "B":
            waiting.append(i)
    return stream
