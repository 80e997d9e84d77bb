"""Standard output is the result's alone: a learner's function that writes there must not be taken for the judge.

Ranks of other processes have no way to it. Under a launcher the function runs in this very process, and the file behind
``print`` is another one for as long as it may write."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from lockstep.cli.rank import under_launcher


@contextlib.contextmanager
def kept_for_the_result() -> Iterator[None]:
    """Whatever goes to standard output within it goes to standard error. What is printed after it is the result."""
    if not under_launcher():
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def say(text: str) -> None:
    """The result. Under a launcher nothing can follow it: a learner's function may have left something for the end."""
    print(text, flush=True)
    if under_launcher():
        os.dup2(2, 1)
