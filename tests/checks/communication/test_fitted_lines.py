"""Fresh answers to fit_alpha_beta: float32 passed, and lines through some of the points were told nothing."""

from pathlib import Path

import pytest

from lockstep.checks.case import Case
from lockstep.checks.exercise import find
from lockstep.checks.load import load
from lockstep.checks.plain import plain
from lockstep.exercises.communication.fit_alpha_beta.exercise import CLOSE, agrees, lines, samples
from lockstep.exercises.communication.fitted_lines import what_it_fits

N = [100, 100, 200, 400, 400]
T = [3.0, 3.5, 5.0, 8.0, 9.5]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ((1.0, 0.02), "exactly through those of 100 and 200 bytes"),  # the first of two sizes
        ((0.75, 0.0225), "fits one measurement of each size"),
        ((1.1, 0.02), "exactly the slope between two of them, of 100 and 200 bytes"),
        ((1.0, 0.0199), "add up to"),
        ((0.0, 1e9), ""),
    ],
)
def test_of_a_wrong_line_it_is_said_what_it_goes_by(line: tuple[float, float], told: str) -> None:
    if "each size" in told:  # of 3.5, 5.0 and 9.5
        beta = ((3.5 - 6) * (100 - 700 / 3) + (5.0 - 6) * (200 - 700 / 3) + (9.5 - 6) * (400 - 700 / 3)) / (140000 / 3)
        line = (6 - beta * 700 / 3, beta)
    said = what_it_fits(line, N, T)
    assert told in said if told else not said


def test_where_times_are_close_together_float32_is_asked_for() -> None:
    told = what_it_fits((51e-6, 1e-10), [4_000_000, 4_000_401, 4_000_802], [8.5e-4, 8.5008e-4, 8.5016e-4])
    assert "float32 rounds each to 7 digits" in told


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # 0 / 0 in float32
@pytest.mark.parametrize("seed", range(0, 4000, 97))
def test_where_sizes_are_close_together_float64_is_enough_and_float32_is_not(seed: int) -> None:
    exercise, case = find("communication.fit_alpha_beta"), Case(1, seed, settings={"told": CLOSE})

    def right(path: Path) -> bool:
        fit = load(path, exercise.function)
        return all(agrees(plain(fit(*samples(*line, case))), line) for line in lines(case))

    assert all(map(right, exercise.right.glob("*.py")))
    assert not any(map(right, exercise.wrong.glob("single_precision*.py")))
