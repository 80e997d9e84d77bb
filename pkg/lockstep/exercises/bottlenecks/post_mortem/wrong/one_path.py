"""The learner thought: I follow one missing rank of each operation, and these ranks are the circle."""

import json
from collections import Counter

MISCONCEPTION = "part-of-the-circle"
TELL = "You follow one rank of each operation, and count only these. All the ranks that the circle's operations lack are in the circle."


def post_mortem(dumps):
    groups, waits = {}, {}
    for rank, dump in enumerate(dumps):
        if dump:
            for name, group in dump["pg_config"].items():
                groups[name] = json.loads(group["ranks"])
            if dump["entries"] and dump["entries"][-1]["state"] != "completed":
                waits[rank] = dump["entries"][-1]
    posted = {}

    def where(rank):
        return waits[rank]["process_group"][0], waits[rank]["collective_seq_id"]

    for rank in waits:
        posted.setdefault(where(rank), []).append(rank)

    def line(rank):
        return waits[rank]["frames"][0]["filename"]

    path, here = [], min(waits)
    while here not in path:
        path.append(here)
        at = where(here)
        missing = [rank for rank in groups[at[0]] if rank not in posted[at]]
        if not missing:
            for cause, key in (("other collective", "profiling_name"), ("other size", "input_sizes")):
                values = [str(waits[rank][key]) for rank in posted[at]]
                for rank, value in zip(posted[at], values):
                    if len(set(values)) > 1 and values.count(value) == 1:
                        return rank, line(rank), cause
        victims = [rank for rank in missing if rank in waits]
        if missing and not victims:
            return missing[0], line(here), "absent"
        here = victims[0]
    circle = path[path.index(here) :]
    times = Counter(where(rank) for rank in circle)
    rank = min(circle, key=lambda rank: times[where(rank)])
    return rank, line(rank), "other order"
