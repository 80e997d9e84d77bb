# %% [markdown] lab="readonly title"
# # Lab 12: Hybrid parallelism and planning
#
# You number the ranks of a grid, train along three axes at once, send keys and values round a ring, and plan a month of training
# on at most 1,024 GPUs. Then you pay for it.
#
# [The lesson](../../course/12_hybrid/lesson.ipynb) explains what you need. Each exercise names its sections.

# %% [markdown] lab="readonly how"
# ## How to work
#
# Write each function in its cell, in place of `raise NotImplementedError()`. Run the cell below it: it runs your
# function (a distributed one on 1 to 8 ranks of a virtual cluster). It looks at the results *and* at what was sent, computed
# and held, and says what it saw. Try as often as you like. Each of the first four exercises has three folded hints. A
# program that hangs is stopped.
#
# **Axes.** dp: copies of the model, each with its own examples. tp: each matrix is cut. pp: the layers are divided among stages.
# cp: each sequence is cut.
#
# **Your arguments stay as they are**, unless the text says otherwise: values, order, `requires_grad`, `.grad`, hooks.

# %% lab="readonly imports"
import math

import torch
import torch.distributed as dist
import torch.nn.functional as F

from lockstep import check
from lockstep.planner import offers

# %% [markdown] lab="readonly about-make_grid"
# ## 1. Who shares a group? ({minutes} minutes, {points} points)
#
# Each axis of a grid has its groups, and on each axis a rank is in one of them. Find all groups of any grid. (Section 1 of the lesson.)
#
# - **You get** `ranks`, how many ranks there are, and `sizes`, a list with the size of each axis. Rank 0 and rank 1 are neighbours
#   on the first axis that isn't of size 1: the first axis is the *fastest*, the last one the slowest. One of the sizes may be
#   None: that axis gets what the others leave.
# - **You return** a list with an entry for each axis, in the order of `sizes`: the list of its groups. A group is a list of
#   ranks, the lowest first. The group with the lowest first rank comes first.
# - **You return** `None` instead if the sizes don't fit: their product isn't `ranks`, or, where one of them is None, the product of
#   the others doesn't divide `ranks`.
# - **You may use** anything.
# - **It may cost** nothing: there are at most a few hundred ranks.
#
# Two ranks share a group of an axis if they differ in their place on that axis alone. On an axis of size 1 each rank is a
# group of its own. There may be any number of axes, at least one, and each size is 1 or more. Leave `sizes` as it was.

# %% [markdown] lab="hint make_grid"
# Draw six ranks with the sizes [2, 3] as a table of three rows and two columns, and number them row by row. Which ranks
# stand in one row, which in one column? Now do it for eight ranks and [2, 2, 2].
#
# ---
#
# Neighbours on the first axis are 1 apart. On the second axis they are as far apart as the first one is long. On each
# further axis they are as far apart as all faster ones together: that is the *stride*. A rank's place on an axis is
# `rank // stride % size`. The ranks at place 0 are the first ones of their groups. The trap: with three axes, the groups
# of the middle axis neither lie side by side nor span all ranks.
#
# ---
#
# ```python
# known = ...  # the product of the sizes that aren't None
# if ...:
#     return None
# grid, stride = [], 1
# for size in sizes:
#     if size is None:
#         size = ...
#     groups = []
#     for rank in range(ranks):
#         if ...:  # the first one of its group
#             groups.append([...])
#     grid.append(groups)
#     stride = ...
# return grid
# ```
#
# The check tells you the first group that is wrong.


# %% lab="answer make_grid"
def make_grid(ranks, sizes):
    """For each axis the list of its groups; None if the sizes don't fit."""
    ### BEGIN SOLUTION
    known = math.prod(size for size in sizes if size is not None)
    if ranks % known or (None not in sizes and known != ranks):
        return None
    grid, stride = [], 1
    for size in sizes:
        size = ranks // known if size is None else size
        first = [rank for rank in range(ranks) if rank // stride % size == 0]
        grid.append([[rank + stride * i for i in range(size)] for rank in first])
        stride *= size
    return grid
    ### END SOLUTION


# %% lab="tests make_grid"
check("hybrid.make_grid", make_grid)

# %% [markdown] lab="readonly after-make_grid"
# GPT-3 as NVIDIA ran it in 2021: 96 GPUs, tp 8, pp 12. Add dp, and see which ranks add up their gradients.

# %%
for axis, groups in zip(["tp", "dp", "pp"], make_grid(192, [8, None, 12])):
    print(f"{axis}: {len(groups)} groups of {len(groups[0])}, the first one {groups[0]}")
# %% [markdown] lab="readonly about-train_2x2x2"
# ## 2. Three axes at once ({minutes} minutes, {points} points)
#
# One step of training, with tensor, pipeline and data parallelism together. Write what each rank does. (Sections 1 and 2 of the lesson.)
#
# The model is a chain of stages, one for each place on pp. A stage turns a row x into x + relu(x·A)·B, with A (h, m) and B (m, h). On
# tp, each rank has some of A's columns, and the rows of B with the same numbers. On dp there are copies
# of all that, each with its own examples.
#
# - **You get**, on each rank: `A` and `B`, this rank's part of its stage's matrices, float64; `rows`, a list: how many examples each
#   micro-batch of this copy has; `inputs`, on the first stage a list of the micro-batches, (n, h) each, else an empty list;
#   `targets`, on the last stage a list of what should come out, in the same shapes, else an empty list; `count`, how many
#   examples all copies have together; and `groups`, a dict of this rank's process groups, by `"tp"`, `"pp"` and `"dp"`.
# - **You return** a list of two tensors, the gradients of `A` and of `B`, of this loss: the sum, over all examples of all
#   copies, of (y − target)², divided by `count`. Of an example, that is added up over its h numbers.
# - **You may use** torch and its `dist`.
# - **It may cost**, a rank: on tp, 2·n·h numbers in all-reduces, where n is the sum of `rows`: of each micro-batch, one all-reduce in
#   the forward pass and one in the backward pass, which stage 0 may leave out; on pp, 2·n·h numbers in messages, between neighbours alone; on dp, one gradient of `A` and of `B`, by
#   all-reduce. Nothing else is sent, and no group but these three is used.
#
# The ranks of a tp group have the same inputs and targets. Rank i of a pp group is stage i. An axis may be of size 1. Copies may
# have different numbers of examples, and micro-batches too, each with one example or more, and one micro-batch or more a copy;
# parts of A may differ in width. Where x·A is 0, take 0 for relu's gradient, as torch does.
#
# A message goes to a rank of the group: `dist.send(t, group=groups["pp"], group_dst=stage + 1)`, and `dist.recv` with `group_src`.
# Send whole tensors that lie in one piece: `.contiguous()`.

# %% [markdown] lab="hint train_2x2x2"
# Take 8 ranks and draw the grid of exercise 1: which ranks are stage 0? In the forward pass of one micro-batch, what does each
# of them compute, and with whom does it add something up? What goes to which rank of stage 1?
#
# ---
#
# First all forward passes, then all backward passes; of each micro-batch, keep what its backward pass needs. Write that pass by
# hand: for z = x·A, a = relu(z) and the gradient g of the output, the gradient of B is aᵀ·g, that of z is g·Bᵀ where z > 0, that of A
# is xᵀ·dz. The stage before gets g + dz·Aᵀ, whose second term has to be added up over tp. The traps: x is added
# *once*, not by each rank of tp; and the gradients of A and B belong to your part alone: nothing is added up over tp there.
#
# ---
#
# ```python
# stage, stages = dist.get_rank(groups["pp"]), dist.get_world_size(groups["pp"])
# kept = []
# for i, n in enumerate(rows):
#     x = ...  # of inputs, or received
#     z = x @ A
#     more = z.relu() @ B
#     dist.all_reduce(more, group=...)
#     y = x + more
#     if stage < stages - 1:
#         dist.send(...)
#     kept.append((x, z, y))
# dA, dB = torch.zeros_like(A), torch.zeros_like(B)
# for i, (x, z, y) in enumerate(kept):
#     g = ...  # from the loss, or received
#     dB += ...
#     dz = ...
#     dA += ...
#     if stage > 0:
#         ...  # what the stage before needs
# for gradient in (dA, dB):
#     ...
# return [dA, dB]
# ```
#
# The check tells you which gradient is wrong on which rank, and the bytes that were sent on each axis.


# %% lab="answer train_2x2x2"
def train_2x2x2(A, B, rows, inputs, targets, count, groups):
    """The gradients of this rank's parts of A and B, of the loss of all copies."""
    ### BEGIN SOLUTION
    stage, stages = dist.get_rank(groups["pp"]), dist.get_world_size(groups["pp"])
    kept = []
    for i, n in enumerate(rows):
        x = inputs[i] if stage == 0 else A.new_empty(n, len(A))
        if stage > 0:
            dist.recv(x, group=groups["pp"], group_src=stage - 1)
        z = x @ A
        more = z.relu() @ B
        dist.all_reduce(more, group=groups["tp"])
        y = x + more
        if stage < stages - 1:
            dist.send(y, group=groups["pp"], group_dst=stage + 1)
        kept.append((x, z, y))
    dA, dB = torch.zeros_like(A), torch.zeros_like(B)
    for i, (x, z, y) in enumerate(kept):
        if stage == stages - 1:
            g = 2 * (y - targets[i]) / count
        else:
            g = torch.empty_like(y)
            dist.recv(g, group=groups["pp"], group_src=stage + 1)
        dB += z.relu().T @ g
        dz = (g @ B.T) * (z > 0)
        dA += x.T @ dz
        if stage > 0:
            dx = dz @ A.T
            dist.all_reduce(dx, group=groups["tp"])
            dist.send(g + dx, group=groups["pp"], group_dst=stage - 1)
    for gradient in (dA, dB):
        dist.all_reduce(gradient, group=groups["dp"])
    return [dA, dB]
    ### END SOLUTION


# %% lab="tests train_2x2x2"
check("hybrid.train_2x2x2", train_2x2x2)

# %% [markdown] lab="readonly about-ring_attention"
# ## 3. Attention goes round ({minutes} minutes, {points} points)
#
# A sequence is too long for one rank. Each rank has some of its positions: queries stay, keys and values go round. (Section 4 of the lesson.)
#
# A sequence has 2·K·c positions, in 2K chunks of c positions each. Rank r of the K ranks has the chunks r and 2K − 1 − r.
#
# - **You get**, on each rank, `q`, `k` and `v`, each of shape (H, 2c, d), float64: queries, keys and values of H heads, at this
#   rank's positions. The rows of chunk r come first, then those of chunk 2K − 1 − r.
# - **You return** causal attention over the *whole* sequence, at this rank's positions: (H, 2c, d), float64. Each position attends
#   to itself and to all earlier ones. A score is q·k/√d; the weights are the softmax of a position's scores.
# - **You may use** torch, and messages: `dist.isend`, `dist.irecv`, `dist.batch_isend_irecv`. No collective.
# - **It may cost**, a rank: at most 2(K − 1) messages, of 4(K − 1)·H·c·d numbers in all: `k` and `v` may travel side by side,
#   or as one message; at most 2K + 2 pairs of chunks, 4·H·c²·d FLOP each. From the start of each message to the wait for it,
#   the rank computes at least one pair of chunks. Besides its arguments it holds at most 12 times the bytes of `k`, what
#   it returns included: tried with K = 8, c = 2, d = 32.
#
# A *pair* is the queries of one chunk with the keys and values of one chunk: two matrix products. Nothing is needed of
# a pair whose keys all come later than its queries: 2K + 1 pairs are left, and you may compute one more. Scores may be in
# the thousands: exp(1,000) is infinite. Gradients aren't needed.
# `dist.get_rank(group)` is r, and K may be 1. Give each message `group=group, group_dst=…` or `group_src=…`; in
# `dist.P2POp(dist.isend, tensor, group=group, group_peer=…)`, either end is `group_peer`.

# %% [markdown] lab="hint ring_attention"
# Take K = 2: chunks 0, 1, 2, 3. Which does rank 0 have, which rank 1? Write down all pairs of a chunk of queries and a chunk of keys
# that count. How many does each rank compute with its own keys, how many with those of the other one?
#
# ---
#
# Keep for each of your 2c queries three things: the largest score so far, the sum of exp(score − largest), and the sum of
# exp(score − largest)·v. A new block of keys changes all three. With keys of a rank before you, both your chunks attend to its
# first chunk alone. With keys of a rank after you, only your second chunk attends, to both of its chunks. The traps: start the
# next message *before* you compute, and don't write to a tensor that is still being sent.
#
# ---
#
# ```python
# def add(rows, keys, values, mask=None):
#     scores = q[:, rows] @ keys.mT / math.sqrt(d)
#     ...  # the mask, the new largest, and both sums
#
# kv = torch.stack([k, v])
# for step in range(K):
#     owner = ...  # whose kv this is
#     if step < K - 1:
#         coming = torch.empty_like(kv)
#         works = ...  # kv to the right neighbour, coming from the left one
#     if owner == r:
#         add(slice(None), ..., ..., ...)  # own: the mask is that of 2c positions in their order
#     elif owner < r:
#         add(slice(None), ..., ...)
#     else:
#         add(slice(c, None), ..., ...)
#     ...  # wait, and take what came
# return ...
# ```
#
# The check tells you the first number that is wrong, and beside which message nothing is computed.


# %% lab="answer ring_attention"
def ring_attention(q, k, v, group=None):
    """Causal attention of all ranks' positions, at this rank's: (H, 2c, d)."""
    ### BEGIN SOLUTION
    r, K = dist.get_rank(group), dist.get_world_size(group)
    H, n, d = q.shape
    c = n // 2
    most = q.new_full((H, n, 1), -math.inf)
    weight, out = q.new_zeros(H, n, 1), torch.zeros_like(q)

    def add(rows, keys, values, mask=None):
        scores = q[:, rows] @ keys.mT / math.sqrt(d)
        if mask is not None:
            scores = scores.masked_fill(mask, -math.inf)
        higher = torch.maximum(most[:, rows], scores.amax(-1, keepdim=True))
        old, new = (most[:, rows] - higher).exp(), (scores - higher).exp()
        weight[:, rows] = old * weight[:, rows] + new.sum(-1, keepdim=True)
        out[:, rows] = old * out[:, rows] + new @ values
        most[:, rows] = higher

    kv = torch.stack([k, v])
    for step in range(K):
        owner, works = (r - step) % K, []
        if step < K - 1:
            coming = torch.empty_like(kv)
            sending = dist.P2POp(dist.isend, kv, group=group, group_peer=(r + 1) % K)
            receiving = dist.P2POp(dist.irecv, coming, group=group, group_peer=(r - 1) % K)
            works = dist.batch_isend_irecv([sending, receiving])
        if owner == r:  # within a chunk and between them, earlier rows are earlier positions
            add(slice(None), *kv, torch.ones(n, n, dtype=torch.bool).triu(1))
        elif owner < r:
            add(slice(None), *kv[:, :, :c])
        else:
            add(slice(c, None), *kv)
        for work in works:
            work.wait()
        kv = coming if works else kv
    return out / weight
    ### END SOLUTION


# %% lab="tests ring_attention"
check("hybrid.ring_attention", ring_attention)
# %% [markdown] lab="readonly about-the_invoice"
# ## 4. The invoice ({minutes} minutes, {points} points)
#
# You may rent up to 1,024 H100s, and have about 30 days. Choose how many, and a plan for them. Then pay. (Sections 7 and 8 of the lesson.)
#
# - **You get** `plans`, a list of dicts, and `job`, a dict. Of each plan: `"gpus"`, how many it takes, `"dp"`, `"tp"`, `"pp"`,
#   `"micro_batch"`, `"recompute"`; and what the planner, or for some lists a paper, says of it: `"seconds"` of a step, and `"bytes"`
#   on the fullest GPU. (The planner also says how many of the seconds go into communication, bubble and recomputing. You don't
#   need that; your bill shows it.) Of the job: `"steps"` in all; `"memory"`, bytes of a GPU; `"days"`, the deadline; `"price"`,
#   dollars for an hour of *one* GPU; `"between"`, `"writing"` and `"restart"`, see below.
# - **You return** `(number, days, dollars)`: the place of the plan in `plans`, how many days it takes, failures included, and
#   what it costs. The plan fits into memory, ends by the deadline, and costs least of all such plans. If there is none, return `None`.
# - **You may use** anything.
# - **It may cost** nothing: there are at most a thousand plans.
#
# **Failures.** One GPU alone would run for `between` seconds from one interruption to the next, and n GPUs run for M = between/n. They
# write a checkpoint in d = writing/n seconds. It is best to write one every t = √(2·d·M) seconds (Young, 1974). An interruption
# costs half of t, and R = `restart` seconds. So each second of training takes 1 + d/t + (t/2 + R)/M seconds.
#
# A plan that needs exactly the memory fits. All GPUs are paid for from the first second to the last. An answer
# that costs up to 2 % more than the best earns half. Leave `plans` and `job` as they were.

# %% [markdown] lab="hint the_invoice"
# Take one plan: 512 GPUs, 15 s a step, 60,000 steps. How many days is that without a failure? With `between` = 1.64·10⁸ seconds,
# how many hours are there between two interruptions of 512 GPUs, and of 1,024?
#
# ---
#
# Which plans are left when memory and deadline are kept? Of these the cheapest wins, and it need not be the fastest: more
# GPUs spend more of their time on communication and failures, and you pay for all of them. The trap: whoever forgets the failures
# misses the deadline.
#
# ---
#
# ```python
# best = None
# for number, plan in enumerate(plans):
#     n = plan["gpus"]
#     M, d = ..., ...
#     t = ...
#     days = ...
#     dollars = ...
#     if ...:  # does it fit, in time too?
#         if best is None or ...:
#             best = number, days, dollars
# return best
# ```
#
# The check tells you how much more your plan costs than the best one, and draws both bills.


# %% lab="answer the_invoice"
def the_invoice(plans, job):
    """The cheapest plan that fits and is in time, its days and its dollars; None if there is none."""
    ### BEGIN SOLUTION
    best = None
    for number, plan in enumerate(plans):
        n = plan["gpus"]
        M, d = job["between"] / n, job["writing"] / n
        t = math.sqrt(2 * d * M)
        longer = 1 + d / t + (t / 2 + job["restart"]) / M
        days = job["steps"] * plan["seconds"] * longer / 86400
        dollars = days * 24 * n * job["price"]
        if plan["bytes"] <= job["memory"] and days <= job["days"] and (best is None or dollars < best[2]):
            best = number, days, dollars
    return best
    ### END SOLUTION


# %% lab="tests the_invoice"
check("hybrid.the_invoice", the_invoice)

# %% [markdown] lab="readonly after-the_invoice"
# Now your own order: Llama 3 70B on 2.5 trillion tokens, within 30 days. Change the price, the tokens or the deadline: when do all
# 1,024 GPUs pay off?

# %%
plans = offers.field("llama3-70b", "dgx-h100", gpus=[256, 512, 768, 1024], batch=1536)
job = offers.job("llama3-70b", "dgx-h100", batch=1536, tokens=2.5e12, days=30, price=2.5)
found = the_invoice(plans, job)
if found is None:
    print("No plan fits and ends in time: allow more days, or fewer tokens.")
else:
    number, days, dollars = found
    print(f"{plans[number]}\n{days:.1f} days, ${dollars / 1e6:.2f} M")

# %% [markdown] lab="readonly extra"
# # If you want more
#
# These exercises are extra.

# %% [markdown] lab="readonly about-is_balanced_ring"
# ## 5. Catch an unbalanced ring ({minutes} minutes, {points} points)
#
# Now you write the test. Somebody hands you a function `fn(q, k, v, group=None)` that should be the ring attention of exercise 3. Say
# `True` if it is one and balanced, and `False` if it isn't. (Section 4 of the lesson.)
#
# It is both if all of this holds:
#
# - On each rank of each group, its values are right: causal attention over all positions, up to rounding in float64.
# - It calls no collective.
# - It computes few pairs of chunks in vain: 2K + 1 are needed, and on each rank it computes at most 2K + 2, 4·H·c²·d FLOP
#   each. So no rank computes much more than another.
#
# When messages start, and what is held in memory, doesn't matter here.
#
# Call `run(program, *arguments, ranks=…, on="virtual", timeout=…)` in your test: `from lockstep import run`, and `from lockstep.errors
# import RunError`. On each rank it calls `program(*arguments)`, a function of yours that calls `fn`. It returns an outcome:
# `outcome.values` is what the program returned on each rank, and `outcome.trace` has the events: `event.rank`, `event.flops` and
# `event.kind`, which is "compute", "send", "recv", or a collective's name, as "all_gather" or "barrier". `event.flops` counts matrix
# products alone, and `dist.new_group` leaves no event. A function that hangs or fails is no ring: `run` raises a `RunError`.
#
# The check tries your test on about fifteen functions and has 60 seconds for all of them: make at most four runs for each, of up to 4 ranks.
# A function may be wrong for more than two ranks only, in a group that isn't the world, such as [1, 3] of 4, on some ranks, or for
# scores in the thousands.


# %% lab="answer is_balanced_ring"
def is_balanced_ring(fn):
    """Whether fn(q, k, v, group=None) is causal ring attention, in zig-zag order, that computes no pair in vain."""
    ### BEGIN SOLUTION
    from lockstep import run
    from lockstep.errors import RunError

    H, c, d = 2, 2, 3

    def mine(whole, r, K):
        chunks = whole.chunk(2 * K, dim=1)
        return torch.cat([chunks[r], chunks[2 * K - 1 - r]], dim=1)

    def agrees(members, large):
        """Whether this rank has its rows of the right output."""
        K, group = len(members), dist.new_group(members)
        if dist.get_rank() not in members:
            return True
        drawn = torch.Generator().manual_seed(5)
        whole = torch.randn(3, H, 2 * K * c, d, generator=drawn, dtype=torch.float64)
        whole[:2] *= large
        wanted = F.scaled_dot_product_attention(*whole, is_causal=True)
        r = members.index(dist.get_rank())
        out = fn(*(mine(t, r, K) for t in whole), group=group)
        return out.shape == (H, 2 * c, d) and torch.allclose(out, mine(wanted, r, K), rtol=1e-9, atol=1e-9)

    def computes(K):
        r = dist.get_rank()
        drawn = torch.Generator().manual_seed(r)
        fn(*torch.randn(3, H, 2 * c, d, generator=drawn, dtype=torch.float64))

    try:
        for members, large in (([0, 1, 2, 3], 1), ([1, 3], 1), ([0, 1, 2], 60)):
            if not all(run(agrees, members, large, ranks=4, on="virtual", timeout=10).values):
                return False
        trace = run(computes, 4, ranks=4, on="virtual", timeout=10).trace
    except RunError:
        return False
    flops = [sum(event.flops for event in trace if event.rank == r) for r in range(4)]
    messages = all(event.kind in ("compute", "send", "recv") for event in trace)
    return messages and max(flops) <= (2 * 4 + 2) * 4 * H * c * c * d
    ### END SOLUTION


# %% lab="tests is_balanced_ring"
check("hybrid.is_balanced_ring", is_balanced_ring)

# %% [markdown] lab="readonly about-halo_exchange"
# ## 6. Only the edge travels ({minutes} minutes, {points} points)
#
# A weather field is cut into blocks, one on each rank. A step needs each cell's neighbours, and at the edge of a block these
# are on other ranks. Fetch them. (The lesson's [more](../../course/12_hybrid/more.ipynb).)
#
# - **You get**, on each rank: `block` (h, w), a tensor of any dtype; `P` and `Q`, whose product is the number of ranks in the group;
#   and `width`, 1 or more. The blocks form P rows of Q. Rank r has the block in row r // Q and column r % Q.
# - **You return** a new tensor (h + 2·width, w + 2·width) of the same dtype: the block in the middle, and around it a rim of its
#   neighbours' cells, `width` cells wide, corners too.
# - **You may use** torch, and `isend`, `irecv` or `dist.batch_isend_irecv`: messages, no collective.
# - **It may cost** each rank 4 messages, of 2·width·(h + w + 2·width) cells in all. Where P is 1 nothing is sent up or down: 2
#   messages of width·(h + 2·width) cells are left. Where Q is 1 nothing goes to the sides: 2 of width·(w + 2·width) are left.
#   All ranks send at the same time.
#
# The field has no edge. Above the top row of blocks comes the bottom row, and to the left of the first column comes the last
# one. So a rank may be its own neighbour: with P = 1 above and below, with Q = 1 on both sides. With P = 2, the neighbours above and below are the same rank.
#
# All blocks in a row have the same h, and all in a column the same w. Each is at least `width`. `block` may lie in memory in
# any order. Leave it as it was. Between two ranks, messages without a tag arrive in the order in which they were sent.


# %% lab="answer halo_exchange"
def halo_exchange(block, P, Q, width, group=None):
    """The block (h, w) with a rim of its neighbours' cells: (h + 2·width, w + 2·width)."""
    ### BEGIN SOLUTION
    row, column = divmod(dist.get_rank(group), Q)

    def rimmed(x, dim, before, after):
        first, last = x.narrow(dim, 0, width), x.narrow(dim, x.shape[dim] - width, width)
        if before == dist.get_rank(group):
            return torch.cat([last, x, first], dim)
        first, last = first.contiguous(), last.contiguous()
        in_front, behind = torch.empty_like(last), torch.empty_like(first)
        works = dist.batch_isend_irecv(
            [
                dist.P2POp(dist.isend, first, group=group, group_peer=before),
                dist.P2POp(dist.isend, last, group=group, group_peer=after),
                dist.P2POp(dist.irecv, behind, group=group, group_peer=after),
                dist.P2POp(dist.irecv, in_front, group=group, group_peer=before),
            ]
        )
        for work in works:
            work.wait()
        return torch.cat([in_front, x, behind], dim)

    tall = rimmed(block, 0, (row - 1) % P * Q + column, (row + 1) % P * Q + column)
    return rimmed(tall, 1, row * Q + (column - 1) % Q, row * Q + (column + 1) % Q)
    ### END SOLUTION


# %% lab="tests halo_exchange"
check("hybrid.halo_exchange", halo_exchange)

# %% [markdown] lab="readonly about-ulysses"
# ## 7. Heads for positions ({minutes} minutes, {points} points)
#
# Ring attention sends keys and values round. Ulysses changes what is cut: before attention each rank gets all positions of some
# heads, and after it everything goes back. (Section 5 of the lesson.)
#
# - **You get**, on each rank: `q` (H, t, d), and `k` and `v` (G, t, d), float64: H heads of queries and G of keys and values, for this rank's
#   t positions. `lengths` is a list: rank r has `lengths[r]` positions, which follow those of rank r − 1. `attend(q, k, v)` is
#   causal attention on one rank, for queries (h, T, d), keys and values (g, T, d) with T positions in their order. It returns (h, T, d).
# - **You return** this rank's part of attention over all positions, (H, t, d): a new tensor.
# - **You may use** torch and its collectives, above all
#   `dist.all_to_all_single(out, given, output_split_sizes, input_split_sizes, group=group)`.
# - **It may cost** two all-to-alls and no other collective. A rank sends only what another rank needs, and its own part to itself.
#   Each rank calls `attend` once, with H/K heads of queries and G/K of keys and values, and all T positions.
#
# K divides G, and G divides H. Head i of the queries attends to head i // (H/G) of keys and values. So does `attend`, with the
# h and g heads that it gets. A rank may have no positions: `lengths` may hold a 0. It calls `attend` all the same. No gradients are
# needed.


# %% lab="answer ulysses"
def ulysses(q, k, v, attend, lengths, group=None):
    """This rank's part (H, t, d) of causal attention over all positions."""
    ### BEGIN SOLUTION
    K = dist.get_world_size(group)
    (H, t, d), T = q.shape, sum(lengths)
    cut = [H // K, len(k) // K, len(k) // K]
    packed = torch.cat([part for parts in zip(*(x.chunk(K) for x in (q, k, v))) for part in parts])
    each = sum(cut)
    arrived = q.new_empty(each * T * d)
    sizes, mine = [each * n * d for n in lengths], [each * t * d] * K
    dist.all_to_all_single(arrived, packed.flatten(), sizes, mine, group=group)
    whole = torch.cat([x.view(each, n, d) for x, n in zip(arrived.split(sizes), lengths)], dim=1)
    out = attend(*whole.split(cut))
    parts = [x.flatten() for x in out.split(lengths, dim=1)]
    back = q.new_empty(H * t * d)
    dist.all_to_all_single(back, torch.cat(parts), [H // K * t * d] * K, [len(x) for x in parts], group=group)
    return back.view(H, t, d)
    ### END SOLUTION


# %% lab="tests ulysses"
check("hybrid.ulysses", ulysses)

# %% [markdown] lab="readonly about-checkpoint_interval"
# ## 8. How often to save? ({minutes} minutes, {points} points)
#
# Training that fails begins again at its last checkpoint. Save too rarely, and much work is lost. Save too often, and you do little
# else. Find the best number of steps between two checkpoints. (Section 8 of the lesson.)
#
# - **You get** `step`, the seconds of a step; `nbytes`, the size of a checkpoint; `bandwidth`, the bytes that storage takes in a second;
#   `gpu_hours`, how many hours one GPU runs on average until it interrupts the job; `gpus`, how many there are; and `restart`, the seconds
#   from an interruption until the job runs again.
# - **You return** `(steps, goodput)`: the whole number of steps between two checkpoints, 1 or more, at which the loss is least; and the
#   goodput there. Both may be off by rounding alone.
# - **You may use** anything.
# - **It may cost** nothing: the best number is below 100,000.
#
# Let M be the seconds between two interruptions of the job, d the seconds of a checkpoint, R those of a restart, and t = steps·step. For each
# second of training, d/t seconds go into checkpoints, and (t/2 + R)/M into interruptions. The loss is the sum of both:
# loss = d/t + (t/2 + R)/M. The goodput is 1/(1 + loss).
#
# Each GPU can interrupt the whole job, so n GPUs together run for 1/n of the time between two interruptions.
# Young's formula gives the best t. It is seldom a whole number of steps; of the two next to it, take the one with the smaller loss.
# The two losses are never equal here.


# %% lab="answer checkpoint_interval"
def checkpoint_interval(step, nbytes, bandwidth, gpu_hours, gpus, restart):
    """The best number of steps between two checkpoints, and the goodput."""
    ### BEGIN SOLUTION
    d, M = nbytes / bandwidth, 3600 * gpu_hours / gpus

    def loss(steps):
        return d / (steps * step) + (steps * step / 2 + restart) / M

    below = max(1, math.floor(math.sqrt(2 * d * M) / step))
    best = min(below, below + 1, key=loss)
    return best, 1 / (1 + loss(best))
    ### END SOLUTION


# %% lab="tests checkpoint_interval"
check("hybrid.checkpoint_interval", checkpoint_interval)

# %% [markdown] lab="readonly about-fold_experts"
# ## 9. Experts inside the grid ({minutes} minutes, {points} points)
#
# Experts bring no ranks of their own: the ranks that are tensor and data parallel in attention share out the experts. Find who has
# which experts, and who sums their gradients. (Section 1 of the lesson.)
#
# - **You get** `tp`, `dp`, `pp`, `ep` and `experts`, whole numbers from 1 on. Rank = tensor + tp·(data + dp·stage). There are
#   `experts` experts in each layer.
# - **You return** three lists, as a tuple:
#   - the groups of ranks that have all experts of their layers between them, `ep` ranks each: the *ep groups*;
#   - the groups of ranks that have the same experts of the same layers, and sum their gradients: the *copies*. A rank whose
#     experts nobody else has is a group of its own;
#   - for each rank, rank 0 first, the list of the experts that it has.
# - **You return** `None` if it doesn't work: `ep` doesn't divide dp·tp, or doesn't divide `experts`.
# - **You may use** anything.
# - **It may cost** nothing.
#
# Inside a stage the ep groups are neighbours: the first `ep` ranks are one group, the next `ep` ranks the next one, and so on. So an
# all-to-all stays on a node as long as it can. An ep group may be larger than a tensor group, or smaller; a tensor group may span
# several ep groups, or lie partly in one and partly in the next.
# In an ep group, rank i, from 0 on, has experts/ep experts, from number i·experts/ep on.
# An expert isn't cut.
#
# A group is a list of ranks, the lowest first. The group with the lowest first rank comes first.


# %% lab="answer fold_experts"
def fold_experts(tp, dp, pp, ep, experts):
    """The ep groups, the groups of copies, and the experts of each rank; None if ep doesn't divide what it should."""
    ### BEGIN SOLUTION
    stage, each = tp * dp, experts // ep
    if stage % ep or experts % ep:
        return None
    ranks = range(stage * pp)
    groups = [list(ranks[first : first + ep]) for first in ranks[::ep]]
    copies = [list(range(s * stage + i, (s + 1) * stage, ep)) for s in range(pp) for i in range(ep)]
    return groups, copies, [list(range(r % ep * each, (r % ep + 1) * each)) for r in ranks]
    ### END SOLUTION


# %% lab="tests fold_experts"
check("hybrid.fold_experts", fold_experts)

# %% [markdown] lab="readonly about-why_infeasible"
# ## 10. Why doesn't it run? ({minutes} minutes, {points} points)
#
# Most plans are impossible, and each for a reason. Name the reason, for twelve plans and for others. (Sections 3 and 7 of the lesson.)
#
# - **You get** three dicts:
#   - `model`: `"layers"` l, `"hidden"` h, `"heads"` a, `"seq"` s, `"parameters"` N, and `"batch"`, the sequences of a step;
#   - `cluster`: `"gpus"`, `"node"` (the GPUs of a node, which NVLink joins), and `"memory"` (the bytes of a GPU);
#   - `plan`: `"tp"`, `"pp"`, `"dp"`, `"micro_batch"` b, `"zero"` (0 to 3), and `"recompute"` (True: each layer is computed again).
# - **You return** the *first* of these that holds:
#   - `"divisibility"`: tp·pp·dp isn't `gpus`, tp doesn't divide the heads, or pp doesn't divide the layers;
#   - `"batch"`: dp·b doesn't divide the batch;
#   - `"link"`: tp doesn't divide `node`, so that a tensor group would leave its node;
#   - `"weights"`, `"gradients"`, `"optimizer"` or `"activations"`: the four of them together need more bytes than a GPU has, and
#     this one needs most. Of equal ones, the one that comes first here: they are then equal to the byte;
#   - `"runs"`: nothing speaks against it.
# - **You may use** anything.
# - **It may cost** nothing.
#
# A GPU of the first stage holds n = N/(tp·pp) parameters, each with 2 bytes of weights, 4 of gradients and 12 of the optimizer. From
# `zero` 1 on the dp ranks share out the optimizer, from 2 on the gradients, too, and with 3 the weights, too: divide by dp.
#
# A layer keeps A = s·b·h·(10 + 24/tp + 5·a·s/(h·tp)) bytes of activations of a micro-batch. There are m = batch/(dp·b) micro-batches,
# and the first stage keeps min(pp, m) of them, for its l/pp layers. With `recompute` a layer keeps 2·s·b·h bytes of each, not A;
# and there is one A besides, for the layer that is being computed again.


# %% lab="answer why_infeasible"
def why_infeasible(model, cluster, plan):
    """The first reason why the plan can't run, or "runs"."""
    ### BEGIN SOLUTION
    layers, h, a, s, N, batch = (model[name] for name in ("layers", "hidden", "heads", "seq", "parameters", "batch"))
    tp, pp, dp, b, zero = (plan[name] for name in ("tp", "pp", "dp", "micro_batch", "zero"))
    if tp * pp * dp != cluster["gpus"] or a % tp or layers % pp:
        return "divisibility"
    if batch % (dp * b):
        return "batch"
    if cluster["node"] % tp:
        return "link"
    A = s * b * h * (10 + 24 / tp + 5 * a * s / (h * tp))
    kept = min(pp, batch // (dp * b)) * layers // pp
    n = N / (tp * pp)
    held = {
        "weights": 2 * n / (dp if zero == 3 else 1),
        "gradients": 4 * n / (dp if zero >= 2 else 1),
        "optimizer": 12 * n / (dp if zero >= 1 else 1),
        "activations": kept * 2 * s * b * h + A if plan["recompute"] else kept * A,
    }
    return max(held, key=held.get) if sum(held.values()) > cluster["memory"] else "runs"
    ### END SOLUTION


# %% lab="tests why_infeasible"
check("hybrid.why_infeasible", why_infeasible)

# %% [markdown] lab="readonly about-missing_axis"
# ## 11. What the table leaves out ({minutes} minutes, {points} points)
#
# Papers print some axes of a plan and leave others out. Most can be worked out. Do it for rows of published tables, of Megatron-LM
# (2021), Llama 3 and NVIDIA's Megatron-Bridge, and for some of our own. (Sections 1 and 7 of the lesson.)
#
# - **You get** `row`, a dict with these keys: `"gpus"`, `"tp"`, `"cp"`, `"pp"`, `"dp"`, `"ep"`, `"micro_batch"` (sequences),
#   `"micro_batches"` (of each copy, in a step), `"batch"` (sequences of a step), `"seq"` (tokens of a sequence) and `"tokens"` (of a
#   step). A value is a whole number, or `None` where the row doesn't say it. Exactly one value is `"?"`.
# - **You return** what belongs in place of `"?"`, a whole number; or `None` if it doesn't follow from the row.
# - **You may use** anything.
# - **It may cost** nothing.
#
# Three rules hold: the GPUs are tp·cp·pp·dp; the batch is dp·micro_batch·micro_batches; and the tokens are batch·seq. Experts share the
# ranks of the other axes, so ep is in none of them. `None` isn't 1: an axis that isn't printed may have any size. So a product of which two factors
# aren't known tells neither, and nobody tries out what would fit: 8 GPUs and tp 8 don't say that cp is 1. What you need may
# take two rules, or three. The rows hold together: no two rules give different numbers. Leave `row` as it was.


# %% lab="answer missing_axis"
def missing_axis(row):
    """The value in place of "?", or None if it doesn't follow."""
    ### BEGIN SOLUTION
    rules = [
        ("gpus", ["tp", "cp", "pp", "dp"]),
        ("batch", ["dp", "micro_batch", "micro_batches"]),
        ("tokens", ["batch", "seq"]),
    ]
    wanted = next(key for key, value in row.items() if value == "?")
    known = {key: value for key, value in row.items() if value not in (None, "?")}
    for _ in rules:
        for whole, parts in rules:
            unknown = [key for key in (whole, *parts) if key not in known]
            if unknown == [whole]:
                known[whole] = math.prod(known[key] for key in parts)
            elif len(unknown) == 1:
                known[unknown[0]] = known[whole] // math.prod(known[key] for key in parts if key in known)
    return known.get(wanted)
    ### END SOLUTION


# %% lab="tests missing_axis"
check("hybrid.missing_axis", missing_axis)

# %% [markdown] lab="readonly where-next"
# ## Where to go from here
#
# Run your ring on real processes of this machine: `check("hybrid.ring_attention", ring_attention, on="processes")`.
#
# What professionals use: torch's `DeviceMesh` for the groups, and its `context_parallel` (experimental) for the ring. Megatron
# Core and torchtitan combine all axes. Ask `lockstep plan` how to divide your own model among the GPUs of your own cluster;
# [section 7 of the lesson](../../course/12_hybrid/lesson.ipynb) says how far it can be trusted.
