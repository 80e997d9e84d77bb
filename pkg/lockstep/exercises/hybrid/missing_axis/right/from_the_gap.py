"""From the gap backwards: what is needed is worked out first."""


def missing_axis(row):
    key = [k for k, v in row.items() if v == "?"][0]

    def value(k, seen):
        if isinstance(row[k], int):
            return row[k]
        for whole, parts in {
            "gpus": ("tp", "cp", "pp", "dp"),
            "batch": ("dp", "micro_batch", "micro_batches"),
            "tokens": ("batch", "seq"),
        }.items():
            names = (whole, *parts)
            if k not in names or whole in seen:
                continue
            others = {n: value(n, seen | {whole}) for n in names if n != k}
            if None in others.values():
                continue
            top = others.pop(whole, None)
            product = 1
            for n in others.values():
                product *= n
            return product if top is None else top // product
        return None

    return value(key, frozenset())
