"""The learner thought: each kind names the expert that gets most of it, and who is named by none is idle."""

from collections import Counter

from lockstep.experts.training import kind_of

MISCONCEPTION = "one-expert-a-kind"
TELL = "You ask of each kind which expert gets most of it. Ask of each expert of which kind it gets the largest part: two experts may have the same name."


def name_the_expert(tokens, experts, count):
    names = ["idle"] * count
    for kind in reversed(["blanks", "vowels", "consonants", "digits", "signs"]):
        got = Counter(e for byte, e in zip(tokens, experts) if kind_of(byte) == kind)
        if got:
            names[max(range(count), key=lambda i: got[i])] = kind
    for i in range(count):
        if experts.count(i) >= 0.9 * len(tokens):
            names[i] = "everything"
        elif experts.count(i) < 0.01 * len(tokens):
            names[i] = "idle"
    return names
