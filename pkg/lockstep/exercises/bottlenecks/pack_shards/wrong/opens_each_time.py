"""The learner thought: an open beside each read is tidy."""

MISCONCEPTION = "opens-again"


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
            number, offset, length = where[name]
            with store.open_shard(number) as file:
                file.seek(offset)
                data = file.read(length)
            yield data

    return read
