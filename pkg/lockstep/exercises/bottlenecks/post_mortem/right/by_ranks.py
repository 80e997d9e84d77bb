"""From rank to rank; a list in place of a tuple."""

import json


def post_mortem(dumps):
    groups = {name: json.loads(of["ranks"]) for dump in dumps if dump for name, of in dump["pg_config"].items()}
    last = {rank: dump["entries"][-1] for rank, dump in enumerate(dumps) if dump and dump["entries"]}
    waits = {rank: entry for rank, entry in last.items() if entry["state"] == "scheduled"}
    where = {rank: (entry["process_group"][0], entry["collective_seq_id"]) for rank, entry in waits.items()}
    lines = {rank: entry["frames"][0]["filename"] for rank, entry in waits.items()}
    path = [max(where)]
    while True:
        here = path[-1]
        group = groups[where[here][0]]
        missing = [rank for rank in group if where.get(rank) != where[here]]
        if not missing:
            for key, cause in [("profiling_name", "other collective"), ("input_sizes", "other size")]:
                held = [waits[rank][key] for rank in group]
                odd = [rank for rank in group if held.count(waits[rank][key]) < len(held) / 2]
                if odd:
                    return [odd[0], lines[odd[0]], cause]
        waiting = [rank for rank in missing if rank in where]
        if not waiting:
            return [missing[0], lines[here], "absent"]
        if waiting[-1] in path:
            operations = {where[rank] for rank in path[path.index(waiting[-1]) :]}
            lacked = {rank for one in operations for rank in groups[one[0]] if where.get(rank) != one}
            circle = [rank for rank in lacked if where.get(rank) in operations]
            rank = min(circle, key=lambda rank: [where[other] for other in circle].count(where[rank]))
            return [rank, lines[rank], "other order"]
        path.append(waiting[-1])
