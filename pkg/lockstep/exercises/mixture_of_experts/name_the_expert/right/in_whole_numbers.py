"""No division: fractions are compared crosswise."""

from lockstep.experts.training import kind_of


def name_the_expert(tokens, experts, count):
    kinds, names = [kind_of(byte) for byte in tokens], []
    for i in range(count):
        mine = [kind for kind, e in zip(kinds, experts, strict=True) if e == i]
        if 10 * len(mine) >= 9 * len(tokens):
            names.append("everything")
        elif 100 * len(mine) < len(tokens):
            names.append("idle")
        else:
            best, got, of = "", 0, 1
            for kind in ("blanks", "vowels", "consonants", "digits", "signs"):
                if mine.count(kind) * of > got * kinds.count(kind):
                    best, got, of = kind, mine.count(kind), kinds.count(kind)
            names.append(best)
    return names
