"""Push-sum over one-way links: ranks differ in how many they send to, so that weights differ after the first round."""

from lockstep.checks.exercise import Costs, Exercise, Feedback, Run, Values
from lockstep.exercises.without_waiting.averaging import Tried, budgets, cases, tensor
from lockstep.exercises.without_waiting.one_way_links import LINKS, examine, links, ratios

WORLDS = [(len(row), name, {"rounds": n}) for n, (name, row) in zip((3, 1, 2, 3, 2, 5, 3), LINKS.items(), strict=True)]
MORE: list[Tried] = [
    (3, "a one-way ring", {"rounds": 0}),
    (4, "a one-way ring and a short cut", {"rounds": 2, "layout": "matrix", "zeros_on": 3}),
    (2, "two", {"rounds": 1, "numel": 1, "layout": "()"}),
    (5, "a one-way ring", {"rounds": 1, "group": (1, 2, 4)}),
    (8, "a ring one way, and rank 0 sends to all", {"rounds": 4, "group": (1, 3, 4, 6)}),
]
ONE_WAY = (
    "Links go one way: rank i receives from each j with i in sends_to[j], and need not from those that it sends to."
)

EXERCISE = Exercise(
    number=7, core=False, title="Push-sum", points=3, minutes=20, parameters="x, sends_to, rounds, group=None",
    reference="lockstep.without_waiting.push_sum:push_sum", cases=cases(*WORLDS, *MORE),
    inputs=lambda case, rank: (tensor(case, rank), links(case), case.settings["rounds"]),
    values=Values(examine=examine, wanted=ratios, tolerance=1e-9), run=Run(timeout=2.5),
    costs=Costs(algorithm="push-sum", budgets=budgets(lambda case: sum(map(len, links(case))), more=1)),
    feedback=Feedback(hints=[("crashed:Deadlock", ONE_WAY)]),
)  # fmt: skip
