"""The learner thought: a straggler is slow on average."""

MISCONCEPTION = "slow-on-average"
TELL = "You look for a rank that is slow over all steps together. In each step another one may be: take the mean of each step, and its longest rank."


def name_the_bottleneck(spans, call_cost):
    kinds = {"next(loader)": 0, ".item()": 2, "print": 2, "all_reduce": 3}
    steps = {}
    for rank, step, name, begin, end in spans:
        own = steps.setdefault(step, {}).setdefault(rank, [0, 0, 0, 0, 0])
        own[kinds.get(name, 1)] += end - begin
        own[4] += name == "all_reduce"
    whole, without = 0, [0, 0, 0, 0]
    computing = {}
    for ranks in steps.values():
        own = list(ranks.values())
        tail = min(one[3] for one in own)
        length = max(sum(one[:3]) for one in own) + tail
        whole += length
        without[0] += max(c + r for w, c, r, *_ in own) + tail
        without[1] += max(w + c for w, c, r, *_ in own) + tail
        without[3] += length - call_cost * max(0, own[0][4] - 1)
        for rank, one in ranks.items():
            computing[rank] = computing.get(rank, 0) + one[1]
    without[2] = whole - max(computing.values()) + sum(computing.values()) / len(computing)
    shares = [1 - one / whole for one in without]
    return tuple(share if share >= 0.05 else 0.0 for share in shares)
