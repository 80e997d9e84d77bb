"""The learner thought: B uses the newest version, so the others can go at once."""

MISCONCEPTION = "drops-what-is-needed"
TELL = "You drop all but the newest version before each B. But B uses the one that its F has used."


def pipedream(stage, stages, minibatches):
    kept = min(stages - stage, minibatches)
    order = [("F", i) for i in range(kept)]
    for i in range(minibatches):
        order += [("B", i)] + [("F", kept + i)] * (kept + i < minibatches)
    stream, newest, alive = [], 0, {0}
    for kind, i in order:
        if kind == "B":
            for v in sorted(alive - {newest}):
                stream.append(("drop", v))
            alive = {newest}
        stream.append((kind, i))
        if kind == "B":
            stream.append(("U", i))
            newest += 1
            alive.add(newest)
    return stream + [("drop", v) for v in sorted(alive - {newest})]
