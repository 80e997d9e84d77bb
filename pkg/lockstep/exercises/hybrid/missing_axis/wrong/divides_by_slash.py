"""The learner thought: what divides without remainder is whole, however it is divided."""

import math

MISCONCEPTION = "not-an-integer"
RULES = {
    "gpus": ("tp", "cp", "pp", "dp"),
    "batch": ("dp", "micro_batch", "micro_batches"),
    "tokens": ("batch", "seq"),
}


def missing_axis(row):
    known = {name: value for name, value in row.items() if value not in (None, "?")}
    asked = next(name for name, value in row.items() if value == "?")
    for _ in RULES:
        for whole, parts in RULES.items():
            gaps = [name for name in (whole, *parts) if name not in known]
            if len(gaps) == 1:
                product = math.prod(known.get(name, 1) for name in parts)
                known[gaps[0]] = product if gaps[0] == whole else known[whole] / product
    return known.get(asked)
