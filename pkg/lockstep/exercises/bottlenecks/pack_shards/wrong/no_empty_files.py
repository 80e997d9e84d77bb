"""The learner thought: nothing has to be kept of an empty file."""

MISCONCEPTION = "crashed:RankRaised"


def pack_shards(store, names, limit):
    where, shard, number, used = {}, None, -1, 0
    for name in names:
        with store.open(name) as file:
            data = file.read()
        if shard is None or (used and data and used + len(data) > limit):
            if shard:
                shard.close()
            shard, number, used = store.create(), number + 1, 0
        if not data:
            continue
        shard.write(data)
        where[name] = (number, used, len(data))
        used += len(data)
    if shard:
        shard.close()

    def read(some):
        opened = {}
        try:
            for name in some:
                number, offset, length = where[name]
                if number not in opened:
                    opened[number] = store.open_shard(number)
                opened[number].seek(offset)
                yield opened[number].read(length)
        finally:
            for file in opened.values():
                file.close()

    return read
