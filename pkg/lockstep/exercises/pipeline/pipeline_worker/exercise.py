"""A worker for any schedule: gradients of one rank, passes and messages in the order of the stream, and its memory."""

from collections.abc import Iterator

import torch
from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Compared, Comparison, Costs, Exercise, Feedback, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.run_faults import forgiven
from lockstep.checks.values import compare, told
from lockstep.comm.backend_rules import STRICT
from lockstep.events import POINT_TO_POINT
from lockstep.exercises.communication.tensors import SUBGROUPS
from lockstep.exercises.pipeline.observed_worker import LONG, Task, observed, tasks
from lockstep.exercises.without_waiting.evidence import case, noting, results
from lockstep.pipeline.instructions import orders_of

ROUNDING = 1e-5
INPUTS = "Its inputs ask for gradients, so each keeps a .grad that nobody needs: only an x that came by message has to."
EMPTY = (
    " inputs are empty on all stages but the first, and targets on all but the last: does one divide by their number?"
)
OLD = " It is the right one plus what .grad held at the beginning, which doesn't count: first set each one to None."
SPOILT = (
    "the second call changes what the first one returned, as zero_grad(set_to_none=False) and .grad.zero_() do with a "
    ".grad that was returned. Set .grad to None, or return copies."
)
HINTS = [
    ("does not require grad", "Autograd follows a tensor only if it asks for its gradient: x.requires_grad_()."),
    (
        "NoneType",
        "A .grad is None until a backward pass has reached it; and that of an x that came by message stays None "
        "unless x.requires_grad_() stood before its F.",
    ),
    ("^IndexError: list index out of range", "inputs and targets are empty on most stages: does one of them raise it?"),
    (
        r"^KeyError: \d+\n",
        "The number is a micro-batch. What this line takes of it has not come yet, or was taken out before. x and y "
        "are wanted until its B, and dx until it is sent. To the last stage no dy comes.",
    ),
    ("backward through the graph a second time", "Each graph has one backward pass: keep each output by its number."),
]


def cases(ranks: int, seed: int) -> list[Case]:
    group = SUBGROUPS[ranks] if ranks in (4, 5) else None
    return [case(ranks, seed, group, name, task=name) for name in tasks(ranks, seed)]


def task(case: Case) -> Task:
    return tasks(case.ranks, case.seed)[case.settings["task"]]


def examine(seen: Seen) -> Fault | None:
    own = task(seen.case)
    for turn in range(len(own.turns)):
        held, wanted = [rows[turn] for rows in results(seen)], own.gradients(turn)
        for stage, (value, want) in enumerate(zip(held, wanted, strict=True)):
            if not (isinstance(value, list) and len(value) == len(want)):
                asked = f"a list of {len(want)} is wanted, one for each parameter"
                return Fault("wrong-type", f"With {seen.case}: stage {stage} returns {told(value)}; {asked}.")
        for n in range(max(map(len, wanted))):
            rows = [(h[n], w[n]) if n < len(w) else (None, None) for h, w in zip(held, wanted, strict=True)]
            off = [forgiven(h, w, ROUNDING) for h, w in rows]
            if fault := compare(seen, [h for h, _ in rows], off):
                where = f"parameter {n}{f' on call {turn + 1}, with another stream' if turn else ''}"
                why = EMPTY if any(isinstance(h, Tensor) and not h.isfinite().all() for h, _ in rows) else ""
                why = OLD if adds_to_old(seen, turn) else why
                id = "old-gradients" if why is OLD else fault.misconception
                return Fault(id, f"{fault.message} This is the gradient of {where}.{why}")
    for rank in seen.case.members:
        if any(seen.returned[rank]["found"]["spoilt"]):
            return Fault("changes-its-results", f"With {seen.case}, on rank {rank} {SPOILT}")
    return None


def adds_to_old(seen: Seen, turn: int) -> bool:
    """Whether all gradients of a turn are the right ones plus what .grad held at its beginning."""
    held, wanted = [rows[turn] for rows in results(seen)], task(seen.case).gradients(turn)
    old = [seen.returned[rank]["found"]["old"][turn] for rank in seen.case.members]
    rows = [row for stage in zip(held, wanted, old, strict=True) for row in zip(*stage, strict=False)]
    return all(
        isinstance(h, Tensor) and h.shape == w.shape and torch.allclose(h, w if o is None else w + o, atol=ROUNDING)
        for h, w, o in rows
    )


def gradients(seen: Seen) -> Compared:
    """Those of the first call, of all stages: as they are, as they should be, and nothing that was given."""
    held = [value for stage in results(seen) for value in stage[0]]
    wanted = [want for stage in task(seen.case).gradients(0) for want in stage]
    return held, wanted, [None] * len(held)


def astray(seen: Seen) -> Iterator[tuple[str, str]]:
    """Where a stage leaves its stream, or holds too much."""
    own = task(seen.case)
    for stage, rank in enumerate(seen.case.members):
        found, streams = seen.returned[rank]["found"], [turn[stage] for turn in own.turns]
        for made, stream in zip(found["passes"], streams, strict=True):
            order = [f"{kind}{i}" for kind, i in orders_of(stream)]
            if made != order:
                yield "another-order", f"stage {stage} computes {_parting(made, order)}."
        sent = [(e.kind, e.peer) for e in seen.trace.of_rank(rank) if e.kind in POINT_TO_POINT]
        asked = [_message(pair, stage, seen.case) for stream in streams for pair in stream if pair[0] not in "FB"]
        if sent != asked:
            posted, wanted = ([f"{kind} {peer}" for kind, peer in row] for row in (sent, asked))
            yield "other-messages", f"rank {rank} posts {_parting(posted, wanted)}."
        for turn, held in enumerate(found["held"] if seen.case.settings["task"] == LONG else []):
            if seen.trace.world == "virtual" and held > (room := own.room(stage, turn)):
                why = (
                    INPUTS if found["inputs"][turn] else "Let go of what belongs to a micro-batch after its last pair."
                )
                many = f"stage {stage} holds {held:,} bytes at once beside its arguments; {room:,} are enough"
                yield "too-many-bytes-held", f"{many}. {why}"


def shares_of_room(seen: Seen) -> list[int]:
    """What each stage holds where memory counts, in halves of what is enough: alike where the same is kept."""
    own, large = task(seen.case), seen.case.settings["task"] == LONG
    held = [seen.returned[rank]["found"]["held"][0] for rank in seen.case.members]
    return [round(2 * bytes / own.room(stage, 0)) for stage, bytes in enumerate(held)] if large else []


def _message(pair: tuple[str, int], stage: int, case: Case) -> tuple[str, int]:
    way, what = pair[0].split()
    peer = stage + (1 if (way == "send") == (what == "activation") else -1)
    return {"send": "send", "receive": "recv"}[way], case.members[peer]


def _parting(made: list[str], order: list[str]) -> str:
    """As in "F0 F1 F2; in its stream it is F0 F1 B0"."""
    at = next((n for n, (a, b) in enumerate(zip(made, order, strict=False)) if a != b), min(len(made), len(order)))
    there, should = (", ".join(row[max(0, at - 4) : at + 1]) or "nothing" for row in (made, order))
    return f"{there}; in its stream it is {should}"


def economise(seen: Seen) -> list[Fault]:
    return [Fault(id, f"With {seen.case}: {message}", telling=True) for id, message in astray(seen)][:1]


def inputs(case: Case, rank: int) -> tuple[Task, int]:
    return task(case), case.members.index(rank) if rank in case.members else 0


EXERCISE = Exercise(
    number=3,
    title="A worker for any schedule",
    points=7,
    minutes=45,
    parameters="module, stream, inputs, targets, loss, shape, group=None",
    worlds=(1, 2, 3, 4, 5),
    cases=cases,
    reference="lockstep.pipeline.worker:pipeline_worker",
    inputs=inputs,
    values=Values(share=0.6, examine=examine, may_change=["module.gradient"]),
    costs=Costs(
        economise=economise,
        algorithm="the stream",
        budgets=(
            Budget("collectives", lambda case: 0, advice="All messages are in the stream."),
            Budget("barriers", lambda case: 0, advice="A message says itself when it has come."),
        ),
    ),
    comparison=Comparison(
        alike=results,
        footprint=lambda seen: [sorted(dict(astray(seen))), shares_of_room(seen), len(seen.trace.communication)],
        tensors=gradients,
    ),
    run=Run(timeout=2.5, rules=STRICT, watch=noting(observed)),
    feedback=Feedback(hints=HINTS),
)
