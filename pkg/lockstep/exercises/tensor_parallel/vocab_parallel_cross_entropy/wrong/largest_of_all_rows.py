"""The learner thought: one number is subtracted from all scores."""

import torch
import torch.distributed as dist

MISCONCEPTION = "largest-of-all-rows"
TELL = (
    "You subtract the largest score of all rows. In a row whose scores are far below it, exp is zero "
    "everywhere: each row needs its own largest."
)


def vocab_parallel_cross_entropy(scores, targets, first, group=None):
    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores):
            place = targets - first
            here = (place >= 0) & (place < scores.shape[1])
            place = place.where(here, 0)[:, None]
            largest = scores.amax().expand(len(scores)).clone()
            dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
            z = scores - largest[:, None]
            target = z.gather(1, place)[:, 0].where(here, 0)
            dist.all_reduce(target, group=group)
            total = z.exp().sum(1)
            dist.all_reduce(total, group=group)
            ctx.save_for_backward(z.exp() / total[:, None], place, here)
            return (total.log() - target).mean()

        @staticmethod
        def backward(ctx, dy):
            softmax, place, here = ctx.saved_tensors
            gradient = softmax.scatter_add(1, place, -here[:, None].to(softmax.dtype))
            return gradient * dy / len(gradient)

    return Loss.apply(scores)
