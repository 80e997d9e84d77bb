"""The program's own generator, put back to where it was."""

import random


def partition(dataset, rank, ranks, epoch):
    before = random.getstate()
    random.seed(epoch)
    order = random.sample(range(len(dataset)), len(dataset))
    random.setstate(before)
    return [dataset[i] for i in order[rank::ranks]]
