"""The learner thought: all_reduce gives the largest."""

import torch
import torch.distributed as dist

MISCONCEPTION = "adds-up-the-largest"
TELL = "dist.all_reduce adds up, if nothing else is said: the largest of all is found by dist.ReduceOp.MAX."


def vocab_parallel_cross_entropy(scores, targets, first, group=None):
    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores):
            place = targets - first
            here = (place >= 0) & (place < scores.shape[1])
            place = place.where(here, 0)[:, None]
            largest = scores.amax(1)
            dist.all_reduce(largest, group=group)
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
