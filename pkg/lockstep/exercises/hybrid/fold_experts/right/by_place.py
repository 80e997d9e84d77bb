"""Rank by rank, by its place."""


def fold_experts(tp, dp, pp, ep, experts):
    if tp * dp % ep != 0 or experts % ep != 0:
        return None
    world = tp * dp * pp
    groups = {}
    copies = {}
    mine = []
    for rank in range(world):
        stage, inside = divmod(rank, tp * dp)
        copy, place = divmod(inside, ep)
        groups.setdefault((stage, copy), []).append(rank)
        copies.setdefault((stage, place), []).append(rank)
        n = experts // ep
        mine.append([e for e in range(experts) if e // n == place])
    return list(groups.values()), list(copies.values()), mine
