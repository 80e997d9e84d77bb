# %% [markdown] lab="readonly title"
# # Lab 04: Communication
#
# You write the algorithms that every large training run is built on: broadcast, reduce and all-reduce, from nothing but
# send and receive. Then you mend programs that hang, and hide a transfer behind a computation.
#
# [The lesson](../../course/04_communication/lesson.ipynb) explains what you need. Each exercise names its section.

# %% [markdown] lab="readonly how"
# ## How to work
#
# Write each function in its cell, in place of `raise NotImplementedError()`. Run the cell below it: it runs your
# function on 1 to 8 ranks of a virtual cluster, looks at the results *and* at what was sent to whom, and says what it
# saw. Try as often as you like. Each exercise has three folded hints. A program that hangs is stopped.
#
# **Groups.** `group` is a process group; `None` means all ranks. In a group, ranks are counted from 0 again:
#
# | you want | write |
# |---|---|
# | your rank, and how many there are | `dist.get_rank(group)`, `dist.get_world_size(group)` |
# | to send to rank 1 of the group | `dist.send(x, group=group, group_dst=1)` |
# | to receive from rank 0 of the group | `dist.recv(x, group=group, group_src=0)` |
# | the rank in the group of a **global** rank `src` | `dist.get_group_rank(group or dist.group.WORLD, src)` |
#
# **One rank.** A group of one rank has no neighbour: there is nothing to send.
#
# **Tensors** are contiguous, of any dtype and shape, `()` too. On some rank all elements may be 0.
#
# **Wait** for all that `isend`, `irecv` and `async_op=True` return, before you use the tensor again.
#
# **Your arguments stay as they are**, unless the text says otherwise: values, order, `requires_grad`, `.grad`, hooks.
# What you return is new: whoever changes it later must not change them.
#
# **On GPUs** there is one more trap. NCCL carries out the messages between two ranks one after the other, in the order
# in which they were posted. If both ranks post the receive first, or a long send, both wait for ever.
# `dist.batch_isend_irecv` posts several at once, and is right everywhere. NCCL also ignores tags. The checks ask for neither; `run(..., rules="nccl")` shows both.
#
# `check` doesn't show what you print. To look inside, call `run` on your function, as here:

# %% lab="readonly imports"
import math
import time

import torch
import torch.distributed as dist

from lockstep import check, run, show


# %%
def hello():
    x = torch.full((3,), float(dist.get_rank()))
    dist.all_reduce(x)
    return x.tolist()


result = run(hello, ranks=4, on="virtual")
print(result.values)
result.show()

# %% [markdown] lab="readonly about-ping_pong"
# ## 1. Ping-pong ({minutes} minutes, {points} points)
#
# How long does a message take? Alpha and beta come from this measurement. (Section 3 of the lesson.)
#
# - **You get** `nbytes` and `repeats`. One repeat: rank 0 sends `nbytes` bytes to rank 1, and rank 1 sends them back.
# - **You return** the mean time of **one way**, in seconds, over all repeats, on ranks 0 and 1 of the group. All others
#   stay idle and return 0.0 (a barrier before you start the clock is fine). So does a rank that is alone.
# - **You may use** `time.perf_counter()`, send and receive, and `torch.zeros(nbytes, dtype=torch.uint8)`.
# - **It may cost** 2·`repeats` messages, and one more ping-pong before you start the clock: on real machines the first
#   message is slow.

# %% [markdown] lab="hint ping_pong"
# Draw two lanes, rank 0 and rank 1, and `repeats = 2`. How many arrows are there? How many of them make up one way?
#
# ---
#
# Ranks 0 and 1 do the same things in opposite order: one sends first, the other receives first. Start the clock before the
# loop and stop it after. The loop holds `2 * repeats` one-way trips. What do the other ranks do, and a rank that is
# alone?
#
# ---
#
# ```python
# rank = dist.get_rank(group)
# if ...:  # neither rank 0 nor rank 1, or alone
#     return 0.0
# message, start = torch.zeros(nbytes, dtype=torch.uint8), time.perf_counter()
# for _ in range(repeats):
#     ...  # rank 0: send, then receive; rank 1: the other way round
# return (time.perf_counter() - start) / ...
# ```
#
# The check tells you when you return a round trip, or a sum.


# %% lab="answer ping_pong"
def ping_pong(nbytes, repeats, group=None):
    """Mean seconds of one way between ranks 0 and 1 of the group; 0.0 on the other ranks."""
    ### BEGIN SOLUTION
    rank = dist.get_rank(group)
    if rank > 1 or dist.get_world_size(group) == 1:
        return 0.0
    message = torch.zeros(nbytes, dtype=torch.uint8)
    start = time.perf_counter()
    for _ in range(repeats):
        if rank == 0:
            dist.send(message, group=group, group_dst=1)
            dist.recv(message, group=group, group_src=1)
        else:
            dist.recv(message, group=group, group_src=0)
            dist.send(message, group=group, group_dst=0)
    return (time.perf_counter() - start) / (2 * repeats)
    ### END SOLUTION


# %% lab="tests ping_pong"
check("communication.ping_pong", ping_pong)

# %% [markdown] lab="readonly about-tree_broadcast"
# ## 2. Broadcast along a tree ({minutes} minutes, {points} points)
#
# Every rank needs the tensor of one. You have seen the tree in section 4 of the lesson.
#
# - **You get** a tensor, and `src`, the **global** rank that has the right one.
# - **You return** it on every rank of the group: written into `tensor`, in place, or returned. Either is accepted, here
#   and below.
# - **You may use** send and receive only. (`dist.broadcast` would be someone else's tree.)
# - **It may cost** K−1 messages in all, in at most ⌈log₂ K⌉ rounds, for every K.
#
# `src` need not be rank 0, and K need not be a power of two.

# %% [markdown] lab="hint tree_broadcast"
# Draw K = 6 with root 0. In round 1, 0 sends to 1. Who sends to whom in rounds 2 and 3, so that all have it after three?
#
# ---
#
# In the round of distance d = 1, 2, 4 …, the ranks below d have the tensor, and each sends to the rank d further on, if
# there is one. For another root, count from the root: v = (rank − root) mod K. Then the root has v = 0.
#
# ---
#
# ```python
# rank, K = dist.get_rank(group), dist.get_world_size(group)
# root = dist.get_group_rank(group or dist.group.WORLD, src)
# v, d = (rank - root) % K, 1
# while d < K:
#     if ...:  # v has it, and v + d exists
#         dist.send(tensor, group=group, group_dst=(rank + d) % K)
#     elif ...:  # v gets it in this round
#         dist.recv(tensor, group=group, group_src=...)
#     d *= 2
# ```
#
# The check tells you which K fail, and how many rounds you took.


# %% lab="answer tree_broadcast"
def tree_broadcast(tensor, src, group=None):
    """Every rank's tensor becomes that of rank src, in place."""
    ### BEGIN SOLUTION
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    root = dist.get_group_rank(group or dist.group.WORLD, src)
    v = (rank - root) % K
    distance = 1
    while distance < K:
        if v < distance and v + distance < K:
            dist.send(tensor, group=group, group_dst=(rank + distance) % K)
        elif distance <= v < 2 * distance:
            dist.recv(tensor, group=group, group_src=(rank - distance) % K)
        distance *= 2
    return tensor
    ### END SOLUTION


# %% lab="tests tree_broadcast"
check("communication.tree_broadcast", tree_broadcast)

# %% [markdown] lab="readonly about-ring_all_reduce"
# ## 3. The ring all-reduce ({minutes} minutes, {points} points)
#
# Every rank needs the sum. The ring gets there with the fewest bytes possible. (Section 5 of the lesson. Your
# `chunk_to_send` is its heart; `show.ring(ranks=4)` steps through it.)
#
# - **You get** a tensor of any dtype and shape, `()` too, with any number of elements: fewer than K, or none.
# - **You return** the sum over the ranks, in place or returned.
# - **You may use** send and receive, `isend` and `irecv`. `tensor_split(K)` cuts sizes that do not divide, along the
#   first dimension.
# - **It may cost** 2(K−1)/K·N bytes and 2(K−1) messages a rank.
#
# First trip, K−1 rounds: add what arrives. Second trip, K−1 rounds: store what arrives. A send waits for its receiver. If
# all ranks send first, all wait for ever: let `dist.isend` send while you receive, and `wait()` on what it returns.

# %% [markdown] lab="hint ring_all_reduce"
# Take K = 3 and a sheet of paper. Write a row for each rank and a column for each chunk. Which chunk does rank 0 send
# in steps 0, 1, 2, 3? `show.ring(ranks=3)` shows it. Which chunk arrives?
#
# ---
#
# In step s you send chunk (rank − s) mod K to the right, and chunk (rank − s − 1) mod K arrives from the left. In the first
# K−1 steps you add it, in the last K−1 steps you store it. The trap: chunks of `tensor.view(-1).tensor_split(K)` are views,
# so adding to them in place changes the tensor; a tensor that is not contiguous has no such view.
#
# ---
#
# ```python
# rank, K = dist.get_rank(group), dist.get_world_size(group)
# total = tensor.clone(memory_format=torch.contiguous_format)
# chunks = total.view(-1).tensor_split(K)
# for step in range(...):
#     outgoing, target = chunks[...], chunks[...]
#     incoming = torch.empty_like(target)
#     ...  # isend to the right, recv from the left, wait
#     if ...:
#         target += incoming
#     else:
#         ...
# return total
# ```
#
# The check draws who is in which chunk of your result.


# %% lab="answer ring_all_reduce"
def ring_all_reduce(tensor, group=None):
    """Every rank's tensor becomes the sum over the ranks (in place, or returned)."""
    ### BEGIN SOLUTION
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    right, left = (rank + 1) % K, (rank - 1) % K
    total = tensor.clone(memory_format=torch.contiguous_format)
    chunks = total.view(-1).tensor_split(K)
    for step in range(2 * (K - 1)):
        outgoing, target = chunks[(rank - step) % K], chunks[(rank - step - 1) % K]
        incoming = torch.empty_like(target)
        posted = [
            dist.P2POp(dist.isend, outgoing, group=group, group_peer=right),
            dist.P2POp(dist.irecv, incoming, group=group, group_peer=left),
        ]
        for work in dist.batch_isend_irecv(posted):  # isend and recv would do, but for NCCL between two ranks
            work.wait()
        if step < K - 1:
            target += incoming
        else:
            target.copy_(incoming)
    return total
    ### END SOLUTION


# %% lab="tests ring_all_reduce"
check("communication.ring_all_reduce", ring_all_reduce)

# %% [markdown] lab="readonly about-mend_ring_of_sends"
# ## 4. Mend: a ring of sends ({minutes} minutes, {points} points)
#
# Each rank wants the tensor of its left neighbour. This program hangs. First run the check on it as it is, and read who
# waits for whom. Then mend it. (Section 8 of the lesson.)
#
# - **You get** a tensor on each rank.
# - **You return** the tensor of rank − 1; rank 0 returns that of the last rank. A rank that is alone returns its own.
# - **You may use** send and receive in all their forms.
# - **It may cost** one message in and one out for each rank, and no rank waits for a long chain of others.

# %% [markdown] lab="hint mend_ring_of_sends"
# Which single line would have to return, so that everybody could go on?
#
# ---
#
# A blocking send returns when its receiver is there. `isend` returns at once. Letting one rank receive first ends the
# hang too, but then the messages go round one after another.
#
# ---
#
# ```python
# sending = dist.isend(...)
# dist.recv(...)
# ...  # what must be true before the function returns?
# ```
#
# The check tells you how long the chain of waiting is. And mind the rank that is alone.


# %% lab="given mend_ring_of_sends"
def mend_ring_of_sends(tensor, group=None):
    """Returns the tensor of the left neighbour, rank - 1; rank 0 returns that of the last rank."""
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    received = torch.empty_like(tensor)
    dist.send(tensor, group=group, group_dst=(rank + 1) % K)
    dist.recv(received, group=group, group_src=(rank - 1) % K)
    return received


# %% lab="answer mend_ring_of_sends"
### BEGIN SOLUTION
def mend_ring_of_sends(tensor, group=None):
    """Returns the tensor of the left neighbour, rank - 1; rank 0 returns that of the last rank."""
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    if K == 1:
        return tensor.clone()
    received = torch.empty_like(tensor)
    posted = [
        dist.P2POp(dist.isend, tensor, group=group, group_peer=(rank + 1) % K),
        dist.P2POp(dist.irecv, received, group=group, group_peer=(rank - 1) % K),
    ]
    for work in dist.batch_isend_irecv(posted):
        work.wait()
    return received


### END SOLUTION

# %% lab="tests mend_ring_of_sends"
check("communication.mend_ring_of_sends", mend_ring_of_sends)

# %% [markdown] lab="readonly about-overlapped_step"
# ## 5. Hide the transfer ({minutes} minutes, {points} points)
#
# A gradient must be summed over the ranks. The next product does not need it. Do both at the same time. (Section 9 of the
# lesson.)
#
# - **You get** a gradient, and two matrices, `x` and `weights`.
# - **You return** the pair: the summed gradient, in place or in a new tensor, and `x @ weights`.
# - **You may use** `dist.all_reduce`. With `async_op=True` it returns at once, and what it returns has a `wait()`.
# - **It may cost** the time of the longer of the two, not their sum.

# %% [markdown] lab="hint overlapped_step"
# Draw two lanes for one rank: its link and its processor. What fills each? When may the function return?
#
# ---
#
# Three lines in the right order: start the transfer, compute, wait. Whoever waits before the product, or starts after it,
# hides nothing.
#
# ---
#
# ```python
# transfer = ...
# product = ...
# ...
# return gradient, product
# ```
#
# The check looks at the order of events, and at virtual time.


# %% lab="answer overlapped_step"
def overlapped_step(gradient, x, weights, group=None):
    """(the sum of gradient over the ranks, x @ weights), the transfer under way while the product is computed."""
    ### BEGIN SOLUTION
    transfer = dist.all_reduce(gradient, group=group, async_op=True)
    product = x @ weights
    transfer.wait()
    return gradient, product
    ### END SOLUTION


# %% lab="tests overlapped_step"
check("communication.overlapped_step", overlapped_step)

# %% [markdown] lab="readonly extra"
# ## Extra
#
# What follows is for those who want more. The cells of each exercise are folded: open them by the button below
# its text. The grade counts only the exercises above; the points for these are yours alone, in `lockstep progress`.

# %% [markdown] lab="readonly about-tree_reduce"
# ## 6. Reduce along a tree ({minutes} minutes, {points} points)
#
# The other way round: every rank has a tensor, and rank `dst`, a **global** rank, needs their **sum**: in place, or
# returned. What the other ranks hold or return does not matter.
#
# The same tree serves, from the leaves to the root: K−1 messages, at most ⌈log₂ K⌉ rounds. A rank adds what it
# receives, and then sends the sum on.


# %% lab="answer tree_reduce"
def tree_reduce(tensor, dst, group=None):
    """Rank dst's tensor becomes the sum over the ranks (in place, or returned)."""
    ### BEGIN SOLUTION
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    root = dist.get_group_rank(group or dist.group.WORLD, dst)
    v = (rank - root) % K
    incoming = torch.empty_like(tensor)
    distance = 1
    while distance < K:
        if v % (2 * distance) == distance:
            dist.send(tensor, group=group, group_dst=(rank - distance) % K)
            break
        if v + distance < K:
            dist.recv(incoming, group=group, group_src=(rank + distance) % K)
            tensor += incoming
        distance *= 2
    return tensor
    ### END SOLUTION


# %% lab="tests tree_reduce"
check("communication.tree_reduce", tree_reduce)

# %% [markdown] lab="readonly about-fit_alpha_beta"
# ## 7. Fit alpha and beta ({minutes} minutes, {points} points)
#
# You measured the time of messages of several sizes. They lie near a line: $t = \alpha + n\beta$. Find alpha, in
# seconds, and beta, in seconds per byte, by least squares over all measurements.
#
# `nbytes` and `seconds` are two lists of the same length. Return the pair `(alpha, beta)`. Compute in float64: sizes
# reach millions, times are microseconds, and the sizes may lie close together.


# %% lab="answer fit_alpha_beta"
def fit_alpha_beta(nbytes, seconds):
    """(alpha, beta) of the line t = alpha + n·beta that fits the measurements best."""
    ### BEGIN SOLUTION
    n = torch.tensor(nbytes, dtype=torch.float64)
    t = torch.tensor(seconds, dtype=torch.float64)
    beta = ((n - n.mean()) * (t - t.mean())).sum() / ((n - n.mean()) ** 2).sum()
    alpha = t.mean() - beta * n.mean()
    return alpha.item(), beta.item()
    ### END SOLUTION


# %% lab="tests fit_alpha_beta"
check("communication.fit_alpha_beta", fit_alpha_beta)

# %% [markdown] lab="readonly about-halving_doubling_all_reduce"
# ## 8. Halving and doubling ({minutes} minutes, {points} points)
#
# The ring moves few bytes, but it takes 2(K−1) rounds. If the message is short, each round costs a full alpha. For K a
# power of two, 2·log₂ K rounds are enough, with the same bytes:
#
# - Halving: exchange half of what you hold with the rank at distance K/2, and add. Then half of that with the rank at
#   distance K/4, and so on. At the end each rank holds 1/K of the tensor, complete.
# - Doubling: the same exchanges backwards. Each one doubles the part that is complete.
#
# Your partner at distance d is rank `rank ^ d`. You and your partner both send: again, use `isend`.
# K is 1, 2, 4 or 8 here. The number of elements need not be even.


# %% lab="answer halving_doubling_all_reduce"
def halving_doubling_all_reduce(tensor, group=None):
    """Every rank's tensor becomes the sum over the ranks; the number of ranks is a power of two."""
    ### BEGIN SOLUTION
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total = tensor.clone(memory_format=torch.contiguous_format)

    def exchange(outgoing, incoming, partner):
        posted = [
            dist.P2POp(dist.isend, outgoing, group=group, group_peer=partner),
            dist.P2POp(dist.irecv, incoming, group=group, group_peer=partner),
        ]
        for work in dist.batch_isend_irecv(posted):
            work.wait()

    mine, given = total.view(-1), []
    distance = K // 2
    while distance:
        low, high = mine.tensor_split(2)
        keep, give = (high, low) if rank & distance else (low, high)
        incoming = torch.empty_like(keep)
        exchange(give, incoming, rank ^ distance)
        keep += incoming
        given.append((keep, give, distance))
        mine, distance = keep, distance // 2
    for keep, give, distance in reversed(given):
        exchange(keep, give, rank ^ distance)
    return total
    ### END SOLUTION


# %% lab="tests halving_doubling_all_reduce"
check("communication.halving_doubling_all_reduce", halving_doubling_all_reduce)

# %% [markdown] lab="readonly about-recursive_doubling_all_reduce"
# ## 9. Recursive doubling ({minutes} minutes, {points} points)
#
# For a short message only rounds count. Nothing takes fewer rounds than this. (Section 6 of the lesson, where your
# `partner` drives it.)
#
# - **You get** a tensor on each of K ranks, K a power of two.
# - **You return** the sum over the ranks, in place or returned.
# - **You may use** send and receive, `isend` and `irecv`.
# - **It may cost** log₂ K messages a rank, in log₂ K rounds: both partners send and receive at once.


# %% lab="answer recursive_doubling_all_reduce"
def recursive_doubling_all_reduce(tensor, group=None):
    """Every rank's tensor becomes the sum over the ranks; the number of ranks is a power of two."""
    ### BEGIN SOLUTION
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    total, distance = tensor.clone(memory_format=torch.contiguous_format), 1
    while distance < K:
        incoming = torch.empty_like(total)
        posted = [
            dist.P2POp(dist.isend, total, group=group, group_peer=rank ^ distance),
            dist.P2POp(dist.irecv, incoming, group=group, group_peer=rank ^ distance),
        ]
        for work in dist.batch_isend_irecv(posted):
            work.wait()
        total += incoming
        distance *= 2
    return total
    ### END SOLUTION


# %% lab="tests recursive_doubling_all_reduce"
check("communication.recursive_doubling_all_reduce", recursive_doubling_all_reduce)

# %% [markdown] lab="readonly about-choose_algorithm"
# ## 10. Choose ({minutes} minutes, {points} points)
#
# Which of these four takes the least time? A library asks itself this before every call. (Section 7 of the lesson.)
#
# | algorithm | seconds, by alpha-beta |
# |---|---|
# | `"ring"` | 2(K−1)·α + 2(K−1)/K·n·β |
# | `"tree"` (a reduce, then a broadcast) | 2·⌈log₂ K⌉·(α + n·β) |
# | `"halving_doubling"` (powers of two only) | 2·log₂ K·α + 2(K−1)/K·n·β |
# | `"recursive_doubling"` (powers of two only) | log₂ K·(α + n·β) |
#
# - **You get** the bytes n of the message, the number of ranks K, and α and β in seconds.
# - **You return** the name of the cheapest. If two cost the same, either is right.


# %% lab="answer choose_algorithm"
def choose_algorithm(nbytes, ranks, alpha, beta):
    """The name of the cheapest: "ring", "tree", "halving_doubling" or "recursive_doubling"."""
    ### BEGIN SOLUTION
    rounds = (ranks - 1).bit_length()  # log2 of the number of ranks, rounded up
    moved = 2 * (ranks - 1) / ranks * nbytes * beta
    times = {
        "ring": 2 * (ranks - 1) * alpha + moved,
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if 2**rounds == ranks:
        times["halving_doubling"] = 2 * rounds * alpha + moved
        times["recursive_doubling"] = rounds * (alpha + nbytes * beta)
    return min(times, key=times.get)
    ### END SOLUTION


# %% lab="tests choose_algorithm"
check("communication.choose_algorithm", choose_algorithm)

# %% [markdown] lab="readonly about-mend_skipped_collective"
# ## 11. Mend: a collective that some ranks skip ({minutes} minutes, {points} points)
#
# Only tensors whose elements sum to more than zero count. Every rank wants the total of those; a rank with
# nothing to give counts as zeros. The program below lets such ranks skip the all-reduce. Mend it.


# %% lab="given mend_skipped_collective"
def mend_skipped_collective(tensor, group=None):
    """Returns, on every rank, the sum of those ranks' tensors whose elements sum to more than 0."""
    total = tensor.clone()
    if tensor.sum() > 0:
        dist.all_reduce(total, group=group)
    return total


# %% lab="answer mend_skipped_collective"
### BEGIN SOLUTION
def mend_skipped_collective(tensor, group=None):
    """Returns, on every rank, the sum of those ranks' tensors whose elements sum to more than 0."""
    total = tensor.clone() if tensor.sum() > 0 else torch.zeros_like(tensor)
    dist.all_reduce(total, group=group)
    return total


### END SOLUTION

# %% lab="tests mend_skipped_collective"
check("communication.mend_skipped_collective", mend_skipped_collective)

# %% [markdown] lab="readonly about-mend_out_of_order_tags"
# ## 12. Mend: tags out of order ({minutes} minutes, {points} points)
#
# Rank 0 has two tensors for rank 1. It sends the first one first; rank 1 asks for the second one first. A tag names a
# message; it does not let it overtake another. Mend the program: rank 1 returns rank 0's `(first, second)`, every other
# rank returns its own arguments unchanged. The messages may arrive in `first` and `second` of rank 1, or in new
# tensors. Two messages are enough, from rank 0 to rank 1.


# %% lab="given mend_out_of_order_tags"
def mend_out_of_order_tags(first, second, group=None):
    """Rank 1 returns (first, second) of rank 0; the other ranks return their own."""
    rank = dist.get_rank(group)
    if rank == 0:
        dist.send(first, group=group, group_dst=1, tag=1)
        dist.send(second, group=group, group_dst=1, tag=2)
    elif rank == 1:
        dist.recv(second, group=group, group_src=0, tag=2)
        dist.recv(first, group=group, group_src=0, tag=1)
    return first, second


# %% lab="answer mend_out_of_order_tags"
### BEGIN SOLUTION
def mend_out_of_order_tags(first, second, group=None):
    """Rank 1 returns (first, second) of rank 0; the other ranks return their own."""
    rank, K = dist.get_rank(group), dist.get_world_size(group)
    if rank == 0 and K > 1:
        dist.send(first, group=group, group_dst=1, tag=1)
        dist.send(second, group=group, group_dst=1, tag=2)
    elif rank == 1:
        dist.recv(first, group=group, group_src=0, tag=1)
        dist.recv(second, group=group, group_src=0, tag=2)
    return first, second


### END SOLUTION

# %% lab="tests mend_out_of_order_tags"
check("communication.mend_out_of_order_tags", mend_out_of_order_tags)

# %% [markdown] lab="readonly about-is_all_reduce"
# ## 13. Catch a wrong all-reduce ({minutes} minutes, {points} points)
#
# Now you write the test. Somebody hands you a function `fn(tensor, group=None)` that should be an all-reduce: on every
# rank of the group it leaves the sum, in `tensor` itself or returned. Say `True` if it does, and `False` if it does
# not.
#
# - Call `run` in your test, as you do in a cell. In the check all of its runs are on a virtual cluster.
# - An all-reduce may be wrong in one place only: for some numbers of ranks, some sizes, some ranks, or in a group that
#   is not the world, such as [1, 3] of 4. Up to 4 ranks and 12 elements are enough to show all that is wrong with the
#   check's functions.
# - The check tries your test on some fifteen functions, one after another, and has 40 seconds for all of them. Make at
#   most six runs for each: in one run you may call it several times.
# - A function that hangs or fails is no all-reduce: `run` raises a `RunError`, from `lockstep.errors`.
# - One that sends too much, or adds in another order, is still right. Use whole numbers: floats would be
#   rounded.
#
# Hint: give each rank different numbers, such that no other mixture of them has the same sum.


# %% lab="answer is_all_reduce"
def is_all_reduce(fn):
    """Whether fn(tensor, group=None) leaves the sum over the group on each of its ranks."""
    ### BEGIN SOLUTION
    from lockstep.errors import RunError

    def held(members, numel):
        """What this rank holds afterwards, and what it should hold; None outside of the group."""
        group = dist.new_group(members)
        if dist.get_rank() not in members:
            return None
        tensors = [torch.arange(numel) * 100**rank + rank for rank in members]
        mine = tensors[members.index(dist.get_rank())].clone()
        returned = fn(mine, group=group)
        return mine if returned is None else returned, sum(tensors)

    try:
        for members, numel in (([0, 1], 3), ([0, 1, 2], 7), ([1, 3], 4), ([0, 1, 2, 3], 8)):
            pairs = run(held, members, numel, ranks=4, on="virtual", timeout=10).values
            if not all(pair is None or torch.equal(*pair) for pair in pairs):
                return False
    except RunError:
        return False
    return True
    ### END SOLUTION


# %% lab="tests is_all_reduce"
check("communication.is_all_reduce", is_all_reduce)

# %% [markdown] lab="readonly where-next"
# ## Where to go from here
#
# Run your ring on the real processes of this machine: `check("communication.ring_all_reduce", ring_all_reduce,
# on="processes")`. On a node with GPUs, first replace `isend` and `recv` by `dist.batch_isend_irecv`. Then save it in a
# file and run `torchrun --nproc-per-node 8 -m lockstep check communication.ring_all_reduce FILE`. It is the same check.
#
# Next comes [unit 05, All-reduce SGD](../../course/05_all_reduce_sgd/lesson.ipynb): your all-reduce trains a model.
