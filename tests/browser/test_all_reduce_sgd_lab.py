"""Unit 05's lab as a learner meets it: a bucket that nobody sends, a batch that is too small, and the table of a right
one."""

from __future__ import annotations

import pytest
from harness import Lab

pytestmark = pytest.mark.slow  # unit 04's lab, in `make test`, shows that feedback reaches a learner
LAB = "labs/05_all_reduce_sgd/lab.ipynb"

FORGETS_THE_LAST_BUCKET = """
def bucketed_ddp(model, batch, bucket_bytes, group=None):
    bucket, under_way = [], []

    def ready(parameter):
        bucket.append(parameter)
        if sum(p.grad.nbytes for p in bucket) >= bucket_bytes:
            flat = torch.cat([p.grad.flatten() for p in bucket]) / dist.get_world_size(group)
            under_way.append((list(bucket), flat, dist.all_reduce(flat, group=group, async_op=True)))
            bucket.clear()

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(ready)
    model(batch).backward()
    for parameters, flat, work in under_way:
        work.wait()
        for p, mean in zip(parameters, flat.split([p.numel() for p in parameters])):
            p.grad = mean.view_as(p)
    return [p.grad for p in model.parameters()]
"""
BATCH = """
def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    all_reduce = 2 * (ranks - 1) * (alpha + nbytes / ranks * beta)
    return {}
"""


def test_a_bucket_that_nobody_sends_is_told(prepared: Lab) -> None:
    assert "The last bucket" in prepared.answer("all_reduce_sgd.bucketed_ddp", FORGETS_THE_LAST_BUCKET)


def test_the_batch_is_tried_in_virtual_time_once_it_is_written(prepared: Lab) -> None:
    confirming = prepared.find("confirm(smallest_batch_that_hides)")
    function = "smallest_batch_that_hides"
    prepared.run(prepared.find(f"def {function}"))
    prepared.run(confirming)
    assert "once your function says one" in prepared.output(confirming).inner_text()
    assert "Round up" in prepared.answer(f"all_reduce_sgd.{function}", BATCH.format("int(all_reduce * rate / flops)"))
    assert "Right" in prepared.answer(
        f"all_reduce_sgd.{function}", BATCH.format("max(1, math.ceil(all_reduce * rate / flops))")
    )
    prepared.run(confirming, timeout=90)
    prepared.look(confirming, "lab-confirmed").locator("td", has_text="yes").first.wait_for()
