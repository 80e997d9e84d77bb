"""The learner thought: who has all of the blanks is for blanks."""

from collections import Counter

from lockstep.experts.training import kind_of

MISCONCEPTION = "forgets-everything"
TELL = 'An expert that gets at least 90 % of all tokens is "everything": it has learned no kind of its own.'


def name_the_expert(tokens, experts, count):
    order, kinds = ["blanks", "vowels", "consonants", "digits", "signs"], [kind_of(byte) for byte in tokens]
    total, names = Counter(kinds), []
    for i in range(count):
        got = Counter(kind for kind, e in zip(kinds, experts) if e == i)
        best = max(order, key=lambda kind: got[kind] / total[kind] if total[kind] else 0)
        names.append("idle" if got.total() < 0.01 * len(tokens) else best)
    return names
