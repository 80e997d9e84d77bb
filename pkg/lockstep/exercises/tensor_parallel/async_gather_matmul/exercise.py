"""An all-gather in shards, each multiplied while another travels: judged by values, messages, FLOP, and by what is
multiplied between the start of each message and the wait for it."""

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Comparison, Costs, Exercise, Run, Values
from lockstep.exercises.communication.tensors import BUILT_BY_HAND
from lockstep.exercises.tensor_parallel.shards_under_way import bare, cases, footprint, given, shard, wanted
from lockstep.exercises.tensor_parallel.sizes import of


def nbytes(case: Case) -> int:
    """Of the shards of all other ranks."""
    n, h = of(case, "n h")
    return 4 * (case.size - 1) * n * h


EXERCISE = Exercise(
    number=11, core=False, title="Multiply while it travels", points=4, minutes=25, parameters="x, A, group=None",
    reference="lockstep.tensor_parallel:async_gather_matmul", cases=cases, inputs=given, worlds=(1, 2, 3, 4, 5),
    values=Values(wanted=wanted),
    costs=Costs(algorithm="this layer", economise=bare, forbidden=BUILT_BY_HAND, budgets=(
        Budget("messages", lambda case: case.size - 1, "K - 1"),
        Budget("bytes", nbytes, "(K-1)·n·h numbers"),
        Budget("all bytes", lambda case: case.size * nbytes(case), "K·(K-1)·n·h numbers", at_most=None, at_least=1.0),
        Budget("flops", lambda case: case.size * shard(case), "2·K·n·h·m", advice="Each shard is multiplied once."),
    )),
    comparison=Comparison(footprint=footprint), run=Run(timeout=2.5),
)  # fmt: skip
