"""The learner thought: sorted by their hash the examples are shuffled, on every rank alike."""

MISCONCEPTION = "salted-hash"


def partition(dataset, rank, ranks, epoch):
    order = sorted(range(len(dataset)), key=lambda i: hash((str(i), epoch)))
    return [dataset[i] for i in order[rank::ranks]]
