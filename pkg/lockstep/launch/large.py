"""Parts of torch that take a second to load, which any optimizer needs at its first step, and most programs do not.

They are loaded ahead for a run whose function looks as if it needed them: or else a timeline would show how long that
takes. A rank that has needed them all the same notes it, in memory that it shares with the server: then the server
loads them before the next run.
"""

from __future__ import annotations

import mmap
import sys

LARGE = (
    "torch.distributed.tensor.parallel",
    "torch.distributed.fsdp",
    "torch._dynamo",
    "torch.distributed.pipelining",
)
FAKE = "lockstep.virtual.fake_simulation"  # of runs without data
# Of Lockstep's functions only the name travels. A check's own stands in each of its runs, and says nothing.
WORDS = (b"optim", b"compile", b"fsdp", b"fully_shard", b"DTensor", b"parallelize_module", b"pipelining")
OWN, CHECKS = b"lockstep.", b"lockstep.checks."

_noted = mmap.mmap(-1, len(LARGE))  # one byte for each


def named_in(blob: bytes, fake: bool) -> list[str]:
    """Those that a pickled function looks as if it needed, or that its caller has loaded."""
    own = OWN in blob and CHECKS not in blob
    needs = own or any(word in blob for word in WORDS)
    return [name for name in LARGE if needs or name in sys.modules] + [FAKE] * fake


def note() -> None:
    """In a rank, when its function has ended."""
    for place, name in enumerate(LARGE):
        if name in sys.modules:
            _noted[place] = 1


def noted() -> list[str]:
    """In the server: what a rank has needed, and is not loaded here."""
    return [name for place, name in enumerate(LARGE) if _noted[place] and name not in sys.modules]
