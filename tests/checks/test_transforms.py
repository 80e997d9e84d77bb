"""What a right value may have become: each sentence is true of every answer that it is told of."""

from __future__ import annotations

import torch

from lockstep.checks.run_faults import row
from lockstep.checks.transforms import changed_numbers, changed_places, changed_tensors

OWN = torch.ones(3)


def test_the_place_of_a_tuple_that_is_changed_is_named() -> None:
    right = [(5e-5, 2e-10), (4e-5, 3e-10)]
    change = changed_places([(a, 1e6 * b) for a, b in right], right)
    assert change == ("constant-factor", "Second value: every answer is 1,000,000 times the right one.")


def test_of_a_place_that_no_change_explains_nothing_is_said() -> None:
    right = [(5e-5, 2e-10), (4e-5, 3e-10)]
    assert changed_places([(1e6 * a, b + a) for a, b in right], right) is None
    assert changed_places(right, right) is None


def test_a_constant_is_not_the_right_value_rounded() -> None:
    right = [5e-5, 4e-5]
    for constant in (0.0, 1.0):
        change = changed_numbers([constant, constant], right)
        assert change is not None
        assert change[0] == "constant"
    assert changed_numbers([2.0, 3.0], [1.5, 2.5]) == (
        "rounded",
        "This is the right value, rounded: return it as it is.",
    )


def test_a_factor_is_told_as_a_person_would() -> None:
    right = [5.0, 4.0]
    told = [changed_numbers([f * w for w in right], right) for f in (1024, 1e-3, 1.5, -0.5)]
    assert [change and change[1].removeprefix("Every answer is ") for change in told] == [
        "1,024 times the right one.", "1/1,000 of the right one.", "1.5 times the right one.",
        "−1/2 of the right one.",
    ]  # fmt: skip
    assert changed_tensors([torch.tensor([torch.inf, torch.inf])], [torch.tensor([1.0, 2.0])], [None]) is None


def test_of_right_numbers_beside_wrong_words_nothing_is_said() -> None:
    """A large rate that was right, with the wrong limit beside it, was told to be rounded."""
    assert changed_numbers([108391618055.31, 2e9], [108391618055.31, 2e9]) is None
    assert row([1.5, "memory"]) == [1.5]


def test_a_constant_too_much_and_a_sum_in_single_precision_are_told() -> None:
    right = torch.tensor([1e9, 2e9, 4e9], dtype=torch.float64)
    assert changed_tensors([right + 1], [right], [None]) == ("offset", "Every element is 1 too large.")
    near = changed_tensors([right + torch.tensor([1.0, 30.0, -70.0])], [right], [None])
    assert near is not None
    assert near[0] == "single-precision"
    assert changed_tensors([right + torch.tensor([1e6, 30.0, -70.0])], [right], [None]) is None


def test_a_row_of_numbers_is_read_from_whatever_holds_them() -> None:
    assert row(3) == [3.0]
    assert row((1, 2.5)) == [1.0, 2.5]
    assert row([1, None]) == row("text") == row([]) == []


def test_zeros_of_another_dtype_are_not_shifted() -> None:
    assert changed_tensors([torch.zeros(3)], [torch.zeros(3, dtype=torch.float64)], [OWN]) is None


def test_a_tensor_is_shifted_by_one() -> None:
    changed = changed_tensors([torch.tensor([3.0, 1.0, 2.0])], [torch.tensor([1.0, 2.0, 3.0])], [OWN])
    assert changed is not None
    assert changed[0] == "shifted"


def test_who_may_hold_anything_is_not_spoken_of() -> None:
    right = torch.tensor([1.0, 2.0, 3.0])
    changed = changed_tensors([2 * right, OWN], [right, None], [OWN, OWN])
    assert changed == ("constant-factor", "Every element there is 2 times the right one.")


def test_one_too_many_each_time_is_told() -> None:
    """Who added 1 to every answer read: "gives 3; it is 2", nine times."""
    assert changed_numbers([3.0, 8.0, 6.0], [2.0, 7.0, 5.0]) == ("offset", "Every answer is 1 too large.")
    assert changed_numbers([3.0, 8.0], [2.0, 6.0]) is None


def test_zeros_and_nan_are_told_and_a_rank_without_elements_hides_nothing() -> None:
    right, none = torch.tensor([1.0, 2.5]), torch.zeros(0)
    for held, id in ((torch.zeros(2), "all-zeros"), (torch.tensor([1.0, torch.nan]), "not-a-number")):
        change = changed_tensors([held, none], [right, none], [OWN, none])
        assert change is not None
        assert change[0] == id


def test_a_factor_of_some_tensors_is_told_where_the_others_are_right() -> None:
    """Stages that divided once more than the last one were told an element's number only."""
    right = [torch.rand(4), torch.rand(4), torch.rand(4)]
    held = [right[0] / 3, right[1] / 3, right[2]]
    told = "Of each tensor that is wrong, every element is 1/3 of the right one."
    assert changed_tensors(held, right, [None] * 3) == ("constant-factor", told)
    assert changed_tensors([right[0] / 3, right[1] / 2, right[2]], right, [None] * 3) is None


def test_numbers_of_which_some_are_right_to_the_bit_are_not_said_to_be_off() -> None:
    """ "Right to six digits, and no further" was not so of those."""
    change = changed_numbers([1.0, 2.0000001], [1.0, 2.0])
    assert change == ("single-precision", "No answer is off by more than a millionth of it: is anything in float32?")


def test_one_more_than_a_large_number_is_no_rounding_to_float32() -> None:
    """Who had made numbers of parameters even was asked whether anything was in float32, where the smallest number was
    near 10^8."""
    wanted = [16.0 * 100_000_001, 6.0 * 36_487_376_047]
    assert changed_numbers([16.0 * 100_000_002, 6.0 * 36_487_376_048], wanted) is None
