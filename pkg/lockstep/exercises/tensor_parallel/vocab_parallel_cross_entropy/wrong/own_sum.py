"""The learner thought: each rank has its part of the softmax."""

import torch
import torch.distributed as dist

MISCONCEPTION = "own-sum"
TELL = "Each rank divides by the sum of its own tokens. The sum is over all tokens: add up all ranks' sums."


def vocab_parallel_cross_entropy(scores, targets, first, group=None):
    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores):
            place = targets - first
            here = (place >= 0) & (place < scores.shape[1])
            place = place.where(here, 0)[:, None]
            largest = scores.amax(1)
            dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
            z = scores - largest[:, None]
            target = z.gather(1, place)[:, 0].where(here, 0)
            dist.all_reduce(target, group=group)
            total = z.exp().sum(1)
            ctx.save_for_backward(z.exp() / total[:, None], place, here)
            return (total.log() - target).mean()

        @staticmethod
        def backward(ctx, dy):
            softmax, place, here = ctx.saved_tensors
            gradient = softmax.scatter_add(1, place, -here[:, None].to(softmax.dtype))
            return gradient * dy / len(gradient)

    return Loss.apply(scores)
