"""Contexts are left together."""

from contextlib import ExitStack


def pack_shards(store, names, limit):
    index = {}
    shard, made, room = None, 0, -1
    for name in names:
        file = store.open(name)
        data = file.read()
        file.close()
        if shard is None or (data and len(data) > room and room != limit):
            if shard is not None:
                shard.close()
            shard, made, room = store.create(), made + 1, limit
        index[name] = (made - 1, limit - room, len(data))
        shard.write(data)
        room -= len(data)
    if shard is not None:
        shard.close()

    def read(some):
        with ExitStack() as stack:
            files = {}
            for name in some:
                number, offset, length = index[name]
                if number not in files:
                    files[number] = stack.enter_context(store.open_shard(number))
                files[number].seek(offset)
                yield files[number].read(length)

    return read
