"""The learner thought: every expert is for something."""

from collections import Counter

from lockstep.experts.training import kind_of

MISCONCEPTION = "forgets-idle"
TELL = 'An expert that gets fewer than 1 % of all tokens is "idle", whatever these few tokens are.'


def name_the_expert(tokens, experts, count):
    order, kinds = ["blanks", "vowels", "consonants", "digits", "signs"], [kind_of(byte) for byte in tokens]
    total, names = Counter(kinds), []
    for i in range(count):
        got = Counter(kind for kind, e in zip(kinds, experts) if e == i)
        best = max(order, key=lambda kind: got[kind] / total[kind] if total[kind] else 0)
        names.append("everything" if got.total() >= 0.9 * len(tokens) else best)
    return names
