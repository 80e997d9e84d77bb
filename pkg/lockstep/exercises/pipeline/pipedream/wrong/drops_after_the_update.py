"""The learner thought: B, U and then the drop, always in this order."""

MISCONCEPTION = "drops-after-the-update"
TELL = "You drop a version after the update, even where the B before it was the last to need it. Then one version more than necessary is alive during the update."


def pipedream(stage, stages, minibatches):
    kept = min(stages - stage, minibatches)
    order = [("F", i) for i in range(kept)]
    for i in range(minibatches):
        order += [("B", i)] + [("F", kept + i)] * (kept + i < minibatches)
    stream, newest, used, alive = [], 0, {}, {0}
    for kind, i in order:
        stream.append((kind, i))
        if kind == "F":
            used[i] = newest
            continue
        del used[i]
        stream.append(("U", i))
        newest += 1
        for v in sorted(alive - set(used.values())):
            stream.append(("drop", v))
        alive = {newest} | set(used.values())
    return stream
