"""The learner thought: a shard is read once, from end to end."""

MISCONCEPTION = "reads-too-much"


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
        contents = {}
        for name in some:
            number, offset, length = where[name]
            if number not in contents:
                with store.open_shard(number) as file:
                    contents[number] = file.read()
            yield contents[number][offset : offset + length]

    return read
