"""One colour, one meaning, in every figure: ``COLOURS`` by kind of event, ``ROLES`` by what training is made of.

What belongs together has one colour: a forward pass and the activations that it makes, a backward pass and the
gradients, an update and the optimizer's state, parameters and the all-gather that brings them. Waiting is pale. The
lines of a chart are named at their ends, and their colours mean no more than that. ``docs/figures.md`` shows all.

Chosen so that any two stay apart (CIE76 distance 20 or more) with full colour vision and with protanopia,
deuteranopia and tritanopia as simulated by Machado, Oliveira and Fernandes (2009); the test measures it. Colour is
never the only sign: bars carry names where there is room, and each has a description.
"""

from __future__ import annotations

from collections.abc import Iterable

from lockstep.events import COLLECTIVES, POINT_TO_POINT

KINDS = ("compute", *POINT_TO_POINT, *COLLECTIVES)

COLOURS = {
    "compute": "#B5B9BF",
    "send": "#E69F00",
    "recv": "#56B4E9",
    "broadcast": "#EB5972",
    "reduce": "#847211",
    "all_reduce": "#5D74DF",
    "scatter": "#6E1600",
    "gather": "#FFD48C",
    "all_gather": "#1A3E96",
    "reduce_scatter": "#A24D85",
    "all_to_all": "#4F1255",
    "barrier": "#3A3A3A",
}

# The phases in Horovod's timeline, by the kind whose colour they have.
HOROVOD = {
    **{f"NEGOTIATE_{kind}": "compute" for kind in ("ALLREDUCE", "ALLGATHER", "BROADCAST", "ALLTOALL", "REDUCESCATTER")},
    "NEGOTIATE_BARRIER": "compute",
    "rank ready": "barrier",
    "ALLREDUCE": "all_reduce",
    "ALLGATHER": "all_gather",
    "BROADCAST": "broadcast",
    "ALLTOALL": "all_to_all",
    "REDUCESCATTER": "reduce_scatter",
    "INIT_FUSION_BUFFER": "gather",
    "ALLOCATE_OUTPUT": "scatter",
    "MEMCPY_IN_FUSION_BUFFER": "send",
    **{f"GLOO_{kind}": "reduce" for kind in ("ALLREDUCE", "ALLGATHER", "BCAST", "REDUCESCATTER")},
    "MPI_ALLTOALL": "reduce",
    "MEMCPY_OUT_FUSION_BUFFER": "recv",
}

# Of a profiler's trace, what neither computes nor communicates.
PROFILED = {
    "copy": "recv", "call": "reduce", "annotation": "gather", "python": "barrier",
    "send and recv": "send", "collective": "all_to_all",
}  # fmt: skip

FORWARD, BACKWARD, UPDATE = "#A8F0C0", "#007848", "#7830F0"

ROLES = {
    "forward": FORWARD,
    "activations": FORWARD,
    "backward": BACKWARD,
    "gradients": BACKWARD,
    "update": UPDATE,
    "optimizer state": UPDATE,
    "parameters": COLOURS["all_gather"],
    "forward again": "#DCF050",
    "backward, weights": "#78B450",
    "buffers": COLOURS["compute"],
    "work": COLOURS["compute"],
    "marked": COLOURS["send"],  # in figures without messages: what the text speaks of
    # What a number is worth: guessed before the run, simulated, measured here.
    "predicted": "#D55E00",
    "simulated": "#0072B2",
    "measured": "#009E73",
    # How something came out.
    "right": "#3F8F5F",
    "wrong": "#C0392B",
}

# What a rank's bytes are (events.MEMORY_KINDS).
MEMORY = {kind: ROLES[kind] for kind in ("parameters", "gradients", "optimizer state", "activations", "buffers")}

# The passes of a pipeline, by their instructions.
PASSES = {
    "Forward": "forward",
    "Recompute": "forward again",
    "Backward": "backward",
    "BackwardInput": "backward",
    "BackwardWeights": "backward, weights",
    "Update": "update",
}

# Parts of a computation, all of them work.
SHADES = ("#4B4F55", "#83888F", "#B5B9BF", "#DDE0E4")

# Shallow is pale: the height of a loss, seen from above.
HEIGHTS = ("#0B3C6F", "#1A5C97", "#3B7FB8", "#78AAD4", "#B5D1E8")

# Workers next to each other, each with its number: who touched what.
WORKERS = tuple(
    COLOURS[kind] for kind in (
        "all_reduce", "send", "reduce_scatter", "broadcast", "recv", "reduce", "gather", "barrier",
    )
)  # fmt: skip

INK = "#1F2328"  # text and arrows on the light card of a static figure
FAINT = "#6A737D"  # axes and second lines of text
AXIS = "#9AA3AD"  # hairlines
GLOW = "#FFE8B8"  # behind the line of a program that runs
LANE = "#F1F3F5"  # the strip behind a rank's bars
PAPER = "#FFFFFF"
PALE = 0.3  # opacity of the part of a bar in which nothing is under way yet; its rim is not pale

# An all-reduce algorithm's line, in every figure: its dashes distinguish it, too.
LINES = {
    "star": ("#D55E00", ""),
    "binary_tree": ("#847211", "5 2"),
    "binomial_tree": ("#0072B2", "7 3"),
    "naive": ("#7B7F86", ""),
    "unchunked_ring": ("#EB5972", "4 4"),
    "ring": ("#009E73", "2 3"),
    "recursive_doubling": ("#56B4E9", "10 4"),
    "halving_doubling": ("#A24D85", "9 3 2 3"),
}


def colour(kind: str) -> str:
    """The colour of ``kind``, an event's or an instruction's; that of ``compute`` for a kind that has none."""
    role = PASSES.get(kind, kind)
    if role in PASSES.values():
        return ROLES[role]
    return COLOURS.get({**HOROVOD, **PROFILED}.get(kind, kind), COLOURS["compute"])


def in_order(kinds: Iterable[str]) -> list[str]:
    """``kinds`` without repetition, in the order of every legend."""
    known = set(kinds)
    order = dict.fromkeys((*PASSES.values(), *KINDS, *HOROVOD, *PROFILED))
    return [k for k in order if k in known] + sorted(known - set(order))


def text_on(background: str) -> str:
    """Black or white, whichever is read more easily on ``background`` (relative luminance, WCAG 2)."""
    return INK if luminance(background) > 0.214 else PAPER


def luminance(colour: str) -> float:
    """WCAG's relative luminance of ``#RRGGBB``: 0 is black, 1 is white."""
    red, green, blue = (_linear(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return float(channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4)
