"""Find out first who uses each version last."""


def pipedream(stage, stages, minibatches):
    kept = min(stages - stage, minibatches)
    version = {i: max(0, i - (stages - stage) + 1) for i in range(minibatches)}
    last = {v: i for i, v in version.items()}
    stream = [("F", i) for i in range(kept)]
    for i in range(minibatches):
        stream.append(("B", i))
        v = version[i]
        if last[v] == i and v < i:
            stream.append(("drop", v))
        stream.append(("U", i))
        if i not in last or last[i] == i:
            stream.append(("drop", i))
        if kept + i < minibatches:
            stream.append(("F", kept + i))
    return stream
