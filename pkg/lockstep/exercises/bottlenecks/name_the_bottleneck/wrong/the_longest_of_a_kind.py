"""The learner thought: without the loader a step is shorter by the longest wait."""

MISCONCEPTION = "longest-of-a-kind"
TELL = "You take off the longest time that any rank waits, or reads back. Take it off each rank, and then ask which rank is the longest."


def name_the_bottleneck(spans, call_cost):
    kinds = {
        "next(loader)": 0,
        "forward": 1,
        "backward": 1,
        "optimizer.step": 1,
        ".item()": 2,
        "print": 2,
        "all_reduce": 3,
    }
    steps = {}
    for rank, step, name, begin, end in spans:
        own = steps.setdefault(step, {}).setdefault(rank, [0, 0, 0, 0, 0])
        own[kinds[name]] += end - begin
        own[4] += name == "all_reduce"
    whole, without = 0, [0, 0, 0, 0]
    for ranks in steps.values():
        own = list(ranks.values())
        tail = min(reducing for *_, reducing, _ in own)
        mean = sum(computing for _, computing, *_ in own) / len(own)
        length = max(w + c + r for w, c, r, *_ in own) + tail
        whole += length
        without[0] += length - max(w for w, c, r, *_ in own)
        without[1] += length - max(r for w, c, r, *_ in own)
        without[2] += max(w + mean + r for w, c, r, *_ in own) + tail
        without[3] += length - call_cost * max(0, own[0][4] - 1)
    shares = [1 - one / whole for one in without]
    return tuple(share if share >= 0.05 else 0.0 for share in shares)
