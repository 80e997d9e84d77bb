"""Messages of one channel are received in the order in which they were sent, whichever side comes first.

A matcher that gave a message to the receive that was posted last passed every test of the virtual cluster."""

import pytest
import torch
import torch.distributed as dist

from lockstep import run

MESSAGES = 3


def exchange(receives_first: bool) -> list[float] | None:
    """Rank 0 sends 1, 2, 3 to rank 1; whoever comes first has posted all three before the other begins."""
    mine = dist.get_rank() == 1
    if mine != receives_first:
        dist.barrier()
    tensors = [torch.zeros(1) if mine else torch.full((1,), n + 1.0) for n in range(MESSAGES)]
    works = [dist.irecv(tensor, 0) if mine else dist.isend(tensor, 1) for tensor in tensors]
    if mine == receives_first:
        dist.barrier()
    for work in works:
        assert work is not None
        work.wait()
    return [tensor.item() for tensor in tensors] if mine else None


@pytest.mark.parametrize("receives_first", [True, False], ids=["receives", "sends"])
@pytest.mark.parametrize("on", ["virtual", "processes"])
def test_whoever_waits_gets_its_messages_in_order(on: str, receives_first: bool) -> None:
    assert run(exchange, receives_first, ranks=2, on=on).values[1] == [1.0, 2.0, 3.0]
