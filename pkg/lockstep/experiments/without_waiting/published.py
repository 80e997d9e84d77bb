"""The measurements of the HOGWILD! paper, to compare with those on a learner's machine."""

from __future__ import annotations

from lockstep.tables import Table, published


def hogwild_table() -> Table:
    """The speed-ups of Niu, Recht, Ré and Wright (2011), and the source of each number."""
    rows = [
        row
        for row in published("experiments/without_waiting", "async_and_compression.csv")
        if row["work"] == "Hogwild!"
    ]
    body = [[row["item"], row["value"], row["source"]] for row in rows]
    return Table("Published: HOGWILD! against threads that take turns (RR)", ["of", "measured", "source"], body)
