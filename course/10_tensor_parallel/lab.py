# %% [markdown] lab="readonly title"
# # Lab 10: Tensor parallelism
#
# You write the two borders f and g, then an MLP, attention and the loss, each split over K ranks. And you write the
# test that finds ten bugs in programs whose losses all fall.
#
# [The lesson](../../course/10_tensor_parallel/lesson.ipynb) explains what you need. Each exercise names its sections.

# %% [markdown] lab="readonly how"
# ## How to work
#
# Write each function in its cell, in place of `raise NotImplementedError()`. Run the cell below it: it runs your function on
# 1 to 8 ranks of a virtual cluster, calls `backward()` on what you return, and looks at the results, at all gradients, at
# what each pass sent, *and* at what the ranks computed. Try as often as you like. Each of the first five exercises has
# three folded hints. A program that hangs is stopped.
#
# **Ranks.** K ranks of `group` work on one layer: `dist.get_rank(group)` is r, and `dist.get_world_size(group)` is K. K may
# be 1. `group=None` is all ranks. Every call of `dist` gets `group=group`. In tensor parallelism every rank has the whole
# batch, and a part of every matrix.
#
# **Parts.** Rank r's part of n columns, rows, heads or tokens is one stretch, and the parts come in the order of the
# ranks. K needn't divide n: then parts differ by one, and the first ranks have one more, as `torch.tensor_split` cuts.
# n may even be smaller than K: then the last ranks have an empty part, and still join in everything that is sent. Where
# a text says that a rank computes with its part only, the check counts FLOP of products: what all ranks compute
# together is what one rank would.

# %% [markdown] lab="readonly gradients"
# **Gradients.** Your functions are used in a training step. So autograd must know what you compute, and what you send.
# Of `dist.all_reduce` alone it sees nothing. It does see an `autograd.Function`. You write two in exercise 1, f and g.
# From exercise 2 on, the course's are there, too: `copy_to_region(x, group)` is f(x), and
# `reduce_from_region(x, group)` is g(x). Use these or your own, and nothing else of `lockstep.tensor_parallel`.
#
# - What is **the same** on all ranks (x, a bias that is added to a sum, the weights of a norm) has its *whole* gradient
#   on every rank.
# - Of what is **split** (A, B, the heads' matrices) a rank has the gradient of its own part, and zero elsewhere. The
#   gradients of all ranks together are those of one rank.
#
# The gradients that arrive at your outputs are the same on all ranks, unless the text says otherwise. Numbers are
# float64, and rounding doesn't count as a difference. x may be the input of the whole network: then it needs no
# gradient, and f has nothing to do backward.
#
# **Your arguments stay as they are**, unless the text says otherwise: values, order, `requires_grad`, `.grad`, hooks.
# What you return is new: whoever changes it later must not change them.

# %% lab="readonly imports"
import torch
import torch.distributed as dist
from torch.nn import functional as F

from lockstep import check, run
from lockstep.tensor_parallel.f_and_g import copy_to_region, reduce_from_region

# %% [markdown] lab="readonly about-regions"
# ## 1. f and g ({minutes} minutes, {points} points)
#
# Between f and g each rank computes something different. Write both borders. (Section 2 of the lesson.)
#
# - **You get**, on each rank, `group`.
# - **You return** a pair of functions (f, g). Each takes a tensor and returns one of the same shape.
#   - f(x) is x, or a copy of it. Its gradient, when the backward pass comes to it, is the sum over all ranks of the
#     gradients that arrive.
#   - g(x) is the sum of all ranks' x. Its gradient is the one that arrives.
# - **You may use** `torch.autograd.Function`, and all of `dist`.
# - **It may cost** one all-reduce of x in g's forward pass, and one in f's backward pass. Nothing else is sent.
#
# x is a tensor of any shape, even with no dimensions or no elements. It stays as it is, and so does the gradient that
# arrives: others may need it, too. Neither has to be contiguous, on all ranks or on some. What arrives may differ from
# rank to rank.

# %% [markdown] lab="hint regions"
# Take two ranks and paper. Both have x, rank 0 computes 2·x, rank 1 computes 3·x, and the output is their sum: 5·x. Its
# gradient 1 arrives on both ranks. What gradient does each rank find for x? And what should both have?
#
# ---
#
# What f does forward, g does backward, and the other way round: one copies, the other adds up. `dist.all_reduce` works in
# place, and neither x nor what arrives is yours: reduce a copy. The trap is a copy that isn't one: `contiguous()` returns the
# same tensor if it is contiguous already.
#
# ---
#
# ```python
# class Copy(torch.autograd.Function):
#     @staticmethod
#     def forward(ctx, x):
#         return x.view_as(x)
#
#     @staticmethod
#     def backward(ctx, dy):
#         total = ...  # a copy, contiguous
#         dist.all_reduce(..., group=...)
#         return ...
#
#
# class Sum(torch.autograd.Function):
#     ...  # the same two, swapped
# ```
#
# The check tells you which of the two differs, in its value or its gradient, and in which pass too much is sent.


# %% lab="answer regions"
def regions(group=None):
    """(f, g): f copies forward and adds up backward, g adds up forward and copies backward."""

    class Copy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ### BEGIN SOLUTION
            return x.view_as(x)
            ### END SOLUTION

        @staticmethod
        def backward(ctx, dy):
            ### BEGIN SOLUTION
            total = dy.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total, group=group)
            return total
            ### END SOLUTION

    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ### BEGIN SOLUTION
            total = x.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total, group=group)
            return total
            ### END SOLUTION

        @staticmethod
        def backward(ctx, dy):
            ### BEGIN SOLUTION
            return dy
            ### END SOLUTION

    return Copy.apply, Sum.apply


# %% lab="tests regions"
check("tensor_parallel.regions", regions)

# %% [markdown] lab="readonly about-parallel_mlp"
# ## 2. An MLP on K ranks ({minutes} minutes, {points} points)
#
# Z = GeLU(x·A + a)·B + b, on K ranks. Cut A one way and B the other, and the ranks need to talk only once. (Sections 1 and 2
# of the lesson.)
#
# - **You get**, the same on each rank: `x` of shape (n, h); `A` (h, m), `a` (m,), `B` (m, h) and `b` (h,). h and m are
#   any sizes.
# - **You return** Z, of shape (n, h), on every rank.
# - **You may use** f and g. `F.gelu(y)` is GeLU.
# - **It may cost** one all-reduce of n·h numbers forward, and one backward. Each rank computes with its part of A and B only:
#   12·n·h·m/K FLOP of products in all, if K divides m.
#
# x and b are the same on all ranks. A, a and B are split, a like the columns or rows of A that it belongs to.

# %% [markdown] lab="hint parallel_mlp"
# Write A and B as two blocks each, for two ranks: side by side, or one above the other. In which order can each rank apply
# GeLU to what it has, without asking the other?
#
# ---
#
# With its columns of A a rank has whole numbers of x·A, and GeLU takes each by itself. These are just the numbers that its
# rows of B need: what comes out is a summand. The traps: x is used differently on each rank, so its gradient is a sum;
# b is not a summand of each rank; and K needn't divide m.
#
# ---
#
# ```python
# mine = ...  # this rank's part of the m columns
# inside = F.gelu(...(x) @ A[...] + a[...])  # (n, m/K)
# return ...(inside @ B[...]) + ...
# ```
#
# The check tells you which number or gradient differs, and how many FLOP all ranks compute together.


# %% lab="answer parallel_mlp"
def parallel_mlp(x, A, a, B, b, group=None):
    """GeLU(x·A + a)·B + b on every rank, of which each computes a part."""
    ### BEGIN SOLUTION
    K, r = dist.get_world_size(group), dist.get_rank(group)
    columns, bias, rows = A.tensor_split(K, dim=1)[r], a.tensor_split(K)[r], B.tensor_split(K)[r]
    inside = F.gelu(copy_to_region(x, group) @ columns + bias)
    return reduce_from_region(inside @ rows, group) + b
    ### END SOLUTION


# %% lab="tests parallel_mlp"
check("tensor_parallel.parallel_mlp", parallel_mlp)

# %% [markdown] lab="readonly about-catch_the_bug"
# ## 3. Catch the bug ({minutes} minutes, {points} points)
#
# Twelve programs train a small GPT on K ranks. All of their losses fall. Ten have a bug. Write the test that finds them.
# (Section 9 of the lesson.)
#
# - **You get** `parallel` and `serial`, two functions.
#   - `serial(model, tokens, following)` computes the loss and the gradients by itself, inside a run or outside of one.
#     It returns (loss, gradients): a tensor with no dimensions, and a dict with a tensor for each name of
#     `model.named_parameters()`.
#   - `parallel(model, tokens, following, group=None)` returns the same, on each rank of the group. All of these call it
#     with the same model and batch. Each rank returns the *whole* gradients, as it sees them: what only other ranks
#     have, they give it.
# - **You return** `True` if `parallel` does what `serial` does, on every rank, and `False` if not.
# - **You may use** `run`: `run(fn, *args, ranks=4, on="dgx-a100").values` is what `fn` returned on each rank, by rank. Make
#   models with `GPT(vocabulary=13, width=20, heads=4, layers=1, context=12, dtype=torch.float64)`, and change their numbers
#   as you like.
# - **It may cost** 60 seconds for all twelve. About four runs for each are enough.
#
# A program has to be right for 1 to 4 ranks, and for a group of some ranks of the world, as made by
# `dist.new_group([1, 3])`. It is right if no number differs by more than rounding: in float64 that is far less than a
# millionth. Two conditions: K is at most the number of heads and at most `vocabulary`, and it divides the number of
# positions. `tokens` and `following` are whole numbers below `vocabulary`, of shape (batch, positions), with at most
# `context` positions. The other sizes needn't divide.
#
# A bug may show in one place only: on some rank, for some K, in one gradient, in some group, in a model whose numbers
# aren't those of a new one. A program that fails or hangs is not right: then `run` raises a `RunError`.
#
# A test that rejects both right programs may reject anything: it earns no points.

# %% [markdown] lab="hint catch_the_bug"
# Begin with one run: a new model, two ranks, the losses. Your own mistakes in exercises 1 and 2: which of them would it
# have caught? Where would each of the others show: in which number, on which rank, for which K?
#
# ---
#
# Compare everything with `serial`: the loss and each number of each gradient, on every rank, by `torch.allclose` with a
# small tolerance. Then ask what else could hide a bug: a new model's biases are 0, so move all of its numbers; two ranks
# are special, so take three; 3 divides 24 and doesn't divide 20; and a group needs ranks that are outside of it. The
# trap: all ranks of the world call `dist.new_group`, even those that aren't in the group.
#
# ---
#
# ```python
# model = ...  # with numbers that aren't those of a new one
# tokens = ...  # one position more than the model gets: the rest is what follows
# loss, gradients = serial(model, ..., ...)
#
# def agrees(members):
#     group = dist.new_group(members)
#     ...  # a rank that isn't a member has nothing to compare
#     ours, found = parallel(model, ..., ..., group)
#     return ...  # whether all is as one rank finds it
#
# try:
#     return all(all(run(agrees, members, ranks=4, on="dgx-a100").values) for members in (...))
# except ...:
#     return ...
# ```
#
# The check tells you what a program does that your test is wrong about.

# %% lab="readonly imports-catch_the_bug"
from lockstep.errors import RunError
from lockstep.models import GPT


# %% lab="answer catch_the_bug"
def catch_the_bug(parallel, serial):
    """Whether parallel computes the loss and the gradients of serial, on every rank of every group."""
    ### BEGIN SOLUTION
    model = GPT(vocabulary=13, width=20, heads=4, layers=1, context=12, dtype=torch.float64)
    drawn = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        parameter.data += torch.randn(parameter.shape, generator=drawn, dtype=torch.float64) / 10
    tokens = torch.randint(13, (2, 13), generator=drawn)
    loss, gradients = serial(model, tokens[:, :-1], tokens[:, 1:])

    def agrees(members):
        group = dist.new_group(members)
        if dist.get_rank() not in members:
            return True
        ours, found = parallel(model, tokens[:, :-1], tokens[:, 1:], group)
        pairs = [(ours, loss), *((found[name], wanted) for name, wanted in gradients.items())]
        return all(torch.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in pairs)

    try:
        return all(all(run(agrees, members, ranks=4, on="dgx-a100").values) for members in ([1, 2, 3], [1, 3], [0]))
    except RunError:
        return False
    ### END SOLUTION


# %% lab="tests catch_the_bug"
check("tensor_parallel.catch_the_bug", catch_the_bug)

# %% [markdown] lab="readonly about-parallel_attention"
# ## 4. Attention on K ranks ({minutes} minutes, {points} points)
#
# Heads never talk to each other. So give each rank some of them. (Section 3 of the lesson.)
#
# - **You get**, the same on each rank: `x` of shape (n, T, h); `Q` (h, H·d); `K` and `V` (h, G·d); `W` (H·d, h); and
#   the number of `heads` H. d is `Q.shape[1] // heads`. G heads have keys and values: G is `K.shape[1] // d`, and
#   divides H.
# - **You return** the output of attention, (n, T, h), on every rank.
# - **You may use** f and g. `F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)` takes q of shape
#   (n, heads, T, d), and k and v of (n, fewer heads, T, d); it returns (n, heads, T, d).
# - **It may cost** one all-reduce of n·T·h numbers forward, and one backward. Each rank computes with its own heads only.
#   With more than G ranks, a rank computes the keys and values of one head, and other ranks compute the same ones.
#
# x·Q has the H heads side by side: head 0 in columns 0 to d − 1, and so on; the rows of W are in the same order. Head i
# of the queries looks at head i // (H // G) of keys and values. With at most G ranks, rank r has its part of the G
# heads, and the queries that look at them. With more, their number divides H, G divides it, and rank r has its share of
# the queries and the one head that they look at. x is the same on all ranks, and the matrices are split: the gradients
# of K and V, too, are one rank's once those of all ranks are added up.

# %% [markdown] lab="hint parallel_attention"
# Take H = 6, G = 3 and two ranks. Which heads of keys has rank 0? Which queries look at them? Which columns of Q, K and V are
# that, and which rows of W? Then take G = 1 and four ranks.
#
# ---
#
# Decide on heads first, then on columns: heads i to j are columns i·d to j·d. x goes through f once, and what comes out is
# used three times. The traps: keys and queries that are each cut evenly no longer belong together; h isn't H·d; and a head
# that several ranks have needs nothing: each has its summand of the gradient.
#
# ---
#
# ```python
# ranks, r, d = ...
# G = K.shape[1] // d
# if ranks <= G:
#     keys = ...  # this rank's part of the G heads: from, to
#     queries = ...  # those that look at them
# else:
#     queries, keys = ...
# x = ...
# q, k, v = (part.unflatten(-1, (-1, d)).transpose(1, 2) for part in (x @ Q[:, ...], ...))
# out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
# out = out.transpose(1, 2).flatten(2)  # (n, T, own heads · d)
# return ...
# ```
#
# The check tells you which gradient differs, and whether a rank has a gradient of heads that aren't its own.


# %% lab="answer parallel_attention"
def parallel_attention(x, Q, K, V, W, heads, group=None):
    """Causal attention with grouped queries, on every rank, of which each computes some heads."""
    ### BEGIN SOLUTION
    ranks, r, d = dist.get_world_size(group), dist.get_rank(group), Q.shape[1] // heads
    G = K.shape[1] // d
    if ranks <= G:
        own = torch.arange(G).tensor_split(ranks)[r]
        first, last = int(own[0]), int(own[-1]) + 1
        queries = slice(first * (heads // G) * d, last * (heads // G) * d)
        keys = slice(first * d, last * d)
    else:
        queries = slice(r * (heads // ranks) * d, (r + 1) * (heads // ranks) * d)
        keys = slice(r * G // ranks * d, (r * G // ranks + 1) * d)
    x = copy_to_region(x, group)
    q, k, v = (
        part.unflatten(-1, (-1, d)).transpose(1, 2) for part in (x @ Q[:, queries], x @ K[:, keys], x @ V[:, keys])
    )
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return reduce_from_region(out.transpose(1, 2).flatten(2) @ W[queries], group)
    ### END SOLUTION


# %% lab="tests parallel_attention"
check("tensor_parallel.parallel_attention", parallel_attention)

# %% [markdown] lab="readonly about-vocab_parallel_cross_entropy"
# ## 5. The loss of scores in parts ({minutes} minutes, {points} points)
#
# Scores are the largest activation of a small model: a number for each token of the vocabulary, at each position. Compute the
# loss without any rank having them all. (Section 4 of the lesson.)
#
# - **You get**, on each rank: `scores` of shape (n, v), this rank's columns; `targets` (n,), the true token of each
#   row, the same on all ranks; and `first`: this rank has the scores of tokens `first` to `first` + v − 1. v is at
#   least 1, and differs from rank to rank, by one at most.
# - **You return** the loss, a tensor with no dimensions, on every rank: the mean over the n rows of log Σ exp(z) −
#   z_target, where the sum is over all tokens.
# - **You may use** `torch.autograd.Function`, f and g, and all of `dist`.
# - **It may cost** three all-reduces of n numbers each, forward. Backward nothing is sent.
#
# Scores may be as large as 10⁴ or as small as −10⁴: exp of them is infinite, or zero. A rank may have no target at
# all. The gradient of `scores` is this rank's columns of what one rank would get. What arrives at the loss in the backward
# pass needn't be 1.

# %% [markdown] lab="hint vocab_parallel_cross_entropy"
# Subtract the same number from all scores of a row: what does that change in log Σ exp(z) − z_target? Which number makes
# every exp at most 1? Which three numbers of a row does a rank need from the others?
#
# ---
#
# The largest score of the row on all ranks, the target's score, and the sum of exp. For the second, the rank that has
# the target gives its score, and the others give 0: then an all-reduce makes it known. Backward, exp(z − largest)/sum
# is this rank's part of the softmax, and 1 is subtracted at the target, on the rank that has it. The traps: a target
# that isn't yours is not an index; and the mean.
#
# ---
#
# ```python
# class Loss(torch.autograd.Function):
#     @staticmethod
#     def forward(ctx, scores):
#         largest = ...
#         dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
#         z = ...
#         here = ...  # (n,): whether this rank has the target
#         place = ...  # (n,): its column here; 0 where it isn't
#         target = z.gather(1, place[:, None])[:, 0].where(here, 0)
#         ...  # two all-reduces more
#         ctx.save_for_backward(...)
#         return ...
#
#     @staticmethod
#     def backward(ctx, dl):
#         ...  # (softmax − 1 at the target) · dl / n
#
#
# return Loss.apply(scores)
# ```
#
# The check tells you whether the loss or the gradient differs, and in which case.


# %% lab="answer vocab_parallel_cross_entropy"
def vocab_parallel_cross_entropy(scores, targets, first, group=None):
    """The mean cross-entropy, of scores whose columns lie on all ranks."""
    ### BEGIN SOLUTION
    n, v = scores.shape
    here = (first <= targets) & (targets < first + v)
    place = (targets - first).where(here, 0)[:, None]

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores):
            largest = scores.amax(1)
            dist.all_reduce(largest, dist.ReduceOp.MAX, group=group)
            z = scores - largest[:, None]
            target = z.gather(1, place)[:, 0].where(here, 0)
            dist.all_reduce(target, group=group)
            total = z.exp().sum(1)
            dist.all_reduce(total, group=group)
            ctx.save_for_backward(z.exp() / total[:, None])
            return (total.log() - target).mean()

        @staticmethod
        def backward(ctx, dl):
            (softmax,) = ctx.saved_tensors
            return (softmax.scatter_add(1, place, -here[:, None].to(softmax.dtype))) * dl / n

    return Loss.apply(scores)
    ### END SOLUTION


# %% lab="tests vocab_parallel_cross_entropy"
check("tensor_parallel.vocab_parallel_cross_entropy", vocab_parallel_cross_entropy)

# %% [markdown] lab="readonly extra"
# # More, for those who want it
#
# These exercises are extra.

# %% [markdown] lab="readonly about-parallel_conv2d"
# ## 6. Two convolutions ({minutes} minutes, {points} points)
#
# A convolution's filters are what columns are to a matrix. (Sections 1 and 2 of the lesson.)
#
# - **You get**, the same on each rank: `x` of shape (n, C, y, x); `V` (M, C, 3, 3) with its bias `v` (M,);
#   `W` (D, M, 3, 3) with `w` (D,).
# - **You return** conv(ReLU(conv(x, V, v)), W, w), of shape (n, D, y, x), on every rank. Both have `padding=1`.
# - **You may use** f and g, and `F.conv2d`.
# - **It may cost** one all-reduce of the output forward, and one of x backward. Each rank computes with its part of V's filters
#   only.
#
# x and w are the same on all ranks. V, v and W are split. K needn't divide M; M is at least K.


# %% lab="answer parallel_conv2d"
def parallel_conv2d(x, V, v, W, w, group=None):
    """Two convolutions with ReLU between them, on every rank, of which each computes some of the M channels."""
    ### BEGIN SOLUTION
    K, r = dist.get_world_size(group), dist.get_rank(group)
    V, v, W = V.tensor_split(K)[r], v.tensor_split(K)[r], W.tensor_split(K, 1)[r]
    inside = F.conv2d(copy_to_region(x, group), V, v, padding=1).relu()
    return reduce_from_region(F.conv2d(inside, W, padding=1), group) + w[:, None, None]
    ### END SOLUTION


# %% lab="tests parallel_conv2d"
check("tensor_parallel.parallel_conv2d", parallel_conv2d)

# %% [markdown] lab="readonly about-sequence_parallel"
# ## 7. Positions in parts ({minutes} minutes, {points} points)
#
# Between g and the next f all ranks hold the same numbers. Let each hold some positions. (Section 7 of the lesson.)
#
# - **You get**, on each rank: `x` of shape (n, T/K, h), *its own positions*: rank 0 has the first T/K. The same on all:
#   `weight` and `bias` (h,) of a norm; `A` (h, m), `a` (m,), `B` (m, h), `b` (h,).
# - **You return** this rank's positions, (n, T/K, h), of x + GeLU(norm(x)·A + a)·B + b, where norm(x) is
#   `F.layer_norm(x, (h,), weight, bias)`.
# - **You may use** f and g, `torch.autograd.Function`, and all of `dist`.
# - **It may cost** one all-gather and one reduce-scatter of n·T·h numbers forward, and the same backward; and backward
#   all-reduces of 3·h numbers together. No all-reduce of n·T·h numbers. Each rank normalises its own positions only, and computes
#   with its part of A and B only.
#
# `weight`, `bias` and `b` are the same on all ranks, and *their whole gradient is wanted on every rank*, though each
# rank uses them for its own positions only. A, a and B are split. The gradient of x is that of this rank's positions.
# So are the gradients that arrive.


# %% lab="answer sequence_parallel"
def sequence_parallel(x, weight, bias, A, a, B, b, group=None):
    """x + MLP(norm(x)) of this rank's positions."""
    ### BEGIN SOLUTION
    K, r = dist.get_world_size(group), dist.get_rank(group)

    def gathered(x):
        parts = [x.new_empty(x.shape) for _ in range(K)]
        dist.all_gather(parts, x.contiguous(), group=group)
        return torch.cat(parts, 1)

    def scattered(x):
        parts = [part.contiguous() for part in x.chunk(K, 1)]
        mine = torch.empty_like(parts[0])
        dist.reduce_scatter(mine, parts, group=group)
        return mine

    class Border(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, forth, back):
            ctx.back = back
            return forth(x)

        @staticmethod
        def backward(ctx, dy):
            return ctx.back(dy), None, None

    weight, bias, b = copy_to_region(torch.stack([weight, bias, b]), group)
    whole = Border.apply(F.layer_norm(x, x.shape[-1:], weight, bias), gathered, scattered)
    A, a, B = A.tensor_split(K, 1)[r], a.tensor_split(K)[r], B.tensor_split(K)[r]
    return x + Border.apply(F.gelu(whole @ A + a) @ B, scattered, gathered) + b
    ### END SOLUTION


# %% lab="tests sequence_parallel"
check("tensor_parallel.sequence_parallel", sequence_parallel)

# %% [markdown] lab="readonly about-mend_bias_added_k_times"
# ## 8. Mend the bias ({minutes} minutes, {points} points)
#
# This layer, cut by rows, trains well until its bias has grown. On one rank it is right. Where is the bug? (Section 2
# of the lesson.)
#
# - **You get**, on each rank: `x`, its own columns of the input, which has m in all; the same on all: `B` (m, h),
#   `b` (h,).
# - **You return** the output, (n, h), on every rank.
# - **You may use** f and g.
# - **It may cost** one all-reduce of n·h numbers forward. Nothing is sent backward.
#
# x is this rank's own, and B is split. b is the same on all ranks. K needn't divide m.


# %% lab="given mend_bias_added_k_times"
def mend_bias_added_k_times(x, B, b, group=None):
    """X·B + b on every rank, where each has some columns of X."""
    K, r = dist.get_world_size(group), dist.get_rank(group)
    return reduce_from_region(x @ B.tensor_split(K)[r] + b, group)


# %% lab="answer mend_bias_added_k_times"
### BEGIN SOLUTION
def mend_bias_added_k_times(x, B, b, group=None):
    """X·B + b on every rank, where each has some columns of X."""
    K, r = dist.get_world_size(group), dist.get_rank(group)
    return reduce_from_region(x @ B.tensor_split(K)[r], group) + b


### END SOLUTION


# %% lab="tests mend_bias_added_k_times"
check("tensor_parallel.mend_bias_added_k_times", mend_bias_added_k_times)

# %% [markdown] lab="readonly about-mend_unsynced_layernorm"
# ## 9. Mend the norm ({minutes} minutes, {points} points)
#
# Each rank normalises its own positions, then all are gathered. Outputs are right, and so is the gradient of x. After a
# thousand steps the ranks have different models. (Section 7 of the lesson.)
#
# - **You get**, on each rank: `x` of shape (n, T/K, h), its own positions; the same on all: `weight` and `bias` (h,).
# - **You return** the normalised positions of all ranks, (n, T, h), on every rank. What follows uses them in a
#   different way on each rank, so different gradients arrive.
# - **You may use** f and g, and `AllPositions`, which has no bug.
# - **It may cost** one all-gather of n·T·h numbers forward, one reduce-scatter of as many backward, and backward all-reduces of
#   2·h numbers together. Each rank normalises its own positions only.
#
# weight and bias need their whole gradient on every rank: that of one rank which normalises all positions.


# %% lab="readonly all-positions"
class AllPositions(torch.autograd.Function):
    """All ranks' positions; each rank's gradient is the sum of what all find for its positions."""

    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        parts = [torch.empty_like(x) for _ in range(dist.get_world_size(group))]
        dist.all_gather(parts, x.contiguous(), group=group)
        return torch.cat(parts, 1)

    @staticmethod
    def backward(ctx, dy):
        parts = [part.contiguous() for part in dy.chunk(dist.get_world_size(ctx.group), 1)]
        mine = torch.empty_like(parts[0])
        dist.reduce_scatter(mine, parts, group=ctx.group)
        return mine, None


# %% lab="given mend_unsynced_layernorm"
def mend_unsynced_layernorm(x, weight, bias, group=None):
    """All positions, normalised, on every rank, each of which has normalised its own."""
    return AllPositions.apply(F.layer_norm(x, x.shape[-1:], weight, bias), group)


# %% lab="answer mend_unsynced_layernorm"
### BEGIN SOLUTION
def mend_unsynced_layernorm(x, weight, bias, group=None):
    """All positions, normalised, on every rank, each of which has normalised its own."""
    weight, bias = copy_to_region(torch.stack([weight, bias]), group)
    return AllPositions.apply(F.layer_norm(x, x.shape[-1:], weight, bias), group)


### END SOLUTION


# %% lab="tests mend_unsynced_layernorm"
check("tensor_parallel.mend_unsynced_layernorm", mend_unsynced_layernorm)

# %% [markdown] lab="readonly about-place_splits"
# ## 10. Which layers to cut? ({minutes} minutes, {points} points)
#
# A chain of layers doesn't fit on a rank. Cut as few of them as you can. (Sections 1 and 2 of the lesson.)
#
# - **You get** `layers`, a list of pairs (kind, n), first to last; the number of `ranks` K; and `room`: how many numbers a
#   rank can hold. Kinds are `"linear"`, with n numbers of weights; `"pointwise"`, such as GeLU, which works on each number
#   alone; and `"mixing"`, such as a norm, which needs all features of a token. n is a whole number and counts for all kinds; it
#   is 0 for pointwise layers.
# - **You return** a list as long as `layers`, of `"whole"`, `"columns"` and `"rows"`.
# - **You may use** arithmetic. There are up to 200 layers: too many choices to try all of them. A call takes at most 5
#   seconds.
# - **It may cost** as few all-reduces as can be.
#
# 1. Only linear layers are cut. One that is whole takes up n numbers on a rank, one that is cut n/K. What all layers
#    take up must be at most `room`.
# 2. A layer cut by columns leaves features split, until a layer cut by rows follows. Between the two there are only
#    pointwise layers, or none.
# 3. So each layer by columns is followed by one by rows, and each by rows follows one by columns.
# 4. Each such pair costs two all-reduces: g forward and f backward. What is whole costs none.
#
# Of all lists that obey 1 to 3, return one with the fewest all-reduces. There is always one.


# %% lab="answer place_splits"
def place_splits(layers, ranks, room):
    """For each layer "whole", "columns" or "rows", so that all fit, with the fewest all-reduces."""
    ### BEGIN SOLUTION

    def keep(new, state, held, splits):
        if state not in new or held < new[state][0]:
            new[state] = held, splits

    states = {(0, False): (0, [])}  # (pairs begun, in parts?): K times the fewest numbers held so far, and how
    for kind, n in layers:
        new = {}
        for (pairs, inside), (held, splits) in states.items():
            if kind == "linear" and inside:
                keep(new, (pairs, False), held + n, [*splits, "rows"])
            elif kind == "linear":
                keep(new, (pairs, False), held + ranks * n, [*splits, "whole"])
                keep(new, (pairs + 1, True), held + n, [*splits, "columns"])
            elif kind == "pointwise" or not inside:
                keep(new, (pairs, inside), held + ranks * n, [*splits, "whole"])
        states = new
    ends = [(pairs, splits) for (pairs, inside), (held, splits) in states.items() if not inside]
    fits = [(pairs, splits) for pairs, splits in ends if states[pairs, False][0] <= ranks * room]
    return min(fits)[1]
    ### END SOLUTION


# %% lab="tests place_splits"
check("tensor_parallel.place_splits", place_splits)

# %% [markdown] lab="readonly about-async_gather_matmul"
# ## 11. Multiply while it travels ({minutes} minutes, {points} points)
#
# Sequence parallelism gathers X, and then multiplies it: first the links are busy, then the cores. Let both work at the
# same time. (Sections 6 and 7 of the lesson.)
#
# - **You get**, on each rank: `x` (n, h), its own rows of X, as many on each rank; and `A` (h, m), its own columns of a
#   larger matrix. Both are float32.
# - **You return** Y, of shape (K·n, m): the rows of all ranks, in the order of the ranks, times this rank's A.
# - **You may use** torch, `dist.isend` and `dist.irecv`, or `dist.batch_isend_irecv`, which is the way on GPUs.
# - **It may cost** K − 1 messages out of each rank, of n·h numbers each, and 2·K·n·h·m FLOP on each rank. No collective.
#   While each message travels, into a rank or out of it, the rank multiplies at least one whole shard: post the message
#   before that product, and wait for it after.
#
# A **shard** is the n rows of one rank. Your own is there from the start, and K − 1 arrive. You choose from whom they come, and in
# which order: round a ring, say. x needn't be contiguous. Nothing here needs a gradient. Until its `wait()` has returned, what
# you send must not change, and what you receive isn't there.


# %% lab="answer async_gather_matmul"
def async_gather_matmul(x, A, group=None):
    """The rows of all ranks times this rank's A: each shard is multiplied while the next one travels."""
    ### BEGIN SOLUTION
    r, K = dist.get_rank(group), dist.get_world_size(group)
    shard, parts = x.contiguous(), [None] * K
    for step in range(K):
        coming, under_way = torch.empty_like(shard), []
        if step < K - 1:
            to_left = dist.P2POp(dist.isend, shard, group=group, group_peer=(r - 1) % K)
            from_right = dist.P2POp(dist.irecv, coming, group=group, group_peer=(r + 1) % K)
            under_way = dist.batch_isend_irecv([to_left, from_right])
        parts[(r + step) % K] = shard @ A
        for work in under_way:
            work.wait()
        shard = coming
    return torch.cat(parts)
    ### END SOLUTION


# %% lab="tests async_gather_matmul"
check("tensor_parallel.async_gather_matmul", async_gather_matmul)

# %% [markdown] lab="readonly where-next"
# ## Where to go from here
#
# Run your MLP on the real processes of this machine:
# `check("tensor_parallel.parallel_mlp", parallel_mlp, on="processes")`.
#
# What professionals use: `torch.distributed.tensor.parallel`, with `ColwiseParallel` and `RowwiseParallel`, and Megatron
# Core, whose f and g are called `copy_to_tensor_model_parallel_region` and `reduce_from_tensor_model_parallel_region`.
