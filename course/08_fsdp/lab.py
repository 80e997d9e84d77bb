# %% [markdown] lab="readonly title"
# # Lab 08: Fully sharded data parallel
#
# You train a model that no rank can hold: gather a layer, compute, let go. Then you hide all that travels behind
# computing, and make one training fit under five caps.
#
# [The lesson](../../course/08_fsdp/lesson.ipynb) explains what you need. Each exercise names its sections.

# %% [markdown] lab="readonly how"
# ## How to work
#
# Write each function in its cell, in place of `raise NotImplementedError()`. Run the cell below it: it runs your
# function (a distributed one on 1 to 8 ranks of a virtual cluster). It looks at the results, at what was sent, *and* at
# what each rank held, and says what it saw. Try as often as you like. Each of the first five exercises has three folded
# hints. A program that hangs is stopped.
#
# **Ranks.** K is the number of ranks of `group`, `dist.get_world_size(group)`, and r is this one's number in it,
# `dist.get_rank(group)`. `group=None` is all ranks. K may be 1. Hand `group` on to every call of `dist`, by its name:
# `group=group`.
#
# **Layers.** A model is a list of layers. Each takes all its parameters in one vector:
#
# - `layer.numel` is N, how many numbers its parameters hold. Layers may differ in N.
# - `layer.start()` is the vector to begin with: a new float32 tensor (N,), the same on every rank.
# - `layer(flat, x)` is the layer's output for the input `x`, with the parameters `flat` (N,). It keeps nothing.
#   Autograd tracks it: if `flat` requires a gradient, it gets one of shape (N,).
#
# The model's output is `x` after all layers, in order. Its loss is `F.mse_loss(output, y)`. Each rank has rows of its own,
# x and y, as many as every other rank. So the gradient of the whole batch is the **mean** of the ranks' gradients.

# %% [markdown] lab="readonly shards"
# **Shards.** The K shards of a layer have n = ⌈N/K⌉ numbers each: rank r has those from r·n to (r + 1)·n − 1. Where K does
# not divide N, zeros follow the vector, so that every shard has n numbers. This **padding** is 0 in shards of gradients,
# too. A layer may have fewer numbers than there are ranks: then some shards are nothing but padding. Here N = 7, K = 4
# and n = 2, and the shards are those of ranks 0, 1, 2, 3:
#
# ```
# flat    │ w0 w1 w2 w3 w4 w5 w6 │ 0
# shards  │ w0 w1 │ w2 w3 │ w4 w5 │ w6 0 │
# ```
#
# **Gather and reduce.** `dist.all_gather_into_tensor(whole, shard, group=group)` puts the shards of all ranks one after
# another into `whole`, K·n numbers. `dist.reduce_scatter_tensor(shard, whole, group=group)` takes K·n numbers from
# every rank, and leaves on rank r the *sum* of all ranks' r-th parts.
#
# **Memory.** A check sees each storage from its birth until the last tensor on it is gone; one that was emptied counts
# for nothing. A view costs nothing. `del x` frees a tensor only if nothing else holds it: a view, a list, the `work` of
# an async operation, or autograd, which keeps what its backward pass will need. NumPy arrays, lists of numbers and
# files count as tensors do.
#
# **Your arguments stay as they are**, unless the text says otherwise: values, order, `requires_grad`, `.grad`, hooks.
# What you return is new: whoever changes it later must not change them.
#
# All tensors are float32 on the CPU. There is at least one layer, and none without numbers.

# %% lab="readonly imports"
import math
from functools import cache

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.func import functional_call

from lockstep import check

# %% [markdown] lab="readonly about-fully_shard_model"
# ## 1. FSDP in one function ({minutes} minutes, {points} points)
#
# Train what no rank can hold: gather a layer when it is needed, and let go of it at once. (Section 3 of the lesson.)
#
# - **You get** `layers`; `shards`, a list: `shards[i]` is this rank's shard of layer i's parameters, float32 (n,); and
#   `x`, `y`, this rank's rows.
# - **You return** a list with one tensor for each layer: this rank's shard of the layer's gradient, the mean over the
#   ranks, float32 (n,), with zeros where the shard is padding. `shards` stay as they are.
# - **You may use** `dist.all_gather_into_tensor`, `dist.reduce_scatter_tensor` and autograd.
# - **It may cost** at most three collectives a layer, 3·(K−1)·n numbers a rank: two all-gathers (one for the forward and
#   one for the backward pass; those of the last layer may be one) and one reduce-scatter. Nothing else travels. Each layer's
#   forward pass may be computed twice. And memory: beside its arguments a rank holds at no time more than twice its shards of
#   all layers (those that you return among them), twice the inputs and outputs of all layers, and five vectors of the
#   largest layer's K·n. (The model has sixteen layers.)
#
# A layer's vector lives as long as anything needs it, and autograd keeps it from forward to backward. So either compute
# the layer's forward pass once more in the backward pass, from its input; or empty the storage after forward
# (`whole.untyped_storage().resize_(0)`), and later fill it again, by way of `whole.data`, which autograd does not watch.
# Both are right.

# %% [markdown] lab="hint fully_shard_model"
# Three layers, two ranks. Draw a timeline for rank 0, forward and backward. Below it, draw for each layer the
# stretches of time in which its vector must be whole. How many stretches has each? Who needs the vector between them?
#
# ---
#
# Nobody needs it between them. But autograd keeps the vector that the forward pass used until the backward pass. The
# simplest way around this: compute the forward pass without autograd, and keep each layer's *input*. Then walk back
# from the last layer: gather it again, compute its output again, now with autograd, and ask for the gradients of its
# vector and of its input. The latter is what the layer before it goes on with. The traps: a list that holds all
# vectors; the sum in place of the mean; a gradient of N numbers where K·n must be sent.
#
# ---
#
# ```python
# inputs = []
# with torch.no_grad():
#     for ...:
#         inputs.append(x)
#         x = ...  # gather, compute; nothing may hold the vector afterwards
# x.requires_grad_()
# (flowing,) = torch.autograd.grad(F.mse_loss(x, y), x)
# for ...:  # from the last layer to the first
#     flat = ...  # whole, and autograd tracks it
#     h = ...  # the layer's input, likewise
#     gradient, flowing = torch.autograd.grad(layer(flat, h), (flat, h), flowing)
#     ...  # let go; then each rank its shard of the mean
# return ...
# ```
#
# The check tells you which layer was whole for too long, and which gradient is not the mean.


# %% lab="answer fully_shard_model"
def fully_shard_model(layers, shards, x, y, group=None):
    """This rank's shard of each layer's gradient, the mean over the ranks of the group."""
    ### BEGIN SOLUTION
    ranks = dist.get_world_size(group)

    def gather(i):
        whole = shards[i].new_empty(ranks * len(shards[i]))
        dist.all_gather_into_tensor(whole, shards[i], group=group)
        return whole[: layers[i].numel]

    inputs = []
    with torch.no_grad():
        for i, layer in enumerate(layers):
            inputs.append(x)
            x = layer(gather(i), x)
    x.requires_grad_()
    (flowing,) = torch.autograd.grad(F.mse_loss(x, y), x)
    found = []
    for i in reversed(range(len(layers))):
        flat, h = gather(i).requires_grad_(), inputs.pop().detach().requires_grad_()
        gradient, flowing = torch.autograd.grad(layers[i](flat, h), (flat, h), flowing)
        del flat, h
        shard = torch.empty_like(shards[i])
        padding = ranks * len(shard) - len(gradient)
        dist.reduce_scatter_tensor(shard, F.pad(gradient, (0, padding)), group=group)
        found.append(shard / ranks)
    return found[::-1]
    ### END SOLUTION


# %% lab="tests fully_shard_model"
check("fsdp.fully_shard_model", fully_shard_model)

# %% [markdown] lab="readonly blocks"
# **Blocks.** The next exercise has modules of torch. Each of its `blocks` is an `nn.Module` on the `meta` device: its
# parameters have names and shapes, and no numbers. Those are in the shards, parameter after parameter, in the order of
# `block.parameters()`. The function below runs a block with the numbers of `flat`, (N,). Autograd tracks it, as it does
# a layer.


# %% lab="readonly with_parameters"
def with_parameters(block, flat, h):
    """The block's output for the input `h`, with the numbers of `flat` (N,) as its parameters."""
    pieces = flat.split([p.numel() for p in block.parameters()])
    named = zip(block.named_parameters(), pieces, strict=True)
    return functional_call(block, {name: piece.view_as(p) for (name, p), piece in named}, (h,))


# %% [markdown] lab="readonly about-prefetch_backward"
# ## 2. Hide both transfers ({minutes} minutes, {points} points)
#
# In the backward pass two things travel: parameters come, gradients leave. Hide both behind computing. (Section 6 of the
# lesson.)
#
# - **You get** `blocks`, first to last; `shards`, a list: `shards[i]` is this rank's shard of block i's parameters,
#   float32 (n,); `inputs`: `inputs[i]` is what went into block i in the forward pass, this rank's rows; and `flowing`, the
#   gradient of the loss with respect to the last block's output, in this rank's rows.
# - **You return** a list with one tensor for each block: this rank's shard of the block's gradient, the mean over the
#   ranks, float32 (n,), with zeros where the shard is padding.
# - **You may use** `with_parameters`, autograd, and `dist.all_gather_into_tensor` and `dist.reduce_scatter_tensor` with
#   `async_op=True`: each returns at once, with a `work` whose `.wait()` returns when the result is there.
# - **It may cost** one all-gather and one reduce-scatter of each block, K·n numbers each, with K = 1, too; nothing else
#   travels. Each block is computed once, forward and backward, from the last one to the first.
#
# A transfer is *under way* from its call to the end of its `wait()`. **While block i computes, exactly two are under way:
# the gather of block i − 1, and the reduce-scatter of block i + 1**; at the last block only the gather, at the first one
# only the reduce-scatter. The very first gather and the very last reduce-scatter hide behind nothing.
#
# And memory: at most two blocks are whole at once, the one that computes and the one that comes. Beside its arguments, a
# rank holds at no time more than its shards of all gradients, five vectors of the largest block's K·n (two of parameters;
# three of gradients, since autograd needs two for a moment), and 16 times the largest of `inputs`. A `work` holds its
# tensors, and a name holds its tensor until it gets another one.

# %% [markdown] lab="hint prefetch_backward"
# Draw three lanes for one rank with four blocks: computing, gathers, reduce-scatters. Put blocks 3, 2, 1, 0 into the first.
# Under block 2, which gather and which reduce-scatter can run? What must each wait for, and who waits for it?
#
# ---
#
# Start from your backward loop of exercise 1. Post the gather of the last block before the loop. In the loop there are now
# six things to do for block i: wait for its gather; post the next one; compute; let go; wait for the reduce-scatter that ran
# meanwhile; post this block's. After the loop one reduce-scatter is left. The traps: a reduce-scatter that is waited
# for right after its call; a name that still holds the last block's vector, or its gradient, when the next one computes; and
# a gradient of N numbers where K·n must be sent.
#
# ---
#
# ```python
# def gather(i):
#     whole = ...
#     return whole, dist.all_gather_into_tensor(..., async_op=True)
#
# coming, leaving, found = gather(len(blocks) - 1), None, []
# for i in reversed(range(len(blocks))):
#     whole, work = coming
#     ...  # two lines
#     flat, h = ...  # as in exercise 1; h is not the tensor that you were given
#     gradient, flowing = torch.autograd.grad(with_parameters(...), (flat, h), flowing)
#     del ...
#     ...  # what came of the block before, if there was one
#     leaving = ...  # this block's shard, and its work
# ...
# return found[::-1]
# ```
#
# The check tells you which transfer was not under way when it should have been, and what a rank held.


# %% lab="answer prefetch_backward"
def prefetch_backward(blocks, shards, inputs, flowing, group=None):
    """This rank's shard of each block's gradient; gathers and reduce-scatters run while blocks compute."""
    ### BEGIN SOLUTION
    ranks = dist.get_world_size(group)

    def gather(i):
        whole = shards[i].new_empty(ranks * len(shards[i]))
        return whole, dist.all_gather_into_tensor(whole, shards[i], group=group, async_op=True)

    def reduce(i, gradient):
        shard = torch.empty_like(shards[i])
        padded = F.pad(gradient, (0, ranks * len(shard) - len(gradient)))
        return shard, dist.reduce_scatter_tensor(shard, padded, group=group, async_op=True)

    def arrived(leaving):
        shard, work = leaving
        work.wait()
        return shard / ranks

    coming, leaving, found = gather(len(blocks) - 1), None, []
    for i in reversed(range(len(blocks))):
        whole, work = coming
        work.wait()
        coming = gather(i - 1) if i else None
        N = sum(p.numel() for p in blocks[i].parameters())
        flat, h = whole[:N].requires_grad_(), inputs[i].detach().requires_grad_()
        gradient, flowing = torch.autograd.grad(with_parameters(blocks[i], flat, h), (flat, h), flowing)
        del whole, work, flat
        if leaving:
            found.append(arrived(leaving))
        leaving = reduce(i, gradient)
        del gradient
    found.append(arrived(leaving))
    return found[::-1]
    ### END SOLUTION


# %% lab="tests prefetch_backward"
check("fsdp.prefetch_backward", prefetch_backward)

# %% [markdown] lab="readonly about-make_it_fit"
# ## 3. Make it fit ({minutes} minutes, {points} points)
#
# One training, five caps on a rank's memory. Each cap that you fit under earns points. (Sections 2 to 7 of the
# lesson.)
#
# - **You get** `layers`: twelve equally large ones where memory counts, with 4 and 8 ranks; `optimizer`: `optimizer(tensors)`
#   is a new `torch.optim.Adam` for this list of float32 tensors; and `batches`, a list of pairs (x, y), this rank's rows for
#   each step.
# - **You return** a list with one tensor for each layer: this rank's shard of the layer's parameters, float32 (n,), after one
#   step for each batch, in their order. All begin with `layer.start()`, and each step uses the mean gradient of all ranks.
# - **You may use** all collectives of `dist`, autograd, and `optimizer`. Adam changes each number by its own gradient only, so
#   it may work on shards.
# - **It may cost**, in each step, at most 3·(K−1)·n numbers a layer and rank on the link, and each layer's forward pass
#   twice. And memory: what a rank holds at its worst moment, beside its arguments, earns points level by level, up to the
#   first that you miss. Right values alone earn 1.5. Whoever sends or computes more misses level 5.
#
# | level | at most this many bytes | points so far | what fits under it |
# |---|---|---|---|
# | 1 | 16Ψ + 8Ψ + A | 2.75 | DDP: every rank has everything |
# | 2 | 8Ψ + 8Ψ/K + 5.5Ψ + A | 4 | ZeRO 1: optimizer state in shards |
# | 3 | 4Ψ + 12Ψ/K + 3.5Ψ + A | 5.5 | ZeRO 2: gradients in shards, too |
# | 4 | 16Ψ/K + 2.5Ψ + A | 6.75 | ZeRO 3: parameters in shards, too |
# | 5 | 16Ψ/K + 2.5Ψ + the inputs of all layers + 4a | 8 | ZeRO 3, and activations computed a second time |
#
# Ψ is how many numbers all layers have together. A is the number of bytes that autograd keeps of all layers for a batch,
# their inputs and what lies inside; a is the same for one layer. Levels 1 to 4 have small batches, level 5 a large one. Your function does
# not know the level: what fits under the last cap fits under all. `layer.start()` is a new vector each time, and counts as
# long as you hold it. Nothing may be put elsewhere: in NumPy, in lists of numbers, in files. Start with level 1.

# %% [markdown] lab="hint make_it_fit"
# Write down, for one rank of four, all that it holds at the end of a backward pass: parameters, gradients, optimizer
# state, activations. Which is the largest that a rank could do without? Write the first version with whole vectors, and
# an all-reduce. It earns points. Then replace one thing at a time.
#
# ---
#
# `optimizer(tensors)` keeps state only for what you give it. So give it shards, set each shard's `.grad`, and call `.step()`: that is
# level 2. For level 3, a gradient must go during the backward pass: a hook by `register_post_accumulate_grad_hook`. For
# level 4, exercise 1 has all you need; for level 5, its way with recomputation. The traps: all `layer.start()` in one list; a
# `.grad` that lives on into the next step; and an optimizer made anew in each step.
#
# ---
#
# ```python
# shards = []
# for layer in layers:
#     ...  # one start() at a time, and of it this rank's part: a copy, not a view
# steps = optimizer(shards)
# for x, y in batches:
#     gradients = ...  # exercise 1
#     for shard, gradient in zip(shards, gradients):
#         ...
#     steps.step()
#     ...  # what must go before the next step?
# return shards
# ```
#
# The check shows your memory beside the five caps, and says what it consists of at its peak.


# %% lab="answer make_it_fit"
def make_it_fit(layers, optimizer, batches, group=None):
    """This rank's shard of each layer's parameters after one step for each batch."""
    ### BEGIN SOLUTION
    ranks, rank = dist.get_world_size(group), dist.get_rank(group)
    shards = []
    for layer in layers:
        n = -(-layer.numel // ranks)
        whole = F.pad(layer.start(), (0, ranks * n - layer.numel))
        shards.append(whole[rank * n : (rank + 1) * n].clone())
        del whole
    steps = optimizer(shards)
    for x, y in batches:
        for shard, gradient in zip(shards, fully_shard_model(layers, shards, x, y, group), strict=True):
            shard.grad = gradient
        del gradient
        steps.step()
        steps.zero_grad()
    return shards
    ### END SOLUTION


# %% lab="tests make_it_fit"
check("fsdp.make_it_fit", make_it_fit)

# %% [markdown] lab="readonly about-predict_peak"
# ## 4. Predict the peak ({minutes} minutes, {points} points)
#
# Say how many bytes a rank needs before you rent the machine. (Sections 2 and 5 of the lesson.)
#
# - **You get** `sizes`, a list: N of each layer, first to last; the number of `ranks` K; and the `stage`: 0, 1, 2 or 3.
# - **You return** an `int`: the most bytes of parameters, gradients and optimizer state that a rank holds at one moment of
#   a step, all three together.
# - **You may use** arithmetic: nothing runs, nothing is sent.
# - **It may cost** nothing.
#
# All numbers are float32, 4 bytes. n = ⌈N/K⌉ is a layer's shard. A *whole* layer is N numbers at stage 0, and K·n
# (padding counts) at stages 1 to 3. Adam keeps 2 numbers for each parameter that a rank updates, all the time. (Its
# step counter, activations and temporaries are not counted.) What a rank holds all the time:
#
# | stage | parameters | Adam |
# |---|---|---|
# | 0 | of every layer, whole | 2·N of every layer |
# | 1, 2 | of every layer, whole | 2·n of every layer |
# | 3 | n of every layer | 2·n of every layer |
#
# The backward pass goes from the last layer to the first, and begins without gradients. For each layer, in this order:
#
# - *stage 0*: the whole gradient comes, and stays. The all-reduce works in place.
# - *stage 1*: the whole gradient comes, and stays. After the backward pass, again from the last layer to the first: the
#   gradient's shard comes, n numbers, and *then* the whole gradient goes.
# - *stage 2*: the whole gradient comes; its shard comes; then the whole gradient goes.
# - *stage 3*: the layer's parameters are gathered, whole (those of the last layer, too); the whole gradient comes; the
#   gathered parameters go; the gradient's shard comes; then the whole gradient goes.
#
# The gradients' shards stay until the step ends. A forward pass at stage 3 holds one layer whole at a time, so it never
# needs more than the backward pass. After the update, stages 1 and 2 gather the new parameters into the place of the old
# ones. The same rules hold for K = 1: stage 3 gathers a copy even then. For example, `predict_peak([3, 5], 2, 2)` is 116.

# %% [markdown] lab="hint predict_peak"
# Take two layers of 4 and 8 numbers, K = 2, stage 2. Write down the backward pass, one line per event: what comes, what
# goes, and how many numbers of gradients there are after it. Which line is the largest?
#
# ---
#
# Split the answer: what is there all the time, and the highest point of what comes and goes. For the latter walk from the last
# layer to the first, with a running sum, and take its maximum after each event. Stages 1, 2 and 3 differ only in the
# order of events. The traps: N where it must be K·n; the shards of gradients that are already there; and the moment
# when a shard *and* the whole gradient are there.
#
# ---
#
# ```python
# shards = [...]  # n of each layer
# whole = [...]  # N or K·n, by the stage
# always = ...  # parameters and Adam
# now = peak = 0
# for n, w in ...:  # from the last layer to the first
#     for change in {0: [w], 1: [w], 2: [...], 3: [...]}[stage]:
#         now += change
#         peak = max(peak, now)
# ...  # stage 1 goes on
# return 4 * (always + peak)
# ```
#
# The check tells you a case, what you said, and what a rank held.


# %% lab="answer predict_peak"
def predict_peak(sizes, ranks, stage):
    """The largest sum of a rank's parameters, gradients and optimizer state during a step, in bytes."""
    ### BEGIN SOLUTION
    shards = [-(-size // ranks) for size in sizes]
    whole = sizes if stage == 0 else [ranks * n for n in shards]
    always = sum(shards if stage == 3 else whole) + 2 * sum(whole if stage == 0 else shards)
    comes = {0: lambda n, w: [w], 1: lambda n, w: [w], 2: lambda n, w: [w, n, -w], 3: lambda n, w: [w, w, -w, n, -w]}
    backward = list(zip(reversed(shards), reversed(whole), strict=True))
    changes = [change for n, w in backward for change in comes[stage](n, w)]
    if stage == 1:
        changes += [change for n, w in backward for change in (n, -w)]
    now = peak = 0
    for change in changes:
        now += change
        peak = max(peak, now)
    return 4 * (always + peak)
    ### END SOLUTION


# %% lab="tests predict_peak"
check("fsdp.predict_peak", predict_peak)

# %% [markdown] lab="readonly extra"
# ## Extra
#
# What follows is for those who want more. The cells of each exercise are folded: open them by the button below
# its text. The grade rests on the exercises above; the points of these are yours alone, in `lockstep progress`.

# %% [markdown] lab="readonly about-prefetch"
# ## 5. Gather ahead ({minutes} minutes, {points} points)
#
# While a layer computes, the link is idle. Let it fetch the next layer. (Section 6 of the lesson.)
#
# - **You get** `layers` and `shards` as in exercise 1, and `x`, this rank's rows.
# - **You return** the model's output for `x`. Forward pass only: no gradients. `shards` stay as they are.
# - **You may use** `dist.all_gather_into_tensor` with `async_op=True`: it returns at once, with a `work` whose `.wait()`
#   returns when `whole` is full.
# - **It may cost** one all-gather of each layer, K·n numbers each, with K = 1, too. The first is posted at the beginning. Then
#   for each layer i, in this order: the gather of layer i has
#   been waited for; the gather of layer i + 1 is posted; layer i computes; its vector is freed. So between posting
#   a gather and waiting for it exactly one layer computes (for the first one, none). While a layer computes, no earlier
#   layer's vector is alive; so at most two layers are whole. (What goes into layers and comes out of them may stay.)
#
# Nobody may read `whole`, or let go of it, before its gather has been waited for. Its `work` holds it, too.

# %% [markdown] lab="hint prefetch"
# Draw two lanes for one rank: its link, and its processor. Put three gathers into the first, each as long as a layer
# computes. Where can each layer begin at the earliest? How many layers are whole at each moment?
#
# ---
#
# Post gather 0 before the loop. In the loop there are four things to do for layer i: wait for its gather; post the next one;
# compute; let go. Only one order of them hides the gather, and keeps at most two layers whole. The traps: a `work` also
# holds its tensor; the last layer has no next one; and `whole` is longer than the vector.
#
# ---
#
# ```python
# def post(i):
#     whole = ...
#     return whole, dist.all_gather_into_tensor(..., async_op=True)
#
# coming = post(0)
# for i, layer in enumerate(layers):
#     whole, work = coming
#     ...
#     ...
#     x = layer(...)
#     del whole, work
# return x
# ```
#
# The check tells you what lay between posting a gather and waiting for it, and how many layers were whole.


# %% lab="answer prefetch"
def prefetch(layers, shards, x, group=None):
    """The model's output for x, each layer gathered while the one before it computes."""
    ### BEGIN SOLUTION
    ranks = dist.get_world_size(group)

    def post(i):
        whole = shards[i].new_empty(ranks * len(shards[i]))
        return whole, dist.all_gather_into_tensor(whole, shards[i], group=group, async_op=True)

    coming = post(0)
    for i, layer in enumerate(layers):
        whole, work = coming
        work.wait()
        coming = post(i + 1) if i + 1 < len(layers) else None
        x = layer(whole[: layer.numel], x)
        del whole, work
    return x
    ### END SOLUTION


# %% lab="tests prefetch"
check("fsdp.prefetch", prefetch)

# %% [markdown] lab="readonly about-choose_units"
# ## 6. Choose the units ({minutes} minutes, {points} points)
#
# A *unit* is what is gathered at once: one layer, or several in a row. Large units need memory, small ones cost latency.
# (Sections 4 and 6 of the lesson.)
#
# - **You get** `sizes`, a list: N of each layer, first to last; `memory`, the bytes of a rank; the number of `ranks` K;
#   `alpha`, seconds a message, and `beta`, seconds a byte; and `seconds`, a list: how long each layer's forward pass
#   computes. Its backward pass takes twice as long.
# - **You return** a list of units, in order. A unit is a list of layer numbers: `[[0, 1], [2], [3, 4]]`. Every layer is in
#   exactly one unit, and the layers of a unit follow one another.
# - **You may use** arithmetic: nothing runs, nothing is sent.
# - **It may cost** no more bytes than `memory`. Some choice always fits.
#
# Unit u = 0, 1, … has N_u numbers, the sum of its `sizes`; its shard has n_u = ⌈N_u/K⌉. c_u is the sum of its `seconds`. A
# gather of it takes g_u = alpha + 4·(K−1)·n_u·beta, and a reduce-scatter as long. The step takes forward + backward:
#
# - forward: g_0, then for each unit but the last max(c_u, g_{u+1}), then c_u of the last one. (While a unit computes, the
#   next one is gathered.)
# - backward: for each unit max(2·c_u, link), then g_0, the last reduce-scatter. Here *link* is g_{u−1} (if there is a unit
#   u − 1) plus g_{u+1} (if there is a unit u + 1). (While unit u computes, unit u − 1 is gathered, and the gradient of unit
#   u + 1 is reduce-scattered. The last unit is still whole.)
# - bytes: 16·⌈S/K⌉, where S is the sum of all `sizes`, plus 4·K·(n_u + n_{u+1}) of the two neighbours for which that is
#   most; or plus 4·K·n_0 if there is only one unit.
#
# (Gradients that are whole for a moment are left out.) The shorter the step, the more you earn: all of a case's points
# within 1 % of the best choice that fits, half of them within 10 %, and none beyond that, or where it does not fit.
# There are cases with 3 to 12 layers, and one with 30: its 2²⁹ choices are too many to try. The calls of a case have
# 5 seconds.


# %% lab="answer choose_units"
def choose_units(sizes, memory, ranks, alpha, beta, seconds):
    """The layers in units, [[0, 1], [2], ...]: those that fit into the memory with the shortest step."""
    ### BEGIN SOLUTION
    layers, states = len(sizes), 16 * -(-sum(sizes) // ranks)

    def shard(u):
        return -(-sum(sizes[slice(*u)]) // ranks)

    def gather(u):
        return alpha + 4 * (ranks - 1) * shard(u) * beta if u else 0.0

    def fits(*whole):
        return states + 4 * ranks * sum(map(shard, whole)) <= memory

    def computing(before, u, after):
        c = sum(seconds[slice(*u)])
        return max(c, gather(after)) + max(2 * c, gather(before) + gather(after))

    @cache
    def rest(before, u):
        if u[1] == layers:
            return (computing(before, u, None), [u]) if before or fits(u) else (math.inf, [])
        best = (math.inf, [])
        for end in range(u[1] + 1, layers + 1):
            v = (u[1], end)
            if fits(u, v):
                later, units = rest(u, v)
                best = min(best, (computing(before, u, v) + later, [u, *units]))
        return best

    firsts = [(0, end) for end in range(1, layers + 1)]
    _, units = min((2 * gather(u) + rest(None, u)[0], rest(None, u)[1]) for u in firsts)
    return [list(range(*u)) for u in units]
    ### END SOLUTION


# %% lab="tests choose_units"
check("fsdp.choose_units", choose_units)

# %% [markdown] lab="readonly about-reshard"
# ## 7. Another number of ranks ({minutes} minutes, {points} points)
#
# A checkpoint was saved by some number of ranks. Load it with another number. (The lesson's
# [more](../../course/08_fsdp/more.ipynb).)
#
# - **You get** `read`: `read(rank, begin, end)` is a float32 tensor with the numbers `begin` to `end` − 1 of the shard that
#   rank `rank` saved; `numel`, N, how many numbers the vector has, at least 1; `old`, how many ranks saved it; `new`, how many
#   load it; and `rank`, from 0 to `new` − 1.
# - **You return** the shard of `rank` among `new`: float32, ⌈N/new⌉ numbers, with zeros where it is padding.
# - **You may use** `read`, and torch. Nothing travels between ranks.
# - **It may cost** exactly one call of `read` for each old shard of which something is needed, and none of any other. It reads
#   what is returned and no more: no padding either.
#
# An old shard has ⌈N/`old`⌉ numbers; of the last ones, some or all may be padding. A new shard may be nothing but padding.
# `read` raises an error where `begin` is not less than `end`, and for anything outside the shard.


# %% lab="answer reshard"
def reshard(read, numel, old, new, rank):
    """The shard of `rank` among `new`, out of the shards that `old` ranks saved."""
    ### BEGIN SOLUTION
    old_length, length = -(-numel // old), -(-numel // new)
    shard = torch.zeros(length)
    first, begin, end = rank * length, rank * length, min((rank + 1) * length, numel)
    while begin < end:
        source = begin // old_length
        stop = min(end, (source + 1) * old_length)
        shard[begin - first : stop - first] = read(source, begin - source * old_length, stop - source * old_length)
        begin = stop
    return shard
    ### END SOLUTION


# %% lab="tests reshard"
check("fsdp.reshard", reshard)

# %% [markdown] lab="readonly about-mend_local_clipping"
# ## 8. Mend the clipping ({minutes} minutes, {points} points)
#
# Clipping bounds the length of a gradient. In shards, no rank sees that length. Mend the program. (The lesson's
# [more](../../course/08_fsdp/more.ipynb).)
#
# - **You get** `gradients`, a list of float32 vectors: this rank's shards of all layers' gradients, padded with zeros; and
#   `max_norm`, a positive number, the same on every rank.
# - **You return** a list of tensors like `gradients`, which stay as they were. The *global norm* is √(Σ g²) over all
#   numbers of all shards of all ranks. If it is more than `max_norm`, each number is multiplied by `max_norm`/norm; else
#   all are what they were, to the bit: the tensors given, or copies.
# - **You may use** `dist.all_reduce`.
# - **It may cost** one all-reduce of one number.
#
# Where the norm is 0, all numbers stay 0. A NaN in any shard makes the norm NaN, and then every number on every rank:
# all of them notice, and nobody goes on alone. (Padding becomes NaN, too. No square overflows.) An ε of
# 10⁻⁶ in the denominator, as torch has it, is allowed.
#
# The program as given clips each rank's shards by their own norm.


# %% lab="given mend_local_clipping"
def mend_local_clipping(gradients, max_norm, group=None):
    """This rank's shards of the gradient, clipped by the norm of the whole gradient."""
    norm = torch.sqrt(sum((g**2).sum() for g in gradients))
    scale = torch.clamp(max_norm / norm, max=1.0)
    return [g * scale for g in gradients]


# %% lab="answer mend_local_clipping"
### BEGIN SOLUTION
def mend_local_clipping(gradients, max_norm, group=None):
    """This rank's shards of the gradient, clipped by the norm of the whole gradient."""
    squares = sum((g**2).sum() for g in gradients)
    dist.all_reduce(squares, group=group)
    norm = torch.sqrt(squares)
    scale = torch.clamp(max_norm / norm, max=1.0)
    return [g * scale for g in gradients]


### END SOLUTION


# %% lab="tests mend_local_clipping"
check("fsdp.mend_local_clipping", mend_local_clipping)

# %% [markdown] lab="readonly about-offload"
# ## 9. Offload ({minutes} minutes, {points} points)
#
# Adam's state is half of all that a rank keeps, and is needed once in a step. Let it live on the host. (Section 7 of
# the lesson.)
#
# - **You get** `parameters` and `gradients`, two lists of float32 vectors, one for each layer: this rank's shards. `host`
#   keeps Adam's state: `host.load(i)` is a pair `(m, v)` of new tensors on the device for layer i = 0, 1, …, zeros before the
#   first step; `host.store(i, m, v)` copies a pair back to the host. Then `step`, 1 in the first step, 2 in the next, …, and
#   the learning `rate`.
# - **You return** nothing. `parameters` have been changed in place by one step of Adam, and the host has the new state.
#   `gradients` stay as they were. Your function is called once for each step, with the same `host`.
# - **You may use** torch, but none of its optimizers, and `host`. Nothing travels between ranks.
# - **It may cost** one `load` and one `store` of each layer. At no time is the state of more than one layer on the device, nor
#   any of it when you return: let go of `m` and `v` before the next `load`. Beside what was given, a rank holds at most six
#   times the largest layer's numbers.
#
# Adam, with β₁ = 0.9, β₂ = 0.999, ε = 10⁻⁸, for a gradient g: m ← β₁·m + (1 − β₁)·g, and v ← β₂·v + (1 − β₂)·g². With m̂ =
# m/(1 − β₁^step) and v̂ = v/(1 − β₂^step) the parameter w becomes w − rate·m̂/(√v̂ + ε).


# %% lab="answer offload"
def offload(parameters, gradients, host, step, rate):
    """One step of Adam, in place; its state comes from the host and goes back, one layer at a time."""
    ### BEGIN SOLUTION
    for i, (w, g) in enumerate(zip(parameters, gradients, strict=True)):
        m, v = host.load(i)
        m.mul_(0.9).add_(g, alpha=1 - 0.9)
        v.mul_(0.999).addcmul_(g, g, value=1 - 0.999)
        root = (v / (1 - 0.999**step)).sqrt() + 1e-8
        w -= rate * (m / (1 - 0.9**step)) / root
        host.store(i, m, v)
        del m, v
    ### END SOLUTION


# %% lab="tests offload"
check("fsdp.offload", offload)

# %% [markdown] lab="readonly where-next"
# ## Where to go from here
#
# Run your `make_it_fit` on the real processes of this machine: `check("fsdp.make_it_fit", make_it_fit, on="processes")`.
#
# What professionals use: PyTorch's `fully_shard(module)`, called on each block and then on the model. Its policies say
# what is gathered when, in which precision, and what lives on the host. Beside it there are `torch.utils.checkpoint`
# for activations and `torch.distributed.checkpoint` for what is saved.
