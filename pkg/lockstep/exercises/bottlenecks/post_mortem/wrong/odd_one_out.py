"""The learner thought: of 64 ranks one is not where the others are."""

from collections import Counter

MISCONCEPTION = "odd-one-out"
TELL = "You name the rank whose last entry is the rarest. Ranks do different things, in a pipeline above all: ask of each operation which of its ranks are missing."


def post_mortem(dumps):
    last = {}
    for rank, dump in enumerate(dumps):
        entry = dump["entries"][-1] if dump and dump["entries"] else None
        seen = ("", "", "completed", "")
        if entry:
            seen = (entry["profiling_name"], str(entry["input_sizes"]), entry["state"], entry["frames"][0]["filename"])
        last[rank] = seen
    times = Counter(last.values())
    rank = min(last, key=lambda rank: times[last[rank]])
    usual = times.most_common(1)[0][0]
    name, size, state, line = last[rank]
    if state == "completed":
        return rank, usual[3], "absent"
    if name != usual[0]:
        return rank, line, "other collective"
    return rank, line, "other size" if size != usual[1] else "other order"
