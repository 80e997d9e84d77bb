"""Training the small GPT with experts on the source of Python's standard library; and what its experts have learnt.

No expert is assigned a task. The gate sees a token's vector, and sends bytes that benefit from the same treatment to
the same expert: blanks to one, vowels to another. Which expert gets which is chance, and differs between seeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor

from lockstep.datasets import library_text, text_batch
from lockstep.experts.balance import load_balancing_loss, loads
from lockstep.experts.gpt import MixtureGPT
from lockstep.models import GPT, next_token_loss
from lockstep.tables import Table
from lockstep.tally import counted

EXPERTS, EXAMPLES, CONTEXT, STEPS, RATE, BALANCE = 4, 8, 64, 120, 0.01, 0.01
TOLD = 10  # steps between reports of progress
UNSEEN = 10_000  # the seed of a batch that is never used in training


class Trained(NamedTuple):
    model: MixtureGPT
    losses: list[float]  # nats per byte, by step; without the balancing loss
    shares: list[list[float]]  # of each expert in the step's tokens, by step


def trained(
    balance: float = BALANCE,
    rate: float = RATE,
    steps: int = STEPS,
    seed: int = 0,
    experts: int = EXPERTS,
    text: Tensor | None = None,
) -> Trained:
    """A GPT whose second block is a mixture of ``experts``, top-1, after ``steps`` steps of Adam on ``EXAMPLES`` pieces
    of the text. ``balance``: the weight of the load-balancing loss, α in Switch Transformers; 0 switches it off."""
    text = library_text() if text is None else text
    found = Trained(MixtureGPT(experts, seed=seed), [], [])
    adam = torch.optim.Adam(found.model.parameters(), rate)
    with one_thread():
        for first in counted(range(0, steps, TOLD), f"Training, {TOLD} steps each", each=0.2):
            for step in range(first, min(first + TOLD, steps)):
                take_step(found, adam, *text_batch(text, EXAMPLES, CONTEXT, seed=step), balance)
    return found


def take_step(training: Trained, adam: torch.optim.Optimizer, x: Tensor, y: Tensor, balance: float) -> None:
    loss = next_token_loss(training.model(x), y)
    (routing,) = training.model.routings
    adam.zero_grad()
    (loss + balance * load_balancing_loss(routing.scores, routing.experts)).backward()  # type: ignore[no-untyped-call]
    adam.step()
    training.losses.append(loss.item())
    training.shares.append((loads(routing.experts, routing.scores.shape[1]) / routing.experts.numel()).tolist())


def dense_losses(rate: float = RATE, steps: int = STEPS, seed: int = 0, text: Tensor | None = None) -> list[float]:
    """The losses of the same GPT without experts, on the same pieces."""
    text = library_text() if text is None else text
    model, losses = GPT(seed=seed), list[float]()
    adam = torch.optim.Adam(model.parameters(), rate)
    with one_thread():
        for step in range(steps):
            x, y = text_batch(text, EXAMPLES, CONTEXT, seed=step)
            loss = next_token_loss(model(x), y)
            adam.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            adam.step()
            losses.append(loss.item())
    return losses


@contextmanager
def one_thread() -> Iterator[None]:
    """Run with one torch thread: for matrices this small a second one does not pay, and on busy cores it makes a step
    several times as long."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def routed(model: MixtureGPT, text: Tensor | None = None, examples: int = 64) -> tuple[Tensor, Tensor]:
    """Pieces (examples, CONTEXT) that were not used in training, and the expert of each of their bytes."""
    text = library_text() if text is None else text
    x, _ = text_batch(text, examples, CONTEXT, seed=UNSEEN)
    with torch.no_grad():
        model(x)
    (routing,) = model.routings
    return x, routing.experts[:, 0].view_as(x)


def bytes_of_experts(model: MixtureGPT, text: Tensor | None = None, examples: int = 64) -> list[Counter[int]]:
    """For each expert, how many of each byte of such pieces it gets."""
    x, chosen = routed(model, text, examples)
    (mixture,) = model.mixtures
    return [Counter(x[chosen == i].tolist()) for i in range(len(mixture.gate.weight))]


KINDS = {
    "blanks": " \n\t",
    "vowels": "aeiouAEIOU",
    "consonants": "bcdfghjklmnpqrstvwxyzBCDFGHJKLMNPQRSTVWXYZ",
    "digits": "0123456789",
}
SIGNS, IDLE, EVERYTHING = "signs", "idle", "everything"


def kind_of(byte: int) -> str:
    return next((kind for kind, members in KINDS.items() if chr(byte) in members), SIGNS)


def shares_of_kinds(counts: Sequence[Counter[int]]) -> list[dict[str, float]]:
    """For each expert, its fraction of all bytes of each kind."""
    total, found = Counter[str](), list[Counter[str]]()
    for of_expert in counts:
        kinds = Counter[str]()
        for byte, number in of_expert.items():
            kinds[kind_of(byte)] += number
        found.append(kinds)
        total += kinds
    return [{kind: kinds[kind] / total[kind] for kind in (*KINDS, SIGNS) if total[kind]} for kinds in found]


def experts_table(model: MixtureGPT, text: Tensor | None = None, shown: int = 10) -> Table:
    """A row for each expert: its share of the tokens and of each kind of bytes, and its most frequent bytes."""
    counts = bytes_of_experts(model, text)
    total = sum(c.total() for c in counts)
    kinds = shares_of_kinds(counts)
    rows = [
        [str(i), f"{100 * c.total() / total:.0f} %", *(f"{100 * share:.0f} %" for share in of_kind.values()),
         " ".join(repr(chr(byte))[1:-1] if byte != 32 else "␣" for byte, _ in c.most_common(shown))]
        for i, (c, of_kind) in enumerate(zip(counts, kinds, strict=True))
    ]  # fmt: skip
    head = ["expert", "of all", *(f"of {kind}" for kind in kinds[0]), "its most frequent bytes"]
    return Table("What each expert gets of a text that it has not seen", head, rows)
