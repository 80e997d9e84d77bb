"""The learner thought: each rank leaves a dump."""

import json

MISCONCEPTION = "crashed:RankRaised"
TELL = "A rank whose process has ended may have left no dump: its item is None."
RAISES = "^TypeError"


def post_mortem(dumps):
    groups, waits = {}, {}
    for rank, dump in enumerate(dumps):
        if True:
            for name, group in dump["pg_config"].items():
                groups[name] = json.loads(group["ranks"])
            if dump["entries"] and dump["entries"][-1]["state"] != "completed":
                waits[rank] = dump["entries"][-1]
    posted = {}
    for rank, entry in waits.items():
        posted.setdefault((entry["process_group"][0], entry["collective_seq_id"]), []).append(rank)

    def line(rank):
        return waits[rank]["frames"][0]["filename"]

    way, here = [], next(iter(posted))
    while here not in way:
        way.append(here)
        missing = [rank for rank in groups[here[0]] if rank not in posted[here]]
        if not missing:
            for cause, key in (("other collective", "profiling_name"), ("other size", "input_sizes")):
                values = [str(waits[rank][key]) for rank in posted[here]]
                for rank, value in zip(posted[here], values):
                    if len(set(values)) > 1 and values.count(value) == 1:
                        return rank, line(rank), cause
        victims = [rank for rank in missing if rank in waits]
        if missing and not victims:
            return missing[0], line(posted[here][0]), "absent"
        entry = waits[victims[0]]
        here = (entry["process_group"][0], entry["collective_seq_id"])
    circle = way[way.index(here) :]
    lacked = {rank for one in circle for rank in groups[one[0]] if rank not in posted[one]}
    rank = min(([rank for rank in posted[one] if rank in lacked] for one in circle), key=len)[0]
    return rank, line(rank), "other order"
