"""The learner thought: a version goes with the B that used it."""

MISCONCEPTION = "keeps-unused-versions"
TELL = "You drop a version only after a B that has used it. A version that no F has used is never needed: it goes when the next update makes it old."


def pipedream(stage, stages, minibatches):
    kept = min(stages - stage, minibatches)
    order = [("F", i) for i in range(kept)]
    for i in range(minibatches):
        order += [("B", i)] + [("F", kept + i)] * (kept + i < minibatches)
    stream, newest, used = [], 0, {}
    for kind, i in order:
        stream.append((kind, i))
        if kind == "F":
            used[i] = newest
            continue
        version = used.pop(i)
        if version != newest and version not in used.values():
            stream.append(("drop", version))
        stream.append(("U", i))
        if version == newest and version not in used.values():
            stream.append(("drop", version))
        newest += 1
    return stream
