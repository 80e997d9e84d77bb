"""Federated averaging: the data stay where they are, on many small clients, and models travel instead of gradients.

    K  clients      S  of them asked in a round      E  epochs on a client      n_k  its examples      η  learning rate

A round of the server:

    (1)  ask S clients, drawn anew, and send them w
    (2)  each goes through its own examples E times, minibatch by minibatch: w_k <- w - η·gradient ...
    (3)  w <- the mean of the w_k that come back, each weighted by n_k

It is local SGD with three differences. The clients' data are not identically distributed: one client may have hardly
any class but its own. Only some clients take part in a round. And some of those never answer: a client that is late or
gone is left out (a *drop-out*).

Random drop-outs cost little: the round averages fewer models. Where those clients drop out that have what nobody else
has, it is never learnt. ``table`` shows both.

Cost of a round: |w| numbers to each client that is asked, and |w| back from each that answers.
Source: B. McMahan, E. Moore, D. Ramage, S. Hampson and B. Agüera y Arcas, Communication-Efficient Learning of Deep
Networks from Decentralized Data, AISTATS 2017, arXiv:1602.05629, Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor

from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.this_machine.measure import one_thread
from lockstep.without_waiting.problems import Digits

ALPHAS = (100.0, 1.0, 0.1)
LOST = (0.0, 0.5, 0.9)  # of those that are asked in a round
CLASSES_GONE = (8, 9)
LAST = 10  # rounds over which an accuracy is averaged


def federated_average(w: Tensor, models: Sequence[Tensor | None], examples: Sequence[float]) -> Tensor:
    """The mean of the ``models`` that came back, weighted by their clients' numbers of ``examples``: a new tensor. A
    client that dropped out has None for a model. Where nobody has an example, it is ``w``, the server's own."""
    back = [(model, n) for model, n in zip(models, examples, strict=True) if model is not None]
    total = sum(n for _, n in back)
    if not total:
        return w.clone()
    return torch.stack([model * (n / total) for model, n in back]).sum(0)


@dataclass(frozen=True)
class Federation:
    """Clients that share the digits, and how they train on them."""

    alpha: float | None = 0.1  # how they are parted: see problems.Digits
    clients: int = 50
    asked: int = 10  # in a round
    epochs: int = 5
    batch: int = 10
    rate: float = 0.5
    seed: int = 0

    @property
    def problem(self) -> Digits:
        return Digits(self.alpha, self.batch, self.seed)

    def train(self, rounds: int, lost: float = 0.0, gone: Sequence[int] = ()) -> list[Tensor]:
        """Federated averaging: the server's model before the first round and after each. A client that is asked drops
        out with the probability ``lost``; the clients in ``gone`` never answer."""
        draw, models = Random(self.seed), [self.problem.start()]
        for _ in range(rounds):
            w, asked = models[-1], draw.sample(range(self.clients), self.asked)  # (1)
            answers = [k not in gone and draw.random() >= lost for k in asked]
            back = [self.local(w, k) if answer else None for k, answer in zip(asked, answers, strict=True)]  # (2)
            models.append(federated_average(w, back, [self.examples(k) for k in asked]))  # (3)
        return models

    def local(self, w: Tensor, client: int) -> Tensor:
        """The model that a client returns: ``epochs`` times through its examples, starting from w. Its last minibatch
        of an epoch may begin the next one."""
        steps = -(-self.epochs * self.examples(client) // self.batch)
        for step in range(steps):
            w = w - self.rate * self.problem.gradient(w, client, self.clients, step)
        return w

    def accuracy(self, rounds: int, lost: float = 0.0, gone: Sequence[int] = ()) -> float:
        """Accuracy on the test digits, 0 to 1: the mean over the last LAST of so many rounds, since a single round's is
        noisy."""
        models = self.train(rounds, lost, gone)[-LAST:]
        return sum(map(self.problem.accuracy, models)) / len(models)

    def examples(self, client: int) -> int:
        """The number of examples of a client."""
        return len(self.problem.examples(client, self.clients)[1])


def half_with_most(one: Federation, classes: Sequence[int] = CLASSES_GONE) -> list[int]:
    """The half of all clients that has the most examples of these classes, by number."""
    labels = [one.problem.examples(k, one.clients)[1] for k in range(one.clients)]
    have = [sum(int((y == label).sum()) for label in classes) for y in labels]
    return sorted(range(one.clients), key=lambda k: -have[k])[: one.clients // 2]


def accuracies(rounds: int = 30, seed: int = 0) -> list[tuple[float, str, float]]:
    """(alpha, who drops out, accuracy) for ALPHAS and LOST; and for the case that those half of all clients never
    answer that have most of CLASSES_GONE."""
    found = []
    with one_thread():
        for alpha in counted(ALPHAS, "Training"):
            one = Federation(alpha, seed=seed)
            for lost in LOST:
                found.append((alpha, f"{lost:.0%}", one.accuracy(rounds, lost)))
            found.append((alpha, "a half", one.accuracy(rounds, gone=half_with_most(one))))
    return found


def table(rounds: int = 30, seed: int = 0) -> Table:
    """Accuracy on the 517 test digits, by alpha and by which clients drop out."""
    found, one = accuracies(rounds, seed), Federation()
    rows = [[f"{alpha:g}", *(f"{right:.1%}" for a, _, right in found if a == alpha)] for alpha in ALPHAS]
    caption = (
        f"Digits that are recognised, mean over the last {LAST} of {rounds} rounds. {one.clients} clients, {one.asked} "
        f"asked in a round, {one.epochs} epochs each. The smaller alpha, the fewer classes a client has."
    )
    by_chance = [f"{lost:.0%} of those asked drop out" if lost else "all who are asked answer" for lost in LOST]
    never = f"the half with most {' and '.join(f'{c}s' for c in CLASSES_GONE)} never answers"
    return Table(caption, ["alpha", *by_chance, never], rows)
