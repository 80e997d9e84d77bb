"""Layer by layer: for each (pairs begun, in parts or not) the choice that holds least."""


def place_splits(layers, ranks, room):
    states = {(0, False): (0, [])}
    for kind, n in layers:
        new = {}

        def keep(key, held, splits, split):
            if key not in new or held < new[key][0]:
                new[key] = held, [*splits, split]

        for (pairs, inside), (held, splits) in states.items():
            if kind == "linear":
                if inside:
                    keep((pairs, False), held + n / ranks, splits, "rows")
                else:
                    keep((pairs, False), held + n, splits, "whole")
                    keep((pairs + 1, True), held + n / ranks, splits, "columns")
            elif kind == "pointwise" or not inside:
                keep((pairs, inside), held + n, splits, "whole")
        states = new
    _, splits = min(
        (pairs, splits) for (pairs, inside), (held, splits) in states.items() if not inside and held <= room
    )
    return splits
