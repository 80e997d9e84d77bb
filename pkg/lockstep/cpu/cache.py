"""A cache, counted access by access: set-associative, and the line that was not used for longest has to go.

    address  = 0 1 2 ... 63 | 64 ...            bytes
    line     = address // 64                    what is moved: 64 bytes at once
    set      = line mod number of sets          where it may lie
    ways     = lines that fit into one set      after that one has to go: least recently used (LRU)

Real caches add levels, prefetchers and other rules of eviction. Counts here are exact and the same on every machine;
on a real one hardware counters say it (``perf stat -e cache-misses``). Hennessy and Patterson, Computer Architecture,
appendix B.
"""

from __future__ import annotations

from lockstep.errors import UsageError

LINE = 64  # bytes, on x86-64; Apple's have 128


class Cache:
    """``size`` bytes in lines of ``line`` bytes, ``ways`` lines a set."""

    def __init__(self, size: int = 32 * 1024, line: int = LINE, ways: int = 8) -> None:
        if min(size, line, ways) < 1 or size % (line * ways):
            raise UsageError(f"A cache of {size} bytes has no whole sets of {ways} lines of {line} bytes.")
        self.line, self.ways = line, ways
        self._sets: list[dict[int, None]] = [{} for _ in range(size // (line * ways))]  # in order of last use
        self.hits = self.misses = 0

    def access(self, address: int) -> bool:
        """Read or write at ``address`` (bytes). Whether it was a hit; after a miss the line is there."""
        line = address // self.line
        held = self._sets[line % len(self._sets)]
        if line in held:
            del held[line]
            held[line] = None
            self.hits += 1
            return True
        if len(held) == self.ways:
            del held[next(iter(held))]
        held[line] = None
        self.misses += 1
        return False
