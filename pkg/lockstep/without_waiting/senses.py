"""Three senses of "decentralised": they are independent of each other, and papers mean any of them."""

from __future__ import annotations

from lockstep.tables import Table

SENSES = (
    ("data", "application", "each rank has examples of its own, from a distribution of its own", "federated averaging",
     "examples shuffled once and dealt out evenly"),
    ("protocol", "protocol", "no rank holds the model of all; each averages with some others", "D-PSGD, push-sum",
     "a parameter server; an all-reduce, after which all hold the same"),
    ("network", "network", "each rank has links to few others", "gossip or a ring all-reduce on a ring of cables",
     "every rank reaches every other, as through a switch"),
)  # fmt: skip


def senses_table() -> Table:
    """What is decentralised, at which layer, an example of it, and its opposite."""
    head = ["what is decentralised", "layer", "it means", "for example", "its opposite"]
    return Table("Three senses of decentralised. Each can be had without the others.", head, [list(s) for s in SENSES])
