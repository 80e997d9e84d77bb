"""Lesson 11's exercises in a line: the learner's function compared with counts, and used as a gate.

The library's own versions are in ``gate`` and ``balance``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from lockstep.datasets import library_text, text_batch
from lockstep.experts.balance import load_balancing_loss, loads, z_loss
from lockstep.experts.gate import Routing, TopKGate, capacity, limited, top_k_gate
from lockstep.experts.gpt import MixtureGPT
from lockstep.experts.serial import NotesMixture, SerialMoE, dense_mixture
from lockstep.experts.training import CONTEXT, EXAMPLES, EXPERTS, UNSEEN
from lockstep.tables import Table

TopK = Callable[[Sequence[float], int], Sequence[int]]  # (scores, k) -> experts
Dropped = Callable[[Sequence[int], int], int]  # (rows sent to each expert, its places) -> rows

WIDTH, HIDDEN = 16, 32


def rows_of_experts(mixture: nn.Module, x: Tensor) -> int:
    """The rows that all experts of ``mixture`` compute together in a forward pass of ``x`` (T, d), counted by hooks."""
    rows, experts = list[int](), mixture.experts
    assert isinstance(experts, nn.ModuleList)
    hooks = [e.register_forward_hook(lambda module, given, out: rows.append(len(given[0]))) for e in experts]
    mixture(x)
    for hook in hooks:
        hook.remove()
    return sum(rows)


def rows_table(tokens: int = 10, experts: int = 4) -> Table:
    """The notes' sample, and mixtures with a top k: the rows that their experts compute, and the difference from the
    dense form, in which all experts compute everything."""
    x = torch.randn(tokens, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    rows = [["a common sample", "all", str(rows_of_experts(NotesMixture(WIDTH, experts).double(), x)), "", ""]]
    for k in (2, 1):
        serial = SerialMoE(TopKGate(WIDTH, experts, k, "before", dtype=torch.float64), HIDDEN)
        apart = [f"{(a - b).abs().max().item():.0e}" for a, b in zip(*both_forms(serial, x), strict=True)]
        rows.append([f"top-{k}", str(k), str(rows_of_experts(serial, x)), *apart])
    head = ["mixture", "experts of a token", "rows computed", "output apart from dense", "gradients apart"]
    return Table(f"{tokens} tokens, {experts} experts, float64", head, rows)


def both_forms(serial: SerialMoE, x: Tensor) -> list[list[Tensor]]:
    """The output and the flattened gradients of the sparse form, and those of the dense form with the same routing."""
    found = []
    for form in (lambda: serial(x), lambda: dense_mixture(x, serial.gate(x), list(serial.experts))):
        y: Tensor = form()
        gradients = torch.autograd.grad(y.square().sum(), list(serial.parameters()))
        found.append([y.detach(), torch.cat([g.flatten() for g in gradients])])
    return found


def weights_table(scores: Sequence[float] = (2.0, 1.0, 0.0)) -> Table:
    """The weights of a token, with the softmax after and before the top k."""
    rows = []
    for k in (2, 1):
        for way in ("after", "before"):
            _, weights = top_k_gate(torch.tensor([scores]), k, way)
            told = ", ".join(f"{weight:.2f}" for weight in weights[0].tolist())
            rows.append([f"{k}", way, told, f"{weights.sum():.2f}"])
    told = ", ".join(f"{score:g}" for score in scores)
    return Table(f"A token with scores {told}", ["k", "softmax", "weights", "their sum"], rows)


def noise_table(top_k: TopK, scores: Sequence[float] = (1.0, 0.9), tokens: int = 1000) -> Table:
    """Identical tokens through the learner's gate, with more and more noise on their scores."""
    normal = torch.randn(tokens, len(scores), generator=torch.Generator().manual_seed(0))
    rows = []
    for size in (0.0, 0.1, 1.0):
        noisy = (torch.tensor(scores) + size * normal).tolist()
        chosen = [top_k(of_token, 1)[0] for of_token in noisy]
        rows.append([f"{size:g}", *(f"{chosen.count(e)}" for e in range(len(scores)))])
    head = ["noise, standard deviation", *(f"expert {e}, score {score:g}" for e, score in enumerate(scores))]
    return Table(f"Who gets {tokens:,} equal tokens, by your line", head, rows)


def losses_table(experts: int = 8, tokens: int = 64) -> Table:
    """The two losses for tokens with one high score each."""
    rows = []
    for name, size, all_to_one in (
        ("spread evenly", 10, False),
        ("all to expert 0", 10, True),
        ("all to expert 0", 20, True),
    ):
        wanted = torch.zeros(tokens, dtype=torch.int64) if all_to_one else torch.arange(tokens) % experts
        scores = size * nn.functional.one_hot(wanted, experts).float()
        balance = load_balancing_loss(scores, wanted.unsqueeze(1))
        rows.append([name, str(size), f"{balance:.2f}", f"{z_loss(scores):.0f}"])
    head = [f"{tokens} tokens, {experts} experts", "highest score", "load-balancing loss", "z-loss"]
    return Table("What the losses say", head, rows)


def routing_of(model: MixtureGPT) -> Routing:
    """The routing of a batch that is never used in training."""
    x, _ = text_batch(library_text(), EXAMPLES, CONTEXT, seed=UNSEEN)
    with torch.no_grad():
        model(x)
    (routing,) = model.routings
    return routing


def dropped_table(dropped: Dropped, model: MixtureGPT) -> Table:
    """An untrained gate and that of ``model`` with growing capacity: the tokens dropped, by the line and counted."""
    rows = []
    for name, gpt in (("untrained", MixtureGPT(EXPERTS)), ("trained", model)):
        routing = routing_of(gpt)
        wanted = loads(routing.experts, EXPERTS).tolist()
        for factor in (1.0, 1.25, 2.0):
            kept = limited(routing, factor).kept
            places = capacity(factor, len(kept), 1, EXPERTS)
            gone, count = dropped(wanted, places), int((~kept).sum())
            told = [f"{factor:g}", str(places), " ".join(map(str, wanted)), f"{gone}", str(count)]
            rows.append([name, *told, f"{count / len(kept):.0%}"])
    head = ["gate", "capacity factor", "places", "experts are sent", "dropped, by your line", "counted", "of all"]
    return Table(f"{EXAMPLES * CONTEXT} tokens of a text that it has not seen, {EXPERTS} experts, top-1", head, rows)


# ---- for those who want more


def priority_table(factor: float = 1.0) -> Table:
    """The tokens dropped by an untrained gate: those that come last, or those with the lowest weights."""
    routing, rows = routing_of(MixtureGPT(EXPERTS)), []
    place = torch.arange(len(routing.kept)).unsqueeze(1)
    for name, by_weight in (("in the order of tokens", False), ("by falling weight", True)):
        kept = limited(routing, factor, by_weight).kept
        weights = [f"{routing.weights[which].mean():.3f}" for which in (~kept, kept)]
        rows.append([name, str(int((~kept).sum())), f"{place[~kept].float().mean():.0f}", *weights])
    head = ["places are taken", "dropped", "their mean place in the batch", "mean weight of dropped", "of kept"]
    return Table(f"{EXAMPLES * CONTEXT} tokens, untrained gate, capacity factor {factor:g}", head, rows)
