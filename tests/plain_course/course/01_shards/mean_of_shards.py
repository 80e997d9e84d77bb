"""Mean of shards

Return the mean of all numbers in `shards`, a list of lists. The lists may differ in length, and some may be empty.
Where no number is left, raise a `ValueError`. Numbers below `at_least` do not count.
"""

import random
from itertools import chain


def mean_of_shards(shards, at_least=float("-inf")):
    """The mean, a float."""
    # Nobody hands this comment out.
    kept = [number for number in chain(*shards) if number >= at_least]
    if not kept:
        raise ValueError("no number is left")
    return sum(kept) / len(kept)


points = 4
minutes = 15
hints = ["Which numbers count?", "How many are they?", "`sum(kept) / len(kept)`"]
cases = [
    ([[1, 2, 3], [6]], 3.0),
    ([[], [4]], 4.0, "an empty shard"),
    (([[1, 5], [9]], 5), 7.0, "a bound"),
    ([[], []], ValueError, "no numbers"),
]


def check_shuffled(answer):
    """shards in any order"""
    shards = [[random.random() for _ in range(n)] for n in (1, 4, 2)]
    mean = answer(shards)
    assert min(map(min, shards)) <= mean <= max(map(max, shards)), "A mean lies between the least and the largest."
    random.shuffle(shards)
    assert abs(answer(shards) - mean) < 1e-9, "The order of the shards does not matter."


def wrong_mean_of_means(shards, at_least=float("-inf")):
    """You take the mean of the shards' means. A longer shard should count for more."""
    kept = [[number for number in shard if number >= at_least] for shard in shards]
    if not any(kept):
        raise ValueError("no number is left")
    means = [sum(shard) / len(shard) for shard in kept if shard]
    return sum(means) / len(means)


### BEGIN HIDDEN TESTS
cases += [([[10.5], [], [20.5, 30.5]], 20.5, "hidden numbers")]
### END HIDDEN TESTS
