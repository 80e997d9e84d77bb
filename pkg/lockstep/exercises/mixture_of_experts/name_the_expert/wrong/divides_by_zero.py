"""The learner thought: there are tokens of each kind."""

from lockstep.experts.training import kind_of

MISCONCEPTION = "crashed:RankRaised"
TELL = "A kind that isn't in `tokens` is no expert's: leave it out before you divide."
RAISES = "^ZeroDivisionError"


def name_the_expert(tokens, experts, count):
    order, kinds = ["blanks", "vowels", "consonants", "digits", "signs"], [kind_of(byte) for byte in tokens]
    names = []
    for i in range(count):
        got = [kind for kind, e in zip(kinds, experts) if e == i]
        parts = {kind: got.count(kind) / kinds.count(kind) for kind in order}
        share = len(got) / len(tokens)
        name = "everything" if share >= 0.9 else "idle" if share < 0.01 else max(parts, key=parts.get)
        names.append(name)
    return names
