"""The learner thought: the largest of the row is at least 0."""

import torch
import torch.distributed as dist

MISCONCEPTION = "begins-at-zero"
TELL = "Your largest number is never below 0. Where all scores of a row are near −10⁴, exp of them is zero: subtract the largest of the row itself."


def vocab_parallel_cross_entropy(scores, targets, first, group=None):
    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores):
            largest = scores.max(1).values.clamp(min=0)
            dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
            z = scores - largest[:, None]
            here = (targets >= first) & (targets < first + scores.shape[1])
            place = (targets - first).where(here, torch.zeros_like(targets))
            target = z.gather(1, place[:, None])[:, 0].where(here, z.new_zeros(()))
            dist.all_reduce(target, group=group)
            total = z.exp().sum(1)
            dist.all_reduce(total, group=group)
            ctx.save_for_backward(z.exp() / total[:, None], here, place)
            return (total.log() - target).mean()

        @staticmethod
        def backward(ctx, dl):
            softmax, here, place = ctx.saved_tensors
            softmax = softmax.clone()
            softmax[torch.arange(len(softmax)), place] -= here.to(softmax.dtype)
            return softmax * dl / len(softmax)

    return Loss.apply(scores)
