"""The learner thought: the small files are still there."""

MISCONCEPTION = "reads-small-files"


def pack_shards(store, names, limit):
    where, shard, number, used = {}, None, -1, 0
    for name in names:
        with store.open(name) as file:
            data = file.read()
        if shard is None or (used and data and used + len(data) > limit):
            if shard:
                shard.close()
            shard, number, used = store.create(), number + 1, 0
        shard.write(data)
        where[name] = (number, used, len(data))
        used += len(data)
    if shard:
        shard.close()

    def read(some):
        for name in some:
            with store.open(name) as file:
                yield file.read()

    return read
