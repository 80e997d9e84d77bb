"""The learner thought: cp cuts sequences, so it needs no GPUs."""

MISCONCEPTION = "context-is-no-axis"
TELL = "You leave cp out of the GPUs. The ranks of a sequence are others than those of a copy."

import math


def missing_axis(row):
    rules = [
        ("gpus", ["tp", "pp", "dp"]),
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
    return known.get(wanted)
