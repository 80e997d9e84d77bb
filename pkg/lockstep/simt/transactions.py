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

Addresses = NDArray[np.int64]

_SECTORS: dict[tuple[int, bytes], tuple[int, int]] = {}
_WAVEFRONTS: dict[tuple[int, bytes, bytes], int] = {}


def sectors(addresses: Addresses, itemsize: int) -> tuple[int, int]:
    """Different sectors and different cache lines of one request; an address for each active lane, in bytes."""
    pattern = addresses - addresses[0] // LINE * LINE
    key = itemsize, pattern.tobytes()
    if key not in _SECTORS:
        touched = _bytes_apart(pattern, itemsize, SECTOR)
        _SECTORS[key] = len(np.unique(touched // SECTOR)), len(np.unique(touched // LINE))
    return _SECTORS[key]


def wavefronts(addresses: Addresses, lanes: NDArray[Any], itemsize: int) -> int:
    """How often shared memory has to be asked for one request: the fullest bank decides.

    ``lanes``: which lane each address belongs to. Where an item has 8 bytes, half a warp is served at a time.
    """
    pattern = addresses - addresses[0] // LINE * LINE
    key = itemsize, pattern.tobytes(), lanes.tobytes() if itemsize > WORD else b""
    if key not in _WAVEFRONTS:
        together = max(1, LANES * WORD // max(WORD, itemsize))
        groups = [pattern[lanes // together == group] for group in range(LANES // together)]
        _WAVEFRONTS[key] = sum(_fullest_bank(group, itemsize) for group in groups if len(group))
    return _WAVEFRONTS[key]


def _fullest_bank(addresses: Addresses, itemsize: int) -> int:
    words = np.unique(_bytes_apart(addresses, itemsize, WORD) // WORD)
    return int(np.bincount(words % BANKS).max())


def _bytes_apart(addresses: Addresses, itemsize: int, step: int) -> Addresses:
    """The addresses, and those of every further unit of ``step`` bytes that an item reaches into."""
    return np.concatenate([addresses + offset for offset in [*range(0, itemsize, step), itemsize - 1]])
