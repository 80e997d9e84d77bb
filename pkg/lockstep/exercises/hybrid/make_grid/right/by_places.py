"""Ranks whose places agree on all other axes."""

import math


def make_grid(ranks, sizes):
    known = math.prod(size for size in sizes if size is not None)
    if None in sizes and ranks % known == 0:
        sizes = [ranks // known if size is None else size for size in sizes]
    if None in sizes or math.prod(sizes) != ranks:
        return None
    places = []
    for rank in range(ranks):
        places.append([])
        for size in sizes:
            places[-1].append(rank % size)
            rank //= size
    grid = []
    for axis in range(len(sizes)):
        groups = {}
        for rank, place in enumerate(places):
            groups.setdefault(tuple(place[:axis] + place[axis + 1 :]), []).append(rank)
        grid.append(list(groups.values()))
    return grid
