"""The learner thought: each rule is used once, from the first to the last."""

MISCONCEPTION = "rules-once"
TELL = "You go through the rules once. What a later one gives may be what an earlier one needs: go on as long as something new follows."

import math


def missing_axis(row):
    rules = [
        ("gpus", ["tp", "cp", "pp", "dp"]),
        ("batch", ["dp", "micro_batch", "micro_batches"]),
        ("tokens", ["batch", "seq"]),
    ]
    wanted = next(key for key in row if row[key] == "?")
    known = {key: value for key, value in row.items() if value not in (None, "?")}
    for _ in range(1):
        for whole, parts in rules:
            unknown = [key for key in [whole, *parts] if key not in known]
            if len(unknown) != 1:
                continue
            product = math.prod(known[key] for key in parts if key in known)
            known[unknown[0]] = product if unknown[0] == whole else known[whole] // product
    return known.get(wanted)
