"""What the HOGWILD! paper itself measured, beside what a learner's machine does."""

from __future__ import annotations

import csv
from importlib.resources import files

from lockstep.tables import Table


def hogwild_table() -> Table:
    """The speed-ups of Niu, Recht, Ré and Wright (2011), and how each number is known."""
    text = (files("lockstep.without_waiting") / "data" / "async_and_compression.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    told = [[row["item"], row["value"], row["provenance"]] for row in rows if row["work"] == "Hogwild!"]
    return Table("Published: HOGWILD! against threads that take turns (RR)", ["of", "measured", "how we know"], told)
