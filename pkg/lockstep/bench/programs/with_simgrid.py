"""SimGrid's Python interface simulates a ring of messages: to the right without waiting, from the left, wait for both.

usage: with_simgrid.py RANKS ROUNDS     prints {name: seconds of a message} as JSON
"""

import json
import sys
import tempfile
import time
from typing import Any

from simgrid import Actor, Engine, Host, Mailbox

PLATFORM = """<?xml version='1.0'?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">
<cluster id="c" prefix="h" suffix="" radical="0-{last}" speed="1Gf" bw="300GBps" lat="5us"/></platform>"""


def rank(right: Any, mine: Any, rounds: int) -> None:
    for _ in range(rounds):
        outgoing, incoming = right.put_async(0.0, 4), mine.get_async()
        outgoing.wait()
        (incoming[0] if isinstance(incoming, tuple) else incoming).wait()  # a pair in SimGrid 3


def main(ranks: int, rounds: int) -> None:
    engine = Engine([sys.argv[0], "--log=root.thres:error"])
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as platform:
        platform.write(PLATFORM.format(last=ranks - 1))
        platform.flush()
        engine.load_platform(platform.name)
    boxes = [Mailbox.by_name(str(r)) for r in range(ranks)]
    for r in range(ranks):
        Actor.create(f"rank {r}", Host.by_name(f"h{r}"), rank, boxes[(r + 1) % ranks], boxes[r], rounds)
    cpu, wall = time.process_time(), time.monotonic()
    engine.run()
    spent = {"cpu": time.process_time() - cpu, "wall": time.monotonic() - wall}
    print(json.dumps({what: seconds / (ranks * rounds) for what, seconds in spent.items()}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
