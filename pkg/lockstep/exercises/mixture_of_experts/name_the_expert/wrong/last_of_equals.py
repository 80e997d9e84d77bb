"""The learner thought: of equal parts any will do."""

from collections import Counter

from lockstep.experts.training import kind_of

MISCONCEPTION = "last-of-equals"
TELL = "Two parts are equal here: take the kind that stands further up in the list of kinds."


def name_the_expert(tokens, experts, count):
    order, kinds = ["blanks", "vowels", "consonants", "digits", "signs"], [kind_of(byte) for byte in tokens]
    total, names = Counter(kinds), []
    for i in range(count):
        got = Counter(kind for kind, e in zip(kinds, experts) if e == i)
        best = max(reversed(order), key=lambda kind: got[kind] / total[kind] if total[kind] else 0)
        share = got.total() / len(tokens)
        names.append("everything" if share >= 0.9 else "idle" if share < 0.01 else best)
    return names
