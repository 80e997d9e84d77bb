"""The learner thought: the experts take what is left."""

MISCONCEPTION = "ep-from-copies"
TELL = "You work ep out from dp. It needs only divide the ranks that it shares: nothing here says how large it is."

import math


def missing_axis(row):
    rules = [
        ("gpus", ["tp", "cp", "pp", "dp"]),
        ("batch", ["dp", "micro_batch", "micro_batches"]),
        ("tokens", ["batch", "seq"]),
    ]
    wanted = next(key for key in row if row[key] == "?")
    known = {key: value for key, value in row.items() if value not in (None, "?")}
    for _ in range(3):
        for whole, parts in rules:
            unknown = [key for key in [whole, *parts] if key not in known]
            if len(unknown) != 1:
                continue
            product = math.prod(known[key] for key in parts if key in known)
            known[unknown[0]] = product if unknown[0] == whole else known[whole] // product
    if wanted == "ep":
        return known.get("dp")
    return known.get(wanted)
