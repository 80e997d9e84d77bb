"""The learner thought: moving everything on by one place each epoch gives new shares."""

MISCONCEPTION = "hardly-mixed"
ALSO = ["same-order"]


def partition(dataset, rank, ranks, epoch):
    n = len(dataset)
    order = [dataset[(i + epoch) % n] for i in range(n)]
    begin, end = rank * n // ranks, (rank + 1) * n // ranks
    return order[begin:end]
