"""The ranks of a check share Python's secret for ``hash``, those of a launcher do not: a program that compared hashes
of bytes between ranks was right in every check, and wrong under torchrun."""

import pytest
import torch

from lockstep.checks.salt import hash_of_rank, salt
from lockstep.worlds import run


def hashes() -> tuple[int, ...]:
    salt(hashes)
    values = (b"bits", "text", ("text", 1), 7, (1.5, 2))
    return tuple(map(hash, values))


@pytest.mark.parametrize("on", ["laptop", "processes"])
def test_text_and_bytes_hash_otherwise_on_each_rank_and_numbers_alike(on: str) -> None:
    (*first_texts, seven, numbers), (*second_texts, seven_too, numbers_too) = run(hashes, ranks=2, on=on).values
    assert all(a != b for a, b in zip(first_texts, second_texts, strict=True))
    assert (seven, numbers) == (seven_too, numbers_too) == (hash(7), hash((1.5, 2)))


def test_what_has_no_globals_is_left_alone() -> None:
    salt(torch.add)
    assert hash_of_rank.__globals__.get("hash") is None
