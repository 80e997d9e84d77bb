"""The learner thought: a shard in which empty files stand has begun."""

MISCONCEPTION = "empty-shard"


def pack_shards(store, names, limit):
    places = {}
    shard, number, used = None, -1, 0
    for name in names:
        with store.open(name) as file:
            data = file.read()
        if shard is None or (data and used + len(data) > limit):
            if shard is not None:
                shard.close()
            shard = store.create()
            number += 1
            used = 0
        shard.write(data)
        places[name] = (number, used, len(data))
        used += len(data)
    if shard is not None:
        shard.close()

    def read(some):
        files = {}
        try:
            for name in some:
                where, offset, length = places[name]
                if where not in files:
                    files[where] = store.open_shard(where)
                files[where].seek(offset)
                yield files[where].read(length)
        finally:
            for file in files.values():
                file.close()

    return read
