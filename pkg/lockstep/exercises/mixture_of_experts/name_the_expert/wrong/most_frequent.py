"""The learner thought: an expert is for the bytes that it gets most."""

from collections import Counter

from lockstep.experts.training import kind_of

MISCONCEPTION = "most-frequent-kind"
TELL = "You name an expert by the kind that most of its tokens are. Text has many consonants: an expert can get more of them than of anything else, and still the smallest part of them. Divide by how many of the kind there are."


def name_the_expert(tokens, experts, count):
    order, names = ["blanks", "vowels", "consonants", "digits", "signs"], []
    for i in range(count):
        got = Counter(kind_of(byte) for byte, e in zip(tokens, experts) if e == i)
        share = got.total() / len(tokens)
        name = "everything" if share >= 0.9 else "idle" if share < 0.01 else max(order, key=lambda kind: got[kind])
        names.append(name)
    return names
