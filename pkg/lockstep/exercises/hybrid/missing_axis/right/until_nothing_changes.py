"""Until nothing new follows."""


def missing_axis(row):
    r = dict(row)
    name = next(k for k in r if r[k] == "?")
    r[name] = None

    def settle(whole, *parts):
        holes = [p for p in parts if r[p] is None]
        product = 1
        for p in parts:
            product *= r[p] or 1
        if r[whole] is None and not holes:
            r[whole] = product
        elif r[whole] is not None and len(holes) == 1:
            r[holes[0]] = r[whole] // product

    before = None
    while before != r:
        before = dict(r)
        settle("gpus", "tp", "cp", "pp", "dp")
        settle("batch", "dp", "micro_batch", "micro_batches")
        settle("tokens", "batch", "seq")
    return r[name]
