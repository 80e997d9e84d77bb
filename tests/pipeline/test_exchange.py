"""The exchange of 1F1B: what hangs without buffers, and what does not under any rules."""

import pytest
import torch
import torch.distributed as dist

from lockstep.comm.backend_rules import NCCL, RENDEZVOUS, STRICT, Rules
from lockstep.errors import Deadlock
from lockstep.exercises.pipeline.noted_passes import Passes, results_of
from lockstep.pipeline.blocking_messages import mend_one_f_one_b_exchange, one_f_one_b_exchange
from lockstep.worlds import run

SHAPE = (2, 3)


def exchanged(fn, micro_batches: int) -> list[torch.Tensor]:
    passes = Passes(dist.get_rank(), dist.get_world_size(), SHAPE)
    return fn(passes.forward, passes.backward, micro_batches, SHAPE)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rules", [RENDEZVOUS, STRICT], ids=str)
@pytest.mark.parametrize(("p", "m"), [(1, 2), (2, 3), (3, 2), (4, 6), (5, 1)])
def test_the_mended_one_ends_under_all_rules(p: int, m: int, rules: Rules) -> None:
    values = run(exchanged, mend_one_f_one_b_exchange, m, ranks=p, on="dgx-a100", rules=rules).values
    for found, wanted in zip(values, results_of(p, m, SHAPE), strict=True):
        assert torch.equal(torch.stack(found), torch.stack(wanted))


def test_the_given_one_hangs_unless_buffers_hide_it() -> None:
    with pytest.raises(Deadlock):
        run(exchanged, one_f_one_b_exchange, 3, ranks=2, on="dgx-a100")
    values = run(exchanged, one_f_one_b_exchange, 3, ranks=2, on="dgx-a100", rules=NCCL).values
    assert torch.equal(torch.stack(values[0]), torch.stack(results_of(2, 3, SHAPE)[0]))


def test_a_pass_that_is_given_nothing_says_what_it_wants() -> None:
    with pytest.raises(TypeError, match=r"forward\(i, x\) wants a tensor of shape \(2, 3\) here, not None"):
        Passes(1, 2, SHAPE).forward(0, None)
    first = Passes(0, 2, SHAPE)
    with pytest.raises(ValueError, match=r"backward\(0, dy\) wants what forward\(0, x\) has kept"):
        first.backward(0, torch.zeros(SHAPE))
    first.forward(0, None)
    with pytest.raises(TypeError, match=r"backward\(i, dy\) wants .* not a tensor of shape \(3,\)"):
        first.backward(0, torch.zeros(3))


def test_forward_keeps_x_itself() -> None:
    """One tensor to receive into for all micro-batches: what is kept changes. That passed: nobody looked."""
    stage, buffer = Passes(1, 2, SHAPE), torch.zeros(SHAPE)
    stage.forward(0, buffer)
    before = stage.backward(0, None)
    buffer += 1
    assert not torch.equal(stage.backward(0, None), before)
