"""What a right tensor has become is told only where it has become something else."""

from __future__ import annotations

import torch

from lockstep.checks.transforms import changed_tensors

OWN = torch.ones(3)


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
