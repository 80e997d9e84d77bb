"""The learner thought: something must part the files."""

MISCONCEPTION = "other-bytes"
ALSO = ["too-large"]


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
        shard.write(b"\n")
        used += len(data) + 1
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
