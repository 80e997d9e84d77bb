"""The learner thought: a target that I don't have is clamped to one that I have."""

import torch
import torch.distributed as dist

MISCONCEPTION = "not-masked"
TELL = (
    "A target of another rank is clamped to one of your columns, and its score is added, too. Only the "
    "rank that has the target says its score; the others say 0."
)


def vocab_parallel_cross_entropy(scores, targets, first, group=None):
    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores):
            place = targets - first
            here = (place >= 0) & (place < scores.shape[1])
            place = place.clamp(0, scores.shape[1] - 1)[:, None]
            largest = scores.amax(1)
            dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
            z = scores - largest[:, None]
            target = z.gather(1, place)[:, 0]
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
