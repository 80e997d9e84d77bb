"""What the lecture notes say about three kinds of synchronization, next to what the recorded races count."""

from __future__ import annotations

from lockstep.experiments.without_waiting.race import METHODS, Arrival, recorded
from lockstep.tables import Table

SYNCHRONOUS, DELAYED, ASYNCHRONOUS = "synchronous", "delayed by a step", "server, asynchronous"


def notes_table() -> Table:
    """The notes' list, whole and in their words; our count, from the races of ``race.recorded()``; and why."""
    calm, blocked, late = of(1, "fast"), of(1, "slow"), of(4, "fast")
    made = [arrival.updates for one in recorded() for arrival in one.arrivals if arrival.method == ASYNCHRONOUS]
    rate = {method.name: f"{method.rate:g}" for method in METHODS}
    rows = [
        ("Synchronous updates", "stable convergence",
         f"{calm[SYNCHRONOUS].updates} updates, in all nine races",
         "Right: each step waits for all, so it does not matter who is late."),
        ("", "can be decentralized (allreduce)", "six of the eight ways", "Right: only the servers need a centre."),
        ("", "computation may be blocked by communication",
         f"{ms(calm[SYNCHRONOUS])}; with the slow link {ms(blocked[SYNCHRONOUS])}", "Right; and by a slow rank, too: "
         f"{ms(late[SYNCHRONOUS])} if one takes 4 times as long."),
        ("Asynchronous updates", "no waiting for gradients",
         f"{ms(late[ASYNCHRONOUS])} with that slow rank", "Right where the server's port is free."),
        ("", "stale gradients affect convergence",
         f"{min(made)} to {max(made)} updates against {late[SYNCHRONOUS].updates}",
         "Hardly, here: few workers, and a convex loss. More workers make older gradients."),
        ("", "parameter server can be a bottleneck",
         f"with the slow link {ms(blocked[ASYNCHRONOUS])} against {ms(blocked[SYNCHRONOUS])}",
         "Right: all that 7 workers send goes through one port."),
        ("Delayed-synchronous updates", "Lagged gradients allow better comms overlap",
         f"with the slow link {1e3 * each(blocked[DELAYED]):.2f} ms a step against "
         f"{1e3 * each(blocked[SYNCHRONOUS]):.2f} ms", "Right: of gradient and all-reduce, the shorter one is hidden."),
        ("", "stale gradients affect convergence",
         f"{calm[DELAYED].updates} updates against {calm[SYNCHRONOUS].updates}",
         f"Right: its best learning rate is {rate[DELAYED]}, and {rate[SYNCHRONOUS]} without a delay."),
    ]  # fmt: skip
    head = ["a common claim", "", "we count", "why"]
    return Table("Three kinds of synchronization", head, [list(row) for row in rows])


def of(straggler: float, link: str) -> dict[str, Arrival]:
    """The recorded race of that setting, by method."""
    (race,) = [one for one in recorded() if (one.straggler, one.link) == (straggler, link)]
    return {arrival.method: arrival for arrival in race.arrivals}


def ms(arrival: Arrival) -> str:
    return "never" if arrival.seconds is None else f"{1e3 * arrival.seconds:.0f} ms"


def each(arrival: Arrival) -> float:
    """Seconds of a step of all eight ranks."""
    return (arrival.seconds or 0.0) / (arrival.updates / 8)
