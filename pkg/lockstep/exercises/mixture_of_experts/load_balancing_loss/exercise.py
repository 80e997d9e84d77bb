"""The ranks' parts of one loss: their sum, each one's gradient, and an all-reduce of no more than the counts."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import apart
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.rules import first
from lockstep.checks.values import told
from lockstep.checks.wording import listed
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.communication.tensors import SUBGROUPS
from lockstep.exercises.mixture_of_experts import flowing
from lockstep.experts.balance import load_balancing_loss
from lockstep.experts.gate import top_k_gate

TOKENS = {1: (6,), 2: (3, 8), 3: (0, 9, 4), 4: (5, 1, 7, 12), 5: (2, 10, 0, 6, 3), 8: (4, 1, 9, 0, 2, 7, 30, 3)}
OTHERS = {3: "all to one", 4: "all even", 5: "not the best"}  # else they choose the experts of the highest scores
IN_A_GROUP = (0, 5, 8, 2)


def cases(ranks: int, seed: int) -> list[Case]:
    """One, two and three experts of each token."""
    rows: list[tuple[tuple[int, ...] | None, tuple[int, ...], int, int, str]]
    rows = [(None, TOKENS[ranks], 6, 2 if ranks < 5 else 3, "")]
    rows += [(None, TOKENS[ranks], 4, 1, OTHERS[ranks])] if ranks in OTHERS else []
    group = SUBGROUPS.get(ranks)
    rows += [(group, IN_A_GROUP[: len(group)], 5, 2, "")] if group and ranks != 5 else []
    return [_case(ranks, seed + n, *row) for n, row in enumerate(rows)]


def _case(
    ranks: int, seed: int, group: tuple[int, ...] | None, tokens: tuple[int, ...], E: int, k: int, how: str
) -> Case:
    who = f"the group {list(group)} of {ranks} ranks" if group else f"{ranks} rank{'s' * (ranks > 1)}"
    have = f"that {'has' if ranks == 1 else 'have'} {listed(tokens)} tokens"
    told = f"{who} {have}, {E} experts and k = {k}{', ' * bool(how)}{how}"
    settings = {"tokens": tokens, "experts": E, "k": k, "how": how, "told": told, "trivial": ranks == 1}
    return Case(ranks, seed, group, settings)


def inputs(case: Case, rank: int) -> tuple[Tensor, Tensor]:
    """Scores that lean to the first experts, on each rank in another way: mean and sum of shares differ."""
    E, k, how = (case.settings[name] for name in ("experts", "k", "how"))
    T = case.settings["tokens"][case.members.index(rank)] if rank in case.members else 3
    scores = torch.randn(T, E, generator=generator(case, rank), dtype=torch.float64)
    scores = scores.float() if case.ranks in (2, 5) else scores
    scores[:, rank % E] += 1.5
    experts = top_k_gate(scores, k)[0]
    if how == "all to one":
        experts = torch.zeros_like(experts)
    elif how == "all even":
        scores, experts = torch.zeros_like(scores), torch.arange(T).unsqueeze(1) % E
    elif how:
        experts = E - 1 - experts
    return scores, experts


def watch(fn: Callable[..., Any], given: tuple[Tensor, Tensor]) -> dict[str, Any]:
    """The part, and the gradient of this rank's scores."""
    (scores,) = flowing.leaves(given[:1])
    part = fn(scores, given[1])
    single = isinstance(part, Tensor) and part.numel() == 1
    return {"part": plain(part), "single": single, "flows": flowing.gradients(part, [scores])}


def loss_of_all(case: Case) -> tuple[Tensor, list[Tensor]]:
    """The loss as if all tokens were on one rank, and the gradient of each rank's scores."""
    scores, experts = zip(*(inputs(case, rank) for rank in case.members), strict=True)
    own = flowing.leaves(scores)
    loss = load_balancing_loss(torch.cat(own), torch.cat(experts))
    return loss.detach(), list(torch.autograd.grad(loss, own))


def faults(seen: Seen) -> Iterator[tuple[str, str]]:
    """What is wrong, the plainest first."""
    found, (loss, gradients) = [seen.returned[rank] for rank in seen.case.members], loss_of_all(seen.case)
    for rank, e in zip(seen.case.members, found, strict=True):
        if not e["single"]:
            yield "wrong-type", f"rank {rank} returns {told(e['part'])}; a tensor of one number is wanted."
    parts = [float(e["part"]) if e["single"] else 0.0 for e in found]
    for rank, T, part in zip(seen.case.members, seen.case.settings["tokens"], parts, strict=True):
        if T == 0 and part != 0:
            yield "wrong-values", f"rank {rank} has no tokens: its part is 0, not {part:.4g}."
    total = torch.tensor(sum(parts), dtype=torch.float64)
    if flowing.off(total, loss.double()):
        there, right = apart(total.item(), loss.item())
        rows = listed([f"{part:.4g}" for part in parts])
        yield "wrong-values", f"the ranks' parts, {rows}, add up to {there}. The loss of all tokens is {right}."
    for rank, e, want in zip(seen.case.members, found, gradients, strict=True):
        facts = flowing.NOTHING | flowing.flow(["scores"], e["flows"], [want]) if len(want) else flowing.NOTHING
        if fault := first(flowing.FLOW, facts):
            yield fault.misconception, f"on rank {rank}, {fault.message}"


def examine(seen: Seen) -> Fault | None:
    rows = (Fault(id, f"With {seen.case}: {message}", telling=True) for id, message in faults(seen))
    return next(rows, None)


EXERCISE = Exercise(
    number=3, title="The load-balancing loss", points=4, minutes=20, seconds=2.5, cases=cases, inputs=inputs, kept=True,
    parameters="scores, experts, group=None", reference="lockstep.experts.functional:load_balancing_loss",
    watch=watch, examine=examine, of="the loss",
    alike=lambda seen: [
        flowing.rounded([e["part"], e["flows"]]) for e in (seen.returned[rank] for rank in seen.case.members)
    ],
    budgets=all_reduces(lambda case: 8 * (case.settings["experts"] + 1)),
)  # fmt: skip
