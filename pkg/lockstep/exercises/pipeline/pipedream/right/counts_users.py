"""Count for each version the minibatches that wait for their B."""

from collections import Counter


def pipedream(stage, stages, minibatches):
    stream, users, used, newest, f = [], Counter(), {}, 0, 0
    for b in range(minibatches):
        while f < min(minibatches, b + stages - stage):
            stream.append(("F", f))
            used[f] = newest
            users[newest] += 1
            f += 1
        stream.append(("B", b))
        users[used[b]] -= 1
        if used[b] < newest and users[used[b]] == 0:
            stream.append(("drop", used[b]))
        stream.append(("U", b))
        newest += 1
        if users[newest - 1] == 0:
            stream.append(("drop", newest - 1))
    return stream
