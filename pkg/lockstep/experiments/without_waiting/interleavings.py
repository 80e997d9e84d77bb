"""A data race as an interleaving: two threads add to one counter, and the order of their loads and stores is given."""

from __future__ import annotations


def played(turns: str) -> int:
    """The value of the counter at the end. It begins at 0. Each letter is a thread that does the next half of an
    addition: first it loads the counter, then it stores what it has loaded, plus 1."""
    counter, loaded = 0, dict[str, int]()
    for thread in turns:
        if thread in loaded:
            counter = loaded.pop(thread) + 1
        else:
            loaded[thread] = counter
    return counter
