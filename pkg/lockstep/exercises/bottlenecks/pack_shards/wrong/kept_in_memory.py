"""The learner thought: what has been read once need not be read again."""

MISCONCEPTION = "from-memory"


def pack_shards(store, names, limit):
    contents = {}
    where, shard, number, used = {}, None, -1, 0
    for name in names:
        with store.open(name) as file:
            data = file.read()
        if shard is None or (used and data and used + len(data) > limit):
            if shard:
                shard.close()
            shard, number, used = store.create(), number + 1, 0
        shard.write(data)
        contents[name] = data
        where[name] = (number, used, len(data))
        used += len(data)
    if shard:
        shard.close()

    def read(some):
        for name in some:
            yield contents[name]

    return read
