"""Batch normalisation over the rows of all ranks: right up to rounding, since roots are rounded anyway."""

from lockstep.checks.exercise import Costs, Exercise, Run, Values
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.all_reduce_sgd.normalised_rows import examine, inputs, normalised
from lockstep.exercises.all_reduce_sgd.rows import cases

EXERCISE = Exercise(
    number=7,
    core=False,
    title="Batch normalisation over all ranks",
    points=3,
    minutes=25,
    parameters="x, eps, group=None",
    reference="lockstep.data_parallel.batch_norm:sync_batch_norm",
    cases=cases,
    inputs=inputs,
    worlds=(1, 2, 3, 4),
    values=Values(wanted=normalised, tolerance=1e-9, examine=examine),
    costs=Costs(budgets=all_reduces(lambda case: 8 * (2 * case.settings["columns"] + 1))),
    run=Run(timeout=2.5),
)
