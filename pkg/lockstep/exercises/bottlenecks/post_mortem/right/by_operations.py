"""All operations that ranks wait in, one question after the other."""

import json
from collections import Counter
from collections import defaultdict


def post_mortem(dumps):
    members, last = {}, {}
    for rank, dump in enumerate(dumps):
        if not dump:
            continue
        members.update({name: json.loads(group["ranks"]) for name, group in dump["pg_config"].items()})
        for entry in dump["entries"]:
            if entry["state"] != "completed":
                last[rank] = entry
    posted = defaultdict(dict)
    for rank, entry in last.items():
        posted[entry["process_group"][0], entry["collective_seq_id"]][rank] = entry
    for (group, _), entries in posted.items():
        if len(entries) == len(members[group]):
            for key, cause in [("profiling_name", "other collective"), ("input_sizes", "other size")]:
                times = Counter(json.dumps(entry[key]) for entry in entries.values())
                if len(times) > 1:
                    rare = times.most_common()[-1][0]
                    rank = next(rank for rank in entries if json.dumps(entries[rank][key]) == rare)
                    return rank, entries[rank]["frames"][0]["filename"], cause
    for (group, _), entries in posted.items():
        missing = set(members[group]) - set(entries)
        if len(missing) == 1 and not missing & set(last):
            return missing.pop(), next(iter(entries.values()))["frames"][0]["filename"], "absent"
    waits_for = {rank: set(members[group]) - set(entries) for (group, _), entries in posted.items() for rank in entries}
    circle = set(last)
    while True:
        wanted = set().union(*(waits_for[rank] for rank in circle))
        smaller = {rank for rank in circle & wanted if waits_for[rank] & circle}
        if smaller == circle:
            break
        circle = smaller
    fewest = min((circle & set(entries) for entries in posted.values() if circle & set(entries)), key=len)
    rank = fewest.pop()
    return rank, last[rank]["frames"][0]["filename"], "other order"
