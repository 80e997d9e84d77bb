"""The learner thought: shuffle gives the shuffled list back."""

import random

MISCONCEPTION = "crashed:RankRaised"
TELL = "shuffle changes the list that it is given, and returns None; random.Random(epoch).sample(dataset, len(dataset)) returns a new list."
RAISES = "^TypeError: 'NoneType' object is not subscriptable"


def partition(dataset, rank, ranks, epoch):
    order = random.Random(epoch).shuffle(list(dataset))
    return order[rank::ranks]
