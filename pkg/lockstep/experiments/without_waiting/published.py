"""What the HOGWILD! paper itself measured, beside what a learner's machine does."""

from __future__ import annotations

from lockstep.tables import Table, published


def hogwild_table() -> Table:
    """The speed-ups of Niu, Recht, Ré and Wright (2011), and how each number is known."""
    rows = [
        row
        for row in published("experiments/without_waiting", "async_and_compression.csv")
        if row["work"] == "Hogwild!"
    ]
    told = [[row["item"], row["value"], row["provenance"]] for row in rows]
    return Table("Published: HOGWILD! against threads that take turns (RR)", ["of", "measured", "how we know"], told)
