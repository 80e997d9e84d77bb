"""What unit 06's exercises hand to an answer."""

import pytest
import torch

from lockstep.exercises.without_waiting.clocks import case_of, start
from lockstep.exercises.without_waiting.local_sgd.exercise import cases, inputs


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_server_that_forgets_the_shape_of_w_fails_with_any_number_of_workers(workers: int) -> None:
    """With one worker w was one row, which takes a flat gradient: it was told to be right for two ranks and no more."""
    w = start(case_of(workers + 1, 0, steps=[3] * workers, units=[0] * workers))
    with pytest.raises(RuntimeError, match="must match"):
        w - torch.zeros(w.numel())


def test_the_text_of_local_sgd_says_that_w_is_not_always_contiguous() -> None:
    contiguous = {inputs(case, 0)[1].is_contiguous() for ranks in (1, 2, 3, 4) for case in cases(ranks, 0)}
    assert contiguous == {True, False}
