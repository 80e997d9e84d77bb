"""Packed in two passes; all is read before it is given."""


def pack_shards(store, names, limit):
    plan, used = [], None
    sizes = {}
    for name in names:
        with store.open(name) as small:
            data = small.read()
        if used is None or data and used + len(data) > limit and used > 0:
            if plan:
                plan[-1].close()
            plan.append(store.create())
            used = 0
        plan[-1].write(data)
        sizes[name] = len(plan) - 1, range(used, used + len(data))
        used += len(data)
    for shard in plan:
        shard.close()

    def read(some):
        wanted, found = {}, {}
        for name in some:
            wanted.setdefault(sizes[name][0], []).append(name)
        for shard, own in wanted.items():
            with store.open_shard(shard) as file:
                for name in sorted(own, key=lambda one: sizes[one][1].start):
                    file.seek(sizes[name][1].start)
                    found[name] = file.read(len(sizes[name][1]))
        return [found[name] for name in some]

    return read
