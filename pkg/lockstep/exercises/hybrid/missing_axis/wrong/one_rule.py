"""The learner thought: the rule in which the gap stands is enough."""

MISCONCEPTION = "one-rule"
TELL = "You use the one rule in which the gap stands. What is missing there may follow from another rule."

import math


def missing_axis(row):
    rules = [
        ("gpus", ["tp", "cp", "pp", "dp"]),
        ("batch", ["dp", "micro_batch", "micro_batches"]),
        ("tokens", ["batch", "seq"]),
    ]
    wanted = next(key for key in row if row[key] == "?")
    known = {key: value for key, value in row.items() if value not in (None, "?")}
    rules = [rule for rule in rules if wanted in (rule[0], *rule[1])]
    for _ in range(1):
        for whole, parts in rules:
            unknown = [key for key in [whole, *parts] if key not in known]
            if len(unknown) != 1:
                continue
            product = math.prod(known[key] for key in parts if key in known)
            known[unknown[0]] = product if unknown[0] == whole else known[whole] // product
    return known.get(wanted)
