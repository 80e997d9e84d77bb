"""The learner thought: what takes the longest, over all ranks together, is the bottleneck."""

MISCONCEPTION = "sums-of-spans"
TELL = "You divide the sum of a kind's spans by that of all spans. What one rank does while another one takes longer costs nothing: ask how long a step would be without it."


def name_the_bottleneck(spans, call_cost):
    total = sum(end - begin for *_, begin, end in spans)

    def share(*names):
        return sum(end - begin for _, _, name, begin, end in spans if name in names) / total

    computing = {}
    for rank, _, name, begin, end in spans:
        if name in ("forward", "backward", "optimizer.step"):
            computing[rank] = computing.get(rank, 0) + end - begin
    mean = sum(computing.values()) / len(computing)
    waits = len(computing) * (max(computing.values()) - mean) / total
    calls = sum(name == "all_reduce" for _, _, name, _, _ in spans)
    steps = len({(rank, step) for rank, step, *_ in spans})
    shares = (share("next(loader)"), share(".item()", "print"), waits, max(0, calls - steps) * call_cost / total)
    return tuple(share if share >= 0.05 else 0.0 for share in shares)
