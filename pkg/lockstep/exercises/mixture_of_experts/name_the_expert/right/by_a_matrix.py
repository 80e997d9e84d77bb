"""Counts in a tensor, a row for each expert and a column for each kind."""

import torch

from lockstep.experts.training import kind_of


def name_the_expert(tokens, experts, count):
    order = ["blanks", "vowels", "consonants", "digits", "signs"]
    counts = torch.zeros(count, 5, dtype=torch.float64)
    for byte, i in zip(tokens, experts):
        counts[i, order.index(kind_of(byte))] += 1
    parts = counts / counts.sum(0).clamp(min=1)
    names = [order[at] for at in parts.argmax(1).tolist()]
    for i, got in enumerate(counts.sum(1).tolist()):
        if got >= 0.9 * len(tokens):
            names[i] = "everything"
        elif got < 0.01 * len(tokens):
            names[i] = "idle"
    return names
