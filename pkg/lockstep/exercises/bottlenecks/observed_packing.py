"""Small files that are packed into shards and read from them: what is opened, written and read. Facts, no sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

Evidence = dict[str, Any]
TRIED = {  # bytes of the files, limit of a shard, how many are read, and how many of these are asked for
    "several shards": [([30, 44, 7, 21, 60, 35, 12, 50, 41, 18, 33, 9], 100, 6, 6)],
    "all files in their order": [([20, 30, 40, 35, 25, 61, 14, 9], 90, 8, 8)],
    "shards that are full to the last byte": [([50, 50, 25, 75, 100, 60, 40, 1], 100, 8, 8)],
    "files that are larger than a shard": [([250, 10, 300, 120, 5, 90, 101], 100, 6, 6)],
    "files that are empty": [
        ([0, 30, 0, 70, 0, 40, 0, 0], 100, 8, 8),
        ([0, 0], 10, 2, 2),
        ([250, 0], 100, 2, 2),
        ([0, 0, 250, 7], 100, 4, 4),
        ([5, 250, 0, 7, 120, 0], 100, 6, 6),
    ],
    "one file in each shard": [([10, 10, 10, 10], 10, 3, 3), ([7], 100, 1, 1)],
    "no file": [([], 100, 0, 0), ([5, 6], 100, 0, 0)],
    "a reader that stops early": [([30, 44, 7, 21, 60, 35, 12, 50], 100, 8, 3), ([30, 44, 70], 100, 3, 0)],
}


class File:
    """A file that is open, for reading or for writing. What is read and written is counted."""

    def __init__(self, store: Store, content: bytearray, key: object, writes: bool) -> None:
        self._store, self._content, self._key, self._writes = store, content, key, writes
        self._at, self._closed = 0, False
        store.are_open += 1
        store.opened[key] += 1

    def __enter__(self) -> File:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def seek(self, offset: int) -> int:
        self._at = offset
        return offset

    def tell(self) -> int:
        return self._at

    def read(self, length: int | None = -1) -> bytes:
        self._may(not self._writes, "read")
        end = len(self._content) if length is None or length < 0 else self._at + length
        found = bytes(self._content[self._at : end])
        self._at += len(found)
        self._store.nbytes += len(found)
        return found

    def write(self, data: bytes) -> int:
        self._may(self._writes, "write")
        self._content += data
        return len(data)

    def close(self) -> None:
        self._store.are_open -= not self._closed
        self._closed = True

    def _may(self, mode: bool, verb: str) -> None:
        if self._closed:
            raise ValueError(f"{verb} of a file that is closed")
        if not mode:
            raise ValueError(f"{verb} of a file that is open for the other")


class Store:
    """Small files, and the shards that are made."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._small_files, self._shards = files, list[bytearray]()
        self.are_open = self.nbytes = 0
        self.opened: Counter[object] = Counter()  # by a file's name, or a shard's number

    def open(self, name: str) -> File:
        if name not in self._small_files:
            raise FileNotFoundError(f"there is no small file {name!r}")
        return File(self, bytearray(self._small_files[name]), name, writes=False)

    def create(self) -> File:
        self._shards.append(bytearray())
        return File(self, self._shards[-1], ("new", len(self._shards) - 1), writes=True)

    def open_shard(self, number: int) -> File:
        if not 0 <= number < len(self._shards):
            raise FileNotFoundError(f"there is no shard {number!r}")
        return File(self, self._shards[number], number, writes=False)

    def starts_to_count(self) -> None:
        self.opened.clear()
        self.nbytes = 0


def files_of(sizes: Sequence[int], seed: int) -> dict[str, bytes]:
    """Names that are no numbers and that have a file of the same name in another folder; some contents are equal."""
    dice, found = Random(seed), dict[str, bytes]()
    for n, size in enumerate(sizes):
        name = f"{dice.choice('xyz')}{dice.randint(0, 99):02}/{'b' if n % 2 else 'a'} {n // 4}.jpg"
        while name in found:
            name = f"{dice.randint(100, 999)}/{name}"
        found[name] = dice.randbytes(size) if n % 3 else bytes(size)
    return found


def watch(fn: Callable[..., Any], arguments: tuple[Any, ...]) -> dict[str, Any]:
    """What is packed, and what two calls of the function that is returned give, after each other."""
    sizes, limit, many, stop, seed = arguments
    files, dice = files_of(sizes, seed), Random(seed)
    store, names = Store(files), list(files)
    given = list(names)
    read = fn(store, given, limit)
    found: dict[str, Any] = {
        "shards": [shard.hex() for shard in store._shards], "kept": given == names, "left": store.are_open,
        "again": max((store.opened[name] for name in names), default=0), "callable": callable(read),
        "type": type(read).__name__, "reads": [],
    }  # fmt: skip
    for turn in range(2 if callable(read) else 0):
        gaps = names[::2] if many <= len(names) // 2 else names  # others lie between them
        some = list(names[:many]) if turn else dice.sample(gaps, many)
        found["reads"].append(one_read(store, read, some, stop))
    return found


def one_read(store: Store, read: Callable[[list[str]], Any], some: list[str], stop: int) -> dict[str, Any]:
    """A call of ``read``, of which ``stop`` contents are taken."""
    store.starts_to_count()
    given = list(some)
    result = read(given)
    iterates = hasattr(result, "__iter__") and not isinstance(result, (bytes, str, dict))
    contents = list[Any]()
    if iterates:
        loader = iter(result)
        for content in loader if stop or not some else ():
            is_bytes = isinstance(content, (bytes, bytearray))
            contents.append(content.hex() if is_bytes else {"type": type(content).__name__})
            if len(contents) > len(some) or (len(contents) == stop < len(some)):
                break
        getattr(loader, "close", lambda: None)()
    return {
        "some": some, "contents": contents, "gives": told_type(contents) if iterates else type(result).__name__,
        "open": store.are_open, "nbytes": store.nbytes, "kept": given == some,
        "small": sum(isinstance(key, str) for key in store.opened),
        "most": max((n for key, n in store.opened.items() if isinstance(key, int)), default=0),
    }  # fmt: skip


def told_type(contents: list[Any]) -> str:
    """Of the first content that is no bytes."""
    return next((f"items of the type {one['type']}" for one in contents if not isinstance(one, str)), "")


def packed(sizes: Sequence[int], limit: int) -> list[list[int]]:
    """The numbers of the files in each shard."""
    shards, used = list[list[int]](), 0
    for number, size in enumerate(sizes):
        if not shards or (used and size and used + size > limit):
            shards.append([])
            used = 0
        shards[-1].append(number)
        used += size
    return shards


def facts(sizes: list[int], limit: int, many: int, stop: int, seed: int, answer: Any) -> Evidence:
    files = files_of(sizes, seed)
    names = list(files)
    whole = [b"".join(files[names[n]] for n in own).hex() for own in packed(sizes, limit)]
    held, wanted = [shard for shard in answer["shards"] if shard], [shard for shard in whole if shard]
    read = first_wrong(answer["reads"], files, stop)
    return {
        "kept": answer["kept"] and read["kept"], "changed": "some" if answer["kept"] else "names", "limit": limit,
        "again": answer["again"], "callable": answer["callable"], "type": answer["type"],
        "many": len(held), "few": len(wanted), "empty": len(answer["shards"]) - max(len(held), 1),
        "too large": next((len(shard) // 2 for shard in held if len(shard) > 2 * limit and shard not in wanted), 0),
        "other": next((n for n, (a, b) in enumerate(zip(held, wanted, strict=False)) if a != b), None),
        "total": sum(sizes), "written": sum(map(len, held)) // 2,
        **read, "open": answer["left"] or read["open"], "ends": "you return" if answer["left"] else "read has ended",
    }  # fmt: skip


def first_wrong(reads: list[Evidence], files: dict[str, bytes], stop: int) -> Evidence:
    """The first call of ``read`` that is not as it should be, or else the last one."""
    found: Evidence = {"reads": False, "kept": True, "open": 0}
    for turn, one in enumerate(reads):
        some, contents = one["some"], one["contents"]
        right = [files[name].hex() for name in some[:stop]]
        at = next((n for n, (a, b) in enumerate(zip(contents, right, strict=False)) if a != b), -1)
        needed = sum(map(len, right)) // 2
        found = {
            **one, "reads": True, "turn": turn + 1, "at": at, "name": some[at] if at >= 0 else "", "needed": needed,
            "enough": sum(len(files[name]) for name in some),  # a list is made before anybody can stop
            "number": len(contents), "asked": len(right), "order": sorted(map(str, contents)) == sorted(right),
        }  # fmt: skip
        wrong = at >= 0 or one["gives"] or len(contents) != len(right) or one["open"] or one["small"] or one["most"] > 1
        if wrong or not needed <= one["nbytes"] <= found["enough"]:
            break
    return found
