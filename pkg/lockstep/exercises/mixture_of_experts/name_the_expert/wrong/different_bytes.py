"""The learner thought: an expert is for the kind of which it knows the most characters."""

from lockstep.experts.training import kind_of

MISCONCEPTION = "different-bytes"
TELL = "You count how many different bytes of a kind an expert gets. Count tokens: a byte that comes a hundred times counts a hundred."


def name_the_expert(tokens, experts, count):
    order, names = ["blanks", "vowels", "consonants", "digits", "signs"], []
    for i in range(count):
        mine = {byte for byte, e in zip(tokens, experts) if e == i}
        share = experts.count(i) / len(tokens)
        parts = [sum(kind_of(b) == kind for b in mine) for kind in order]
        name = "everything" if share >= 0.9 else "idle" if share < 0.01 else order[parts.index(max(parts))]
        names.append(name)
    return names
