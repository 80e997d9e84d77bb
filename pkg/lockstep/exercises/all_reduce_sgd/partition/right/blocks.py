"""Contiguous parts of a shuffled list; the first ranks take one more."""

import random


def partition(dataset, rank, ranks, epoch):
    order = list(dataset)
    random.Random(epoch).shuffle(order)
    size, more = divmod(len(order), ranks)
    begin = rank * size + min(rank, more)
    return order[begin : begin + size + (rank < more)]
