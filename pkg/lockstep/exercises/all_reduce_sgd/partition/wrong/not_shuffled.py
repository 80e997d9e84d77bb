"""The learner thought: disjoint and complete: every K-th example is mine."""

MISCONCEPTION = "not-shuffled"


def partition(dataset, rank, ranks, epoch):
    return dataset[rank::ranks]
