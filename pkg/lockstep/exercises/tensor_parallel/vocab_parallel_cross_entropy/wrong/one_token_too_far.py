"""The learner thought: tokens first to first + v are here."""

import torch
import torch.distributed as dist

MISCONCEPTION = "one-token-too-far"
TELL = "You have tokens first to first + v − 1. Token first + v is the next rank's: both of you say a score for it."


def vocab_parallel_cross_entropy(scores, targets, first, group=None):
    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores):
            largest = scores.max(1).values
            dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
            z = scores - largest[:, None]
            here = (targets >= first) & (targets <= first + scores.shape[1])
            place = (targets - first).clamp(0, scores.shape[1] - 1)
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
