"""Dealt out like cards."""

import random


def partition(dataset, rank, ranks, epoch):
    hands = [[] for _ in range(ranks)]
    for n, example in enumerate(random.Random(f"epoch {epoch}").sample(dataset, k=len(dataset))):
        hands[n % ranks].append(example)
    return hands[rank]
