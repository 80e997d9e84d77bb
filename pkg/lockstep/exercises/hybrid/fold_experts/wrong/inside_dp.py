"""The learner thought: ep is a part of dp."""

MISCONCEPTION = "wrong-values"
TELL = "You fold ep into dp alone, so that a tensor group has one place in it. Here an expert isn't cut: ranks of one tensor group have different experts, and ep need only divide dp·tp."


def fold_experts(tp, dp, pp, ep, experts):
    if dp % ep or experts % ep:
        return None
    each = experts // ep
    ranks = range(tp * dp * pp)

    def place(r):
        return r % tp, r // tp % dp % ep, r // tp % dp // ep, r // (tp * dp)

    groups, copies = {}, {}
    for r in ranks:
        t, e, c, s = place(r)
        groups.setdefault((s, c, t), []).append(r)
        copies.setdefault((s, e, t), []).append(r)
    mine = [list(range(place(r)[1] * each, place(r)[1] * each + each)) for r in ranks]
    return sorted(groups.values()), sorted(copies.values()), mine
