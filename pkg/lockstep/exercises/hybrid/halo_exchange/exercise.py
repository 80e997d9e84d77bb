"""A rim of the neighbours' cells, corners too: judged cell by cell, and by four messages of no more than the rim."""

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Comparison, Costs, Exercise, Feedback, Run, Values
from lockstep.cost.domain_decomposition import sent
from lockstep.exercises.communication.tensors import BUILT_BY_HAND
from lockstep.exercises.hybrid.cells import TRIED, blocks, cases, examine, given

ITEM = {"int64": 8, "float64": 8}
BOTH = "Does every rank post its receives before it waits for what it sends? Then no two ranks wait for each other."


def messages(case: Case) -> int:
    return 2 * (blocks(case).P > 1) + 2 * (blocks(case).Q > 1)


def nbytes(case: Case) -> int:
    """Of the rank with the largest block, which sends most. Alone in a row, it may send the rim's ends, too."""
    of, width = blocks(case), case.settings["width"]
    h, w = -(-of.rows // of.P), -(-of.columns // of.Q)
    ends = 2 * width if of.P > 1 and of.Q == 1 else 0
    return sent(h, w + ends, of.P, of.Q, width) * ITEM.get(case.settings["how"], 4)


EXERCISE = Exercise(
    number=6, core=False, title="Only the edge travels", points=3, minutes=25, worlds=tuple(TRIED),
    parameters="block, P, Q, width, group=None",
    reference="lockstep.domain_decomposition.halo_exchange:halo_exchange",
    cases=cases, inputs=given, values=Values(examine=examine, share=0.6),
    costs=Costs(
        algorithm="a rim",
        budgets=(
            Budget("bytes", nbytes, "2·width·(h + w + 2·width) cells"),
            Budget("messages", messages, "2 up and down, 2 to the sides"),
            Budget("rounds", messages, at_most=2),
        ),
        forbidden=BUILT_BY_HAND,
    ),
    comparison=Comparison(alike=lambda seen: [seen.returned[rank] for rank in seen.case.members]),
    run=Run(timeout=2.5),
    feedback=Feedback(hints=[("crashed:Deadlock", BOTH)]),
)  # fmt: skip
