"""What can be read from what a rank hands to its all-reduces."""

import pickle

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep import run
from lockstep.exercises.without_waiting.leaks import (
    MaskThere,
    large_numbers,
    observed,
    shown,
    told_elsewhere,
)
from lockstep.without_waiting.mask import M, Mask

OWN = torch.tensor([5, M - 1, 77])
MASK, OTHER = Mask((3,))(1), Mask((3,))(2)
HIDDEN = (OWN + MASK) % M

READ: dict[str, list[Tensor]] = {
    "as it is": [OWN],
    "as floats": [OWN.double()],
    "one element of it": [torch.cat([HIDDEN[:2], OWN[2:]])],
    "with its mask in a second one": [HIDDEN, MASK],
    "with its mask beside it": [torch.cat([HIDDEN, MASK])],
    "taken off its mask": [(MASK + OWN) % M, MASK - M],
}


@pytest.mark.parametrize("handed", READ.values(), ids=READ)
def test_a_value_that_can_be_read_is_told(handed: list[Tensor]) -> None:
    assert (shown(OWN, handed, [MASK], M) or ("",))[0] == "shows-value"


def test_the_same_number_added_to_all_elements_hides_no_differences() -> None:
    assert (shown(OWN, [(OWN + 12345) % M], [MASK], M) or ("",))[0] == "same-for-all-elements"


def test_what_is_hidden_is_not_told() -> None:
    for handed in ([HIDDEN], [(OWN - MASK + OTHER) % M], [OWN + MASK]):
        assert shown(OWN, handed, [MASK], M) is None


def test_a_mask_that_is_missing_is_told() -> None:
    """Whoever shares the other one could take it off."""
    for handed in (HIDDEN, (OWN - OTHER) % M):
        assert (shown(OWN, [handed], [MASK, OTHER], M) or ("",))[0] == "too-few-masks"
    assert shown(OWN, [(OWN + MASK - OTHER) % M], [MASK, OTHER], M) is None


def test_who_hands_over_nothing_has_not_added_up_by_an_all_reduce() -> None:
    assert (shown(OWN, [], [MASK], M) or ("",))[0] == "no-all-reduce"


def twice(x: Tensor) -> list[list[float]]:
    def program(x: Tensor) -> None:
        dist.all_reduce(x)
        dist.all_reduce(x * 10, async_op=True).wait()

    _, handed = observed(program, (x.clone() + dist.get_rank(),))
    return [tensor.tolist() for tensor in handed["reduced"]]


@pytest.mark.parametrize("on", ["processes", "dgx-a100"])
def test_what_is_handed_over_is_seen_as_it_was_then(on: str) -> None:
    assert run(twice, torch.ones(1), ranks=2, on=on).values == [[[1.0], [30.0]], [[2.0], [30.0]]]


def test_masks_are_made_where_the_value_is() -> None:
    assert MaskThere((3,)).to("meta")(1).device.type == "meta"
    assert torch.equal(MaskThere((3,))(1), MASK)


SECRET = 3_000_000_019


@pytest.mark.parametrize("printed", [f"value [{SECRET}, 1]", f"{SECRET:x}", f"0x{SECRET:X}"])
def test_a_secret_that_is_printed_is_told(printed: str) -> None:
    assert (told_elsewhere([SECRET], [], printed, 0) or ("",))[0] == "prints-secrets"


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64, torch.float32])
def test_a_secret_that_is_sent_is_told(dtype: torch.dtype) -> None:
    assert (told_elsewhere([SECRET], [torch.tensor([1, SECRET]).to(dtype)], "", 0) or ("",))[0] == "sends-secrets"


def test_a_secret_in_a_pickle_is_told() -> None:
    sent = torch.tensor([*pickle.dumps({"secret": SECRET})], dtype=torch.uint8)
    assert (told_elsewhere([SECRET], [sent], "", 0) or ("",))[0] == "sends-secrets"


def test_what_leaves_without_a_secret_is_not_told() -> None:
    assert told_elsewhere([SECRET, 7], [torch.tensor([7, 12345]), torch.ones(3)], "7 elements, 12345", 0) is None


def test_words_and_small_numbers_are_no_large_numbers() -> None:
    """Who printed "added" was told that it prints large numbers: 0xadded is one."""
    assert large_numbers("rank 3 added a decade of masks, 12345 of them, face to face, in 1.2345678 s") == set()
    assert large_numbers("4294967295 or 0xfffffff0, and 3b9aca00") >= {4294967295, 0xFFFFFFF0, 10**9}
    assert 123456 in large_numbers("it is 123456")
