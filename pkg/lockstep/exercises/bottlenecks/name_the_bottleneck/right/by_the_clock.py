"""From the first moment of a step to its last one."""


def name_the_bottleneck(spans, call_cost):
    total, saved = 0, [0, 0, 0, 0]
    for step in sorted({span[1] for span in spans}):
        here = [span for span in spans if span[1] == step]
        ranks = {span[0] for span in here}
        total += max(span[4] for span in here) - min(span[3] for span in here)

        def took(rank, *names):
            return sum(end - begin for r, _, name, begin, end in here if r == rank and name in names)

        comp = {rank: took(rank, "forward", "backward", "optimizer.step") for rank in ranks}
        load = {rank: took(rank, "next(loader)") for rank in ranks}
        sync = {rank: took(rank, ".item()", "print") for rank in ranks}
        before = max(comp[rank] + load[rank] + sync[rank] for rank in ranks)
        mean = sum(comp.values()) / len(ranks)
        saved[0] += before - max(comp[rank] + sync[rank] for rank in ranks)
        saved[1] += before - max(comp[rank] + load[rank] for rank in ranks)
        saved[2] += before - max(mean + load[rank] + sync[rank] for rank in ranks)
        calls = len([span for span in here if span[2] == "all_reduce"]) // len(ranks)
        if calls > 1:
            saved[3] += (calls - 1) * call_cost
    shares = [one / total for one in saved]
    return tuple(share if share >= 0.05 else 0.0 for share in shares)
