"""How often to commit elastic state: a failure loses the steps since the last commit, and every commit costs time.

A commit every n steps costs commit/n a step. A failure loses what was done since the last commit: with one failure in
``between`` steps, at a random moment, n/2 steps on average.
The sum is smallest near n = √(2 · commit · between): Young, "A first order approximation to the optimum checkpoint
interval", Communications of the ACM 17(9), 1974.
"""

from __future__ import annotations

from lockstep.tables import Table


def lost(every: int, commit: float, between: float) -> float:
    """Steps lost per step, on average, to commits and failures. ``commit`` is a commit's cost in steps; a rank fails
    once in ``between`` steps."""
    return commit / every + every / 2 / between


def cheapest(commit: float, between: float) -> int:
    """The number of steps between two commits that loses least."""
    return min(range(1, int(between) + 1), key=lambda every: lost(every, commit, between))


def commits_table(commit: float, between: float) -> Table:
    """The cost of some intervals, the cheapest among them."""
    choices = sorted({1, 5, 50, 400, cheapest(commit, between)})
    rows = [
        [f"{n}", *(f"{100 * of_one:.1f} %" for of_one in (commit / n, n / 2 / between, lost(n, commit, between)))]
        for n in choices
    ]
    head = ["steps between two commits", "lost by commits", "lost by failures", "together"]
    return Table(f"A commit takes {commit:g} steps, a rank fails once in {between:g}", head, rows)
