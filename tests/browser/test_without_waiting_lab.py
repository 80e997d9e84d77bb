"""Unit 06's lab as a learner meets it: a lock that is only deleted, a mean that is forgotten, and a right answer."""

from __future__ import annotations

import pytest
from harness import Lab

pytestmark = pytest.mark.slow  # unit 04's lab, in `make test`, shows that feedback reaches a learner
LAB = "labs/06_without_waiting/lab.ipynb"

THREADS = """
    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
"""
ONLY_DELETED = f"""
def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            full = np.zeros(len(w))
            full[coordinates[i]] = gradient(i, w[coordinates[i]])
            w[:] -= rate * full
{THREADS}
"""
HOGWILD = f"""
def delete_the_lock(gradient, coordinates, w, rate, threads):
    def train(t):
        for i in range(t, len(coordinates), threads):
            own = coordinates[i]
            g = gradient(i, w[own])
            w[own] -= rate * g
{THREADS}
"""
FORGETS_THE_LAST_MEAN = """
def local_sgd(gradient, w, steps, rate, period, group=None):
    for step in range(steps):
        w = w - rate * gradient(w, step)
        if (step + 1) % period == 0:
            dist.all_reduce(w, group=group)
            w = w / dist.get_world_size(group)
    return w
"""


@pytest.fixture
def prepared(lab: Lab) -> Lab:
    lab.open(LAB)
    lab.run(lab.find("from lockstep import check"))
    return lab


def test_a_lock_that_is_only_deleted_is_told(prepared: Lab) -> None:
    assert "coordinates of w that the example does not use" in prepared.answer(
        "without_waiting.delete_the_lock", ONLY_DELETED
    )
    assert "3 of 3 points" in prepared.answer("without_waiting.delete_the_lock", HOGWILD)


def test_a_mean_that_is_forgotten_is_told(prepared: Lab) -> None:
    assert "not averaged after the last step" in prepared.answer("without_waiting.local_sgd", FORGETS_THE_LAST_MEAN)
