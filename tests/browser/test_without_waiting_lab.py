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
WHOLE_ROUNDS_ONLY = """
def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    K, v = dist.get_world_size(group), torch.zeros_like(w)
    for r in range(steps // period):
        own = w
        for step in range(r * period, (r + 1) * period):
            own = own - rate * gradient(own, step)
        delta = w - own
        dist.all_reduce(delta, group=group)
        v = momentum * v + delta / K
        w = w - outer_rate * (delta / K + momentum * v)
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


def test_steps_that_are_left_over_are_told(prepared: Lab) -> None:
    assert "steps that are left over are not taken" in prepared.answer("without_waiting.diloco", WHOLE_ROUNDS_ONLY)
