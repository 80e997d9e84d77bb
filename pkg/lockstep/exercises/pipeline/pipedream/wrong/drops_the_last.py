"""The learner thought: in the end nothing is needed any more."""

MISCONCEPTION = "drops-the-newest"
TELL = "You drop the newest version at the end, too. It is what was trained."


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
        for v in sorted(alive - {newest} - set(used.values())):
            stream.append(("drop", v))
            alive.remove(v)
        stream.append(("U", i))
        newest += 1
        alive.add(newest)
        for v in sorted(alive - {newest} - set(used.values())):
            stream.append(("drop", v))
            alive.remove(v)
    return stream + [("drop", newest)]
