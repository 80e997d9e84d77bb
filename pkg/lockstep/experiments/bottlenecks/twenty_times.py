"""Each loop 20 times on a loaded machine: does its counter tell the sick one from the cured each time, and do seconds?

``python -m lockstep.experiments.bottlenecks.twenty_times FILE`` measures anew, beside whatever else the machine does,
and writes the table; it takes some minutes. ``twenty_table`` shows what was recorded on a busy machine.
"""

from __future__ import annotations

import csv
import os
import sys
from statistics import median

from lockstep.bottlenecks.loops import LOOPS, REAL, Loop
from lockstep.tables import Table, published

TIMES = 20
HEAD = ("loop", "sick least", "sick most", "cured least", "cured most", "told apart", "ratio least", "ratio median",
        "ratio most", "time")  # fmt: skip


def measured(loop: Loop, times: int = TIMES) -> list[str]:
    """A row of HEAD: the loop measured so many times."""
    pairs = [loop.measure() for _ in range(times)]
    apart = sum(pair.sick > loop.healthy_at_most >= pair.cured for pair in pairs)
    sick, cured, ratios = ([getattr(pair, of) for pair in pairs] for of in ("sick", "cured", "ratio"))
    counts = [min(sick), max(sick), min(cured), max(cured)]
    seconds = [min(ratios), median(ratios), max(ratios)]
    return [loop.name, *(f"{c:.3g}" for c in counts), f"{apart}", *(f"{s:.3g}" for s in seconds), loop.time]


def main(file: str) -> None:
    with open(file, "w", newline="", encoding="utf-8") as opened:
        rows = csv.writer(opened, lineterminator="\n")
        rows.writerow(HEAD)
        for loop in LOOPS:
            rows.writerow(measured(loop))
            opened.flush()
        load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
        print(f"# {TIMES} times each. Load averages at the end, of 1, 5 and 15 minutes: {load}", file=opened)


def recorded() -> list[dict[str, str]]:
    return published("experiments/bottlenecks", "twenty_times.csv")


def twenty_table() -> Table:
    """What was recorded, of the loops in real time."""
    rows = [
        [row["loop"], f"{row['told apart']} of {TIMES}", row["ratio least"], row["ratio median"], row["ratio most"]]
        for row in recorded()
        if row["time"] == REAL
    ]
    head = ["loop", "told apart by its counter", "times as long, least", "median", "most"]
    return Table("Each loop 20 times on two cores, with a load average of 6 to 8", head, rows)


if __name__ == "__main__":
    main(sys.argv[1])
