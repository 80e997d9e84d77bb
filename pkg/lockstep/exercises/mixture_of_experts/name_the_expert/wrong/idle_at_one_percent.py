"""The learner thought: up to 1 % is idle."""

from collections import Counter

from lockstep.experts.training import kind_of

MISCONCEPTION = "idle-at-one-percent"
TELL = '"idle" is for fewer than 1 % of all tokens: an expert that gets exactly 1 % has a kind.'


def name_the_expert(tokens, experts, count):
    order, kinds = ["blanks", "vowels", "consonants", "digits", "signs"], [kind_of(byte) for byte in tokens]
    total, names = Counter(kinds), []
    for i in range(count):
        got = Counter(kind for kind, e in zip(kinds, experts) if e == i)
        best = max(order, key=lambda kind: got[kind] / total[kind] if total[kind] else 0)
        share = got.total() / len(tokens)
        names.append("everything" if share >= 0.9 else "idle" if share <= 0.01 else best)
    return names
