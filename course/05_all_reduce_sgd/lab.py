# %% [markdown] lab="readonly title"
# # Lab 05: All-reduce SGD
#
# You write data-parallel training: Algorithm 1 of the lesson, the data that each rank gets, and an all-reduce that hides
# behind the backward pass. And you catch a rank that has gone its own way, though its loss looks healthy.
#
# [The lesson](../../course/05_all_reduce_sgd/lesson.ipynb) explains what you need. Each exercise names its section.

# %% [markdown] lab="readonly how"
# ## How to work
#
# Write each function in its cell, in place of `raise NotImplementedError()`. Run the cell below it: it runs your
# function (a distributed one on 1 to 8 ranks of a virtual cluster). It looks at the results *and* at what was sent,
# and says what it saw. Try as often as you like. Each exercise has three folded hints. A program that hangs is stopped.
#
# **Groups.** `group` is a process group; `None` means all ranks. Only the ranks of the group call your function. Hand
# `group` on to each call: `dist.get_rank(group)`, `dist.get_world_size(group)`, `dist.all_reduce(x, group=group)`. "Each
# rank" below means each rank of the group, and K is the number of ranks in it.
#
# **One rank.** K may be 1. Then there is nobody to talk to, and what you return is still right.
#
# **Wait** for everything that `async_op=True` returns before you use the tensor again.
#
# **Your arguments stay as they are**, unless the text says otherwise: values, order, `requires_grad`, `.grad`, hooks.
# What you return is new: whoever changes it later must not change them.

# %% lab="readonly imports"
import hashlib
import math
import random
import zlib

import torch
import torch.distributed as dist

from lockstep import check, run

# %% [markdown] lab="readonly about-replicas_agree"
# ## 1. Do the replicas agree? ({minutes} minutes, {points} points)
#
# One of eight ranks has trained a model of its own for 300 steps, and nobody has noticed. Find out whether all ranks have
# the same model, as cheaply as you can. (Section 3 of the lesson.)
#
# - **You get** `parameters`, the list of this rank's tensors. They are float32 or float64 and have any shape, `()` too;
#   some are not contiguous. Each rank has as many tensors as the others, with the same shapes and dtypes in the same order.
# - **You return** a `bool`, the same on every rank: `True` if all ranks hold the same bits in the same places, `False` if
#   any bit of any rank differs.
# - **You may use** `dist.all_reduce` with the sum, `op=dist.ReduceOp.MIN` or `op=dist.ReduceOp.MAX`, and any function of
#   Python, `hashlib`, `zlib` or `torch` that works on this rank's own tensors.
# - **It may cost** one all-reduce of two numbers, 16 bytes.
#
# Bits count: 0.0 and −0.0 differ, and a NaN agrees with the same NaN. Two elements that have swapped places are a
# difference, and so are two changes that cancel in a sum. You may rely on a fingerprint of 32 bits or more that mixes
# all bits. Each rank is a Python process of its own.

# %% [markdown] lab="hint replicas_agree"
# Three ranks have each made one number out of their parameters: 5, 7 and 5. They all-reduce it. From which result
# can *each* of them tell that somebody differs: from the sum, the smallest, the largest? Try 5, 6 and 7 as well.
#
# ---
#
# Two steps. First, make one whole number of all bits of this rank: a fingerprint. Then compare: all fingerprints are equal
# exactly if the largest equals the smallest. One all-reduce by MAX gives the largest of h, and with −h beside it the
# smallest too. The trap is the fingerprint: a sum doesn't see elements that have swapped places, a float rounds, and
# Python's `hash` of bytes has a different secret in each process.
#
# ---
#
# ```python
# digest = hashlib.sha256()
# for parameter in parameters:
#     digest.update(...)  # its bytes, element after element: .contiguous(), .view(-1), .view(torch.uint8), .numpy()
# fingerprint = int.from_bytes(digest.digest()[:7], "big")  # less than 2^56: an int64 holds it, and its negative
# both = torch.tensor([...])
# dist.all_reduce(both, op=..., group=group)
# return ...
# ```
#
# The check tells you which difference no rank saw, and which ranks gave a different answer from the others.


# %% lab="answer replicas_agree"
def replicas_agree(parameters, group=None):
    """Whether all ranks of the group hold the same bits: the same answer on every rank."""
    ### BEGIN SOLUTION
    digest = hashlib.sha256()
    for parameter in parameters:
        digest.update(parameter.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
    fingerprint = int.from_bytes(digest.digest()[:7], "big")
    extremes = torch.tensor([fingerprint, -fingerprint], device=parameters[0].device)
    dist.all_reduce(extremes, op=dist.ReduceOp.MAX, group=group)
    largest, smallest = extremes[0].item(), -extremes[1].item()
    return largest == smallest
    ### END SOLUTION


# %% lab="tests replicas_agree"
check("all_reduce_sgd.replicas_agree", replicas_agree)

# %% [markdown] lab="readonly about-all_reduce_sgd"
# ## 2. Algorithm 1 ({minutes} minutes, {points} points)
#
# K ranks train one model, each on examples of its own, and stay in lockstep. (Section 2 of the lesson.)
#
# - **You get** `gradient`, `w`, `batches` and `alpha`. `gradient(w, x, y)` is the **mean** gradient of the loss over the
#   examples `x, y`, a new tensor like `w`. `w` is the start w₀, a float64 tensor, the same on every rank. `batches` is
#   this rank's list of T ≥ 1 pairs `(x, y)`, one for each step. Each holds B′ examples, as many as on every other rank.
#   `alpha(t)` is the learning rate of step t = 1, 2, …, T.
# - **You return** w_T on every rank: what one rank alone would reach, if the batch of its step t were the K batches of
#   step t put together, K·B′ examples. A step is w_t = w_{t−1} − α(t) · (mean gradient at w_{t−1}).
# - **You may use** `dist.all_reduce`.
# - **It may cost** T all-reduces of as many numbers as `w` has.
#
# Steps are counted from 1. `w` stays as it was: the caller may start from it again.

# %% [markdown] lab="hint all_reduce_sgd"
# Take two ranks, one example each, one parameter. The gradients are 2 and 4. What is the mean gradient over both examples?
# What does the all-reduce give you?
#
# ---
#
# In each step: the gradient of this rank's batch at the *current* w, the sum over the ranks, the mean, the update. All
# ranks begin with the same w and subtract the same number, so nothing else needs to travel. The traps: the sum in place
# of the mean, a `range` that begins with 0, and `w -= …`, which changes the caller's tensor.
#
# ---
#
# ```python
# K = dist.get_world_size(group)
# for t, (x, y) in enumerate(batches, start=...):
#     g = gradient(...)
#     dist.all_reduce(g, group=group)
#     w = ...
# return w
# ```
#
# The check compares w_T on every rank with the run on one rank, and counts what travelled.


# %% lab="answer all_reduce_sgd"
def all_reduce_sgd(gradient, w, batches, alpha, group=None):
    """The parameters after one step of SGD for each of this rank's batches, the same on every rank of the group."""
    ### BEGIN SOLUTION
    M = dist.get_world_size(group)
    for t, (x, y) in enumerate(batches, start=1):
        G = gradient(w, x, y)
        dist.all_reduce(G, group=group)
        w = w - alpha(t) / M * G
    return w
    ### END SOLUTION


# %% lab="tests all_reduce_sgd"
check("all_reduce_sgd.all_reduce_sgd", all_reduce_sgd)

# %% [markdown] lab="readonly about-partition"
# ## 3. Who gets which examples? ({minutes} minutes, {points} points)
#
# In each epoch the ranks share out the data set anew, without a word to each other. (Section 4 of the lesson.)
#
# - **You get** `dataset`, a list of any length, its items of any kind; `rank`, 0 to `ranks` − 1; `ranks`; and `epoch`,
#   which counts from 0.
# - **You return** the list of this rank's examples in this epoch, items of `dataset`, in the order in which it trains on
#   them. The calls of all ranks with the same `ranks` and `epoch` must fit together:
#     1. each example is on exactly one rank, exactly once;
#     2. the longest and the shortest list differ by one example at most;
#     3. all examples are shuffled before they are dealt out, in epoch 0 too: any example may end up on any rank, and in
#        any place of its list;
#     4. each epoch is shuffled anew, both ranks and places: rotating the order of the epoch before is not enough, nor
#        is handing its lists on to other ranks.
# - **You may use** any source of random numbers in Python, `torch` or NumPy, but no communication. The same call gives
#   the same list at any time, in every process and on every machine.
# - **It may cost** the program nothing: the random numbers that it draws afterwards are those that it would have drawn
#   without your call.
#
# There may be fewer examples than ranks. `dataset` stays as it was.

# %% [markdown] lab="hint partition"
# Seven examples, three ranks. Write down who gets what in epoch 0, and again in epoch 1. What must the ranks agree on
# before they take their shares, if nobody may talk?
#
# ---
#
# All ranks shuffle the whole list *in the same way*, each for itself; then each takes its own part of it. A shuffle is
# the same everywhere if its seed is. The trap is the seed: one that contains the rank makes lists that don't fit
# together, one without the epoch makes the same lists for ever. And seeding the program's own generator changes what
# the program draws next.
#
# ---
#
# ```python
# generator = ...  # a new one, of your own: what does its seed depend on?
# order = list(range(len(dataset)))
# generator.shuffle(order)
# return ...  # of the shuffled places, those of this rank
# ```
#
# The check tells you which of the four rules your lists break, and for how many examples, ranks and epochs.


# %% lab="answer partition"
def partition(dataset, rank, ranks, epoch):
    """This rank's examples of this epoch."""
    ### BEGIN SOLUTION
    order = list(range(len(dataset)))
    random.Random(epoch).shuffle(order)
    return [dataset[i] for i in order[rank::ranks]]
    ### END SOLUTION


# %% lab="tests partition"
check("all_reduce_sgd.partition", partition)

# %% [markdown] lab="readonly about-bucketed_ddp"
# ## 4. Hide the all-reduce behind the backward pass ({minutes} minutes, {points} points)
#
# The gradients of the last layers are ready long before those of the first. Send them while the others are computed.
# (Section 5 of the lesson.)
#
# - **You get** `model`, this rank's replica: its parameters are float32, the same on every rank, and every `.grad` is
#   `None`. `model(batch)` is the loss of this rank's `batch`, a scalar. `bucket_bytes` is the size of a bucket.
# - **You return** the list of the gradients, one for each parameter, in the order of `model.parameters()`. Each is the
#   **mean** over the ranks. What `.grad` holds afterwards does not matter.
# - **You may use** one forward and one backward pass, `dist.all_reduce` with `async_op=True`, and
#   `p.register_post_accumulate_grad_hook(f)`: the backward pass calls `f(p)` as soon as `p.grad` is complete.
#   Remove your hooks afterwards: it returns a handle with `remove()`. `DistributedDataParallel` is what you write here.
# - **It may cost** at most 2·N/`bucket_bytes` + 1 all-reduces, where all gradients together have N bytes, and each
#   gradient travels once. Each bucket is under way while the backward pass works on earlier layers: post it as soon as its
#   gradients are complete, or at the latest with the next gradient. The last bucket takes what is left, if anything.
#
# A bucket takes whole gradients, last layers first. Close it when it holds `bucket_bytes` or more, or before the
# gradient that would take it over `bucket_bytes`: either rule is right. `model.parameters()` lists the layers in the
# order of the forward pass. Every parameter gets a gradient. A parameter may be used twice.

# %% [markdown] lab="hint bucketed_ddp"
# Draw two lanes for one rank: its processor, and its link. Into the first go the backward passes of layers 4, 3, 2, 1. Each
# layer is a bucket. When may each all-reduce begin? Which one has nothing left to hide behind?
#
# ---
#
# Put a hook on every parameter. It is called with the parameter whose gradient has just been completed: last layers first,
# in the same order on every rank. Collect parameters until they fill a bucket. Then copy their gradients into one flat
# tensor, start its all-reduce, remember all three, and go on. After `backward()`: send what is left, wait, divide, and cut
# the flat tensors into gradients again. The trap: whoever waits for a bucket at once hides nothing.
#
# ---
#
# ```python
# bucket, under_way = [], []
#
# def launch():
#     flat = ...
#     under_way.append((list(bucket), flat, ...))
#     bucket.clear()
#
# def ready(parameter):
#     bucket.append(parameter)
#     if ...:
#         launch()
#
# hooks = [p.register_post_accumulate_grad_hook(ready) for p in model.parameters()]
# model(batch).backward()
# ...  # the last bucket
# for parameters, flat, work in under_way:
#     work.wait()
#     ...  # the pieces of flat, with the shapes of the parameters
# for hook in hooks:
#     hook.remove()
# return ...
# ```
#
# The check counts the all-reduces and their bytes, and tells you whether they were under way during the backward pass.


# %% lab="answer bucketed_ddp"
def bucketed_ddp(model, batch, bucket_bytes, group=None):
    """The gradients, each the mean over the ranks of the group, in the order of model.parameters()."""
    ### BEGIN SOLUTION
    K = dist.get_world_size(group)
    bucket, launched = [], []

    def launch():
        flat = torch.cat([p.grad.view(-1) for p in bucket])
        launched.append((list(bucket), flat, dist.all_reduce(flat, group=group, async_op=True)))
        bucket.clear()

    def ready(p):
        bucket.append(p)
        if sum(q.grad.nbytes for q in bucket) >= bucket_bytes:
            launch()

    hooks = [p.register_post_accumulate_grad_hook(ready) for p in model.parameters()]
    model(batch).backward()
    if bucket:
        launch()
    for members, flat, work in launched:
        work.wait()
        for p, mean in zip(members, (flat / K).split([p.numel() for p in members]), strict=True):
            p.grad = mean.view_as(p)
    for hook in hooks:
        hook.remove()
    return [p.grad for p in model.parameters()]
    ### END SOLUTION


# %% lab="tests bucketed_ddp"
check("all_reduce_sgd.bucketed_ddp", bucketed_ddp)

# %% [markdown] lab="readonly about-smallest_batch_that_hides"
# ## 5. How large must a batch be? ({minutes} minutes, {points} points)
#
# An all-reduce takes as long for one example as for a thousand. From what batch size on can it hide? (Section 5 of the
# lesson.)
#
# - **You get** `flops`, the floating-point operations of the backward pass for **one** example; `nbytes`, the bytes of
#   all gradients; the number of `ranks` K; `alpha` in seconds a message and `beta` in seconds a byte; and `rate`, the
#   floating-point operations that a rank does in a second.
# - **You return** an `int`, at least 1: the smallest number of examples **on each rank** whose backward pass takes at
#   least as long as the ring all-reduce of all gradients. Equally long is long enough.
# - **You may use** arithmetic: nothing runs, nothing is sent.
# - **It may cost** nothing.
#
# By the alpha-beta model, the ring takes 2(K−1)·α + 2(K−1)/K·n·β seconds for n bytes. The backward pass takes its
# operations divided by `rate`.

# %% [markdown] lab="hint smallest_batch_that_hides"
# Draw seconds over the batch size: one line for the backward pass, one for the all-reduce. Which of them is level? Where do
# they cross?
#
# ---
#
# The backward pass of b examples takes b·`flops`/`rate` seconds. Set it equal to the time of the ring, solve for b, and
# round. In which direction? And what comes out for one rank?
#
# ---
#
# ```python
# all_reduce = ...
# one_example = flops / rate
# return max(..., math.ceil(...))
# ```
#
# The check tells you for which numbers you are off, and what the right batch is for them.


# %% lab="answer smallest_batch_that_hides"
def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    """The smallest batch of a rank whose backward pass lasts at least as long as the all-reduce of its gradients."""
    ### BEGIN SOLUTION
    all_reduce = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    return max(1, math.ceil(all_reduce * rate / flops))
    ### END SOLUTION


# %% lab="tests smallest_batch_that_hides"
check("all_reduce_sgd.smallest_batch_that_hides", smallest_batch_that_hides)

# %% [markdown] lab="readonly about-confirm"
# **Is it so?** Eight ranks, each with a V100 on a node of its own, train eight equal layers in virtual time. Together they
# have about as many gradients and operations as ResNet-50. The table tries your batch, one example fewer, half and twice
# as many. *Exposed* is how long a rank stands still after its backward pass. The all-reduce of the first layer always is:
# nothing is left to hide it. From the right batch on, nothing else is.

# %% lab="readonly confirm"
from lockstep.experiments.all_reduce_sgd.hiding import confirm

confirm(smallest_batch_that_hides)

# %% [markdown] lab="readonly extra"
# ## Extra
#
# What follows is for those who want more. The cells of each exercise are folded: open them by the button below
# its text. The grade rests on the exercises above; the points of these are yours alone, in `lockstep progress`.

# %% [markdown] lab="readonly about-mend_mean_of_means"
# ## 6. Mend: the mean of means ({minutes} minutes, {points} points)
#
# The last batch of an epoch is rarely full, and not on every rank. This program takes the mean over the ranks of each
# rank's mean. Mend it. (Section 3 of the lesson.)
#
# - **You get** `values`, a float64 tensor of n rows and C columns. C is the same on every rank, n is not. It may be 0
#   on some ranks, but not on all.
# - **You return** on every rank the mean over all rows of all ranks: C numbers.
# - **You may use** `dist.all_reduce`.
# - **It may cost** one all-reduce of C + 1 numbers.


# %% lab="given mend_mean_of_means"
def mend_mean_of_means(values, group=None):
    """The mean over all rows of all ranks, on every rank."""
    mean = values.mean(dim=0)
    dist.all_reduce(mean, group=group)
    return mean / dist.get_world_size(group)


# %% lab="answer mend_mean_of_means"
### BEGIN SOLUTION
def mend_mean_of_means(values, group=None):
    """The mean over all rows of all ranks, on every rank."""
    sums = torch.cat([values.sum(dim=0), values.new_tensor([len(values)])])
    dist.all_reduce(sums, group=group)
    return sums[:-1] / sums[-1]


### END SOLUTION

# %% lab="tests mend_mean_of_means"
check("all_reduce_sgd.mend_mean_of_means", mend_mean_of_means)

# %% [markdown] lab="readonly about-sync_batch_norm"
# ## 7. Batch normalisation over all ranks ({minutes} minutes, {points} points)
#
# Batch norm mixes the examples of a batch, so K ranks with K small batches don't compute what one rank with the large
# batch computes, unless they share the statistics. (Section 3 of the lesson.)
#
# - **You get** `x`, a float64 tensor of n rows and C columns, and `eps`. C is the same on every rank, n is not. It may
#   be 0 on some ranks, but not on all.
# - **You return** this rank's rows, normalised: (x − μ) / √(σ² + `eps`). For each column, μ is the mean over all rows of
#   all ranks, and σ² is the biased variance: the mean of the squared distances from μ.
# - **You may use** `dist.all_reduce`.
# - **It may cost** one all-reduce of 2·C + 1 numbers.


# %% lab="answer sync_batch_norm"
def sync_batch_norm(x, eps, group=None):
    """The rows of x, normalised by mean and biased variance of the rows of all ranks of the group."""
    ### BEGIN SOLUTION
    sums = torch.cat([x.sum(dim=0), (x * x).sum(dim=0), x.new_tensor([len(x)])])
    dist.all_reduce(sums, group=group)
    C = x.shape[1]
    mean, mean_of_squares = sums[:C] / sums[-1], sums[C:-1] / sums[-1]
    return (x - mean) / (mean_of_squares - mean * mean + eps).sqrt()
    ### END SOLUTION


# %% lab="tests sync_batch_norm"
check("all_reduce_sgd.sync_batch_norm", sync_batch_norm)

# %% [markdown] lab="readonly about-bucket_bytes"
# ## 8. How large should a bucket be? ({minutes} minutes, {points} points)
#
# Small buckets start early, large ones pay α less often. (Section 5 of the lesson.)
#
# - **You get** `gradients`, a list of pairs `(seconds, nbytes)`, last layer first: the gradient is ready `seconds`
#   after the beginning of the backward pass, and it has `nbytes` bytes. Then the number of `ranks` K, `alpha` in
#   seconds a message, and `beta` in seconds a byte.
# - **You return** an `int`: the bucket size in bytes, at least 1, with which the step ends soonest. At most 2 % later
#   than with the best size is good enough.
# - **You may use** arithmetic: nothing runs, nothing is sent.
# - **It may cost** nothing.
#
# Gradients go into buckets in the order of the list. The gradient that brings a bucket up to the bucket size, or over
# it, closes it; the last bucket takes what is left. A bucket's all-reduce begins when its last gradient is ready and
# the all-reduce before it has ended. It takes 2(K−1)·α + 2(K−1)/K·n·β seconds for n bytes. The step ends with the last
# one.


# %% lab="answer bucket_bytes"
def bucket_bytes(gradients, ranks, alpha, beta):
    """The bucket size in bytes with which the step ends soonest."""

    ### BEGIN SOLUTION
    def step_seconds(size):
        end, held = 0.0, 0
        for n, (ready, nbytes) in enumerate(gradients, start=1):
            held += nbytes
            if held >= size or n == len(gradients):
                end = max(end, ready) + 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * held * beta
                held = 0
        return end

    sizes = [nbytes for _, nbytes in gradients]
    sums = {sum(sizes[i:j]) for i in range(len(sizes)) for j in range(i + 1, len(sizes) + 1)}
    return min(sums, key=step_seconds)
    ### END SOLUTION


# %% lab="tests bucket_bytes"
check("all_reduce_sgd.bucket_bytes", bucket_bytes)

# %% [markdown] lab="readonly about-backup_workers"
# ## 9. Backup workers ({minutes} minutes, {points} points)
#
# A step waits for the slowest machine. With b backup workers it does not wait for the slowest b, and throws their
# gradients away. (Section 7 of the lesson.)
#
# - **You get** `seconds`, a list of lists: `seconds[t][m]` is how long machine m took in step t. There are N machines,
#   the same number in each step.
# - **You return** b, from 0 to N − 1: the number of backup workers with which the most gradients a second were used,
#   over all steps together. If several numbers are equally good, return the smallest of them.
# - **You may use** arithmetic: nothing runs, nothing is sent.
# - **It may cost** nothing.
#
# A step with b backup workers ends when all but its slowest b machines are done, and uses N − b gradients. The slowest
# may be different ones in each step. All machines begin the next step together.


# %% lab="answer backup_workers"
def backup_workers(seconds):
    """The number of backup workers with which the most gradients a second are used."""
    ### BEGIN SOLUTION
    N = len(seconds[0])

    def gradients_per_second(b):
        return len(seconds) * (N - b) / sum(sorted(step)[N - b - 1] for step in seconds)

    return max(range(N), key=gradients_per_second)
    ### END SOLUTION


# %% lab="tests backup_workers"
check("all_reduce_sgd.backup_workers", backup_workers)

# %% [markdown] lab="readonly about-find_straggler"
# ## 10. Find the straggler ({minutes} minutes, {points} points)
#
# Every step takes longer than it should, on all ranks. Which of them do you look at first? (Section 7 of the lesson.)
#
# - **You get** `trace`, what `run(...)` has recorded of a training run on `trace.ranks` ranks. In each step every rank
#   computes and then joins one all-reduce. `trace.of_rank(r)` are the events of rank r, in their order. Each has a
#   `kind` (`"compute"` or `"all_reduce"`), `posted` (when the rank asked for it), `start` and `end`, and `wait`: how
#   long the rank stood still for it, all in seconds. `message` is a number that is the same on all ranks for the same
#   all-reduce.
# - **You return** an `int`: the rank for which the others wait longest, over all steps together. In each all-reduce they
#   wait for the rank that comes last, each of them from when it has come itself.
# - **You may use** arithmetic: nothing runs, nothing is sent.
# - **It may cost** nothing.
#
# It need not be the rank that computes longest: nobody may wait for that work. Nor need it be the one that is late in a
# single step, that is last most often, or that waits least itself.


# %% lab="answer find_straggler"
def find_straggler(trace):
    """The rank for which the others wait longest."""
    ### BEGIN SOLUTION
    return min(range(trace.ranks), key=lambda rank: sum(event.wait for event in trace.of_rank(rank)))
    ### END SOLUTION


# %% lab="tests find_straggler"
check("all_reduce_sgd.find_straggler", find_straggler)

# %% [markdown] lab="readonly ddp"
# ## The same with torch's DDP
#
# Professionals don't write `bucketed_ddp`: torch's `DistributedDataParallel` is one line. Here four ranks train a small
# network on handwritten digits twice, from the same start and with the same shares. First with `partition` and
# `bucketed_ddp` (the library's; yours do the same), then with DDP. Compare the losses of rank 0, step by step.
#
# torch's `DistributedSampler` is the professionals' `partition`. It repeats some examples where the number of ranks
# doesn't divide that of examples, and it shuffles anew only if you call `set_epoch(epoch)` before each epoch.

# %% lab="readonly digits"
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from lockstep.data_parallel.ddp import bucketed_ddp as library_bucketed_ddp
from lockstep.data_parallel.sampler import partition as library_partition
from lockstep.datasets import digits_split
from lockstep.models import small_convnet

(x, y), _ = digits_split()


class Digits(nn.Module):
    """Called with the numbers of some examples, it returns their mean loss, and keeps it."""

    def __init__(self):
        super().__init__()
        self.scores, self.losses = small_convnet(), []

    def forward(self, batch):
        loss = cross_entropy(self.scores(x[batch]), y[batch])
        self.losses.append(loss.item())
        return loss


def batches(epochs=3, size=32):
    for epoch in range(epochs):
        mine = library_partition(list(range(len(x))), dist.get_rank(), dist.get_world_size(), epoch)
        yield from (mine[n : n + size] for n in range(0, len(mine), size))


# %% lab="readonly by-hand-and-ddp"
def by_hand():
    model = Digits()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    for batch in batches():
        gradients = library_bucketed_ddp(model, batch, bucket_bytes=4_000)
        for parameter, gradient in zip(model.parameters(), gradients, strict=True):
            parameter.grad = gradient
        optimizer.step()
        optimizer.zero_grad()
    return model.losses


def with_ddp():
    model = DistributedDataParallel(Digits())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    for batch in batches():
        model(batch).backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.module.losses


ours, theirs = (run(training, ranks=4, on="virtual").values[0] for training in (by_hand, with_ddp))
for step in range(0, len(ours), 5):
    print(f"step {step + 1:2}: by hand {ours[step]:.6f}, with DDP {theirs[step]:.6f}")
print("largest difference of all steps:", max(abs(a - b) for a, b in zip(ours, theirs, strict=True)))

# %% [markdown] lab="readonly where-next"
# ## Where to go from here
#
# Run your `bucketed_ddp` on the real processes of this machine: `check("all_reduce_sgd.bucketed_ddp", bucketed_ddp,
# on="processes")`. The library's `BucketedDDP`, in `pkg/lockstep/data_parallel/ddp.py`, is the same as a module that wraps
# any model. `lockstep bench ddp` times it beside torch's.
