"""What one request of a warp costs the memory: sectors and lines in global memory, wavefronts in shared memory.

Global memory moves in sectors of 32 bytes, four to a cache line of 128. A warp's request needs each sector that any
lane touches, once: 32 neighbouring float32 need 4 sectors, a stride of 8 or more needs 32.
Shared memory has 32 banks of 4 bytes; each serves one 4-byte word per wavefront, to any number of lanes.
CUDA C++ Programming Guide, "Device memory accesses" and "Shared memory".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lockstep.simt.masks import LANES

SECTOR, LINE, BANKS, WORD = 32, 128, 32, 4  # bytes, bytes, banks, bytes

Items = NDArray[np.int64]  # numbers of items, counted from the beginning of a memory that begins with a new line

_SECTORS: dict[tuple[int, bytes], tuple[int, int]] = {}
_WAVEFRONTS: dict[tuple[int, bytes, bytes], int] = {}


def sectors(items: Items, itemsize: int) -> tuple[int, int]:
    """Different sectors and different cache lines of one request; an item for each active lane."""
    pattern = _from_line(items, itemsize)
    key = itemsize, pattern.tobytes()
    if key not in _SECTORS:
        addresses = pattern * itemsize
        _SECTORS[key] = len(np.unique(addresses // SECTOR)), len(np.unique(addresses // LINE))
    return _SECTORS[key]


def wavefronts(items: Items, lanes: NDArray[Any], itemsize: int) -> int:
    """How often shared memory has to be asked for one request: the fullest bank decides.

    ``lanes``: which lane each item is for. Where an item has 8 bytes, half a warp is served at a time.
    """
    pattern = _from_line(items, itemsize)
    key = itemsize, pattern.tobytes(), lanes.tobytes() if itemsize > WORD else b""
    if key not in _WAVEFRONTS:
        together = max(1, LANES * WORD // max(WORD, itemsize))
        groups = [pattern[lanes // together == group] for group in range(LANES // together)]
        _WAVEFRONTS[key] = sum(_fullest_bank(group * itemsize, itemsize) for group in groups if len(group))
    return _WAVEFRONTS[key]


def _from_line(items: Items, itemsize: int) -> Items:
    """Counted from the line that the first one is in: the same pattern elsewhere costs the same."""
    line = LINE // itemsize
    first = items.item(0) // line * line
    return items - first if first else items


def _fullest_bank(addresses: Items, itemsize: int) -> int:
    words = [(addresses + offset) // WORD for offset in range(0, itemsize, WORD)]
    return int(np.bincount(np.unique(np.concatenate(words)) % BANKS).max())
