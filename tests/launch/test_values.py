"""What a rank is given arrives as it would through a plain pickle, whatever a tensor is."""

from __future__ import annotations

from typing import Any

import cloudpickle
import pytest
import torch
from torch import nn

from lockstep.launch import pickled

ROWS = torch.arange(12.0).reshape(3, 4)


class Own(torch.Tensor):
    """A learner's kind of tensor."""


def labelled() -> torch.Tensor:
    tensor = torch.ones(2)
    tensor.label = "theirs"  # type: ignore[attr-defined]
    return tensor


TENSORS = {
    "plain": ROWS,
    "a number": torch.tensor(2.5),
    "empty": torch.empty(0, 3),
    "bfloat16": ROWS.to(torch.bfloat16),
    "bool": ROWS > 4,
    "complex": torch.tensor([1 + 2j]).conj(),
    "transposed": ROWS.t(),
    "a view of more": ROWS[1],
    "expanded": torch.ones(1).expand(5),
    "sparse": ROWS.to_sparse(),
    "meta": torch.empty(3, device="meta"),
    "a leaf": torch.ones(3, requires_grad=True),
    "a parameter": nn.Parameter(ROWS.clone()),
    "a frozen one": nn.Parameter(ROWS.clone(), requires_grad=False),
    "their own class": ROWS.clone().as_subclass(Own),
    "with an attribute": labelled(),
}


def form(tensor: torch.Tensor) -> tuple[Any, ...]:
    kept = type(tensor), tensor.dtype, tensor.shape, tensor.layout, tensor.device, tensor.requires_grad, vars(tensor)
    strided = tensor.layout is torch.strided
    return (*kept, *((tensor.stride(), tensor.untyped_storage().nbytes()) if strided else ()))


@pytest.mark.parametrize("kind", TENSORS)
def test_a_tensor_is_as_cloudpickle_gives_it(kind: str) -> None:
    given = TENSORS[kind]
    there, plainly = cloudpickle.loads(pickled.packed(given)), cloudpickle.loads(cloudpickle.dumps(given))
    assert form(there) == form(plainly)
    if kind != "meta":
        assert torch.equal(there.to_dense(), given.to_dense())


def test_one_tensor_in_two_places_is_one_and_nobody_elses() -> None:
    weight = nn.Parameter(ROWS.clone())
    first, again, (one, other) = cloudpickle.loads(pickled.packed((ROWS, ROWS, (weight, weight))))
    assert first is again
    assert one is other
    first.zero_()
    assert ROWS.any()
    assert torch.ones(64).data_ptr() % 64 == cloudpickle.loads(pickled.packed(torch.ones(64))).data_ptr() % 64 == 0


def test_functions_travel_along() -> None:
    scale = torch.tensor([3.0])
    function, model = cloudpickle.loads(pickled.packed((lambda x: scale * x, nn.Linear(2, 2))))
    assert function(torch.tensor([2.0])).item() == 6
    assert model(torch.ones(2)).shape == (2,)
