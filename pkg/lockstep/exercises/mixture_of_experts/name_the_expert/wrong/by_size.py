"""The learner thought: the most important expert comes first."""

from collections import Counter

from lockstep.experts.training import kind_of

MISCONCEPTION = "by-size"
TELL = "The names are right, but in the order of the experts' sizes. Expert 0 comes first, however much it gets."


def name_the_expert(tokens, experts, count):
    order, kinds = ["blanks", "vowels", "consonants", "digits", "signs"], [kind_of(byte) for byte in tokens]
    total, names = Counter(kinds), []
    for i in sorted(range(count), key=lambda i: -experts.count(i)):
        got = Counter(kind for kind, e in zip(kinds, experts) if e == i)
        best = max(order, key=lambda kind: got[kind] / total[kind] if total[kind] else 0)
        share = got.total() / len(tokens)
        names.append("everything" if share >= 0.9 else "idle" if share < 0.01 else best)
    return names
