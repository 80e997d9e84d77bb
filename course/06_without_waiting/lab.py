# %% [markdown] lab="readonly title"
# # Lab 06: Without waiting
#
# You delete a lock, and mend what breaks. You write a parameter server that nobody has to wait for longer than you allow.
# Then you send less: not in every step, not to everyone, not every number.
#
# [The lesson](../../course/06_without_waiting/lesson.ipynb) explains what you need. Each exercise names its section.

# %% [markdown] lab="readonly how"
# ## How to work
#
# Write each function in its cell, in place of `raise NotImplementedError()`. Run the cell below it: it runs your
# function (a distributed one on 1 to 8 ranks of a virtual cluster). It looks at the results *and* at what was sent,
# and says what it saw. Try as often as you like. Each of the first five exercises has three folded hints. A program
# that hangs is stopped.
#
# **Gradients.** `gradient(w, step)` is the gradient at `w` of this rank's own examples in its step number `step` = 0, 1,
# 2, … It is a new tensor like `w`, and `w` stays as it was. Call it once for each step, in order.
#
# **Groups.** `group` is a process group; `None` means all ranks. Only the ranks of the group call your function. Hand
# `group` on to each call: `dist.get_rank(group)`, `dist.send(x, group=group, group_dst=1)`, `dist.all_reduce(x,
# group=group)`. "Rank r" below means rank r of the group, and K is the number of ranks in it. K may be 1. Then there is
# nobody to talk to, and what you return is still right.
#
# **Messages.** `dist.send` may wait until the other rank receives. `dist.recv(x, group=group)` without a source takes the
# next message from anyone, and returns the sender's *global* rank: `dist.get_group_rank(group, sender)` is its rank in
# a `group` that is not `None`. **Wait** for everything that `isend`, `irecv` and `async_op=True` return before you use
# the tensor again.
#
# **Your arguments stay as they are**, unless the text says otherwise: values, order, `requires_grad`, `.grad`, hooks.
# What you return is new: whoever changes it later must not change them.

# %% lab="readonly imports"
import itertools
import math
import threading
from collections import Counter

import numpy as np
import torch
import torch.distributed as dist

from lockstep import check

# %% [markdown] lab="readonly about-delete_the_lock"
# ## 1. Mend: delete the lock ({minutes} minutes, {points} points)
#
# This program is right, and no faster with eight threads than with one: a lock makes them take turns. Delete it. Then mend
# what it has hidden until now: each step writes the *whole* vector. (Section 2 of the lesson.)
#
# - **You get** `w`, a float64 NumPy vector that all threads share. `coordinates[i]` is an int64 NumPy array: the places in
#   `w` that example i uses, at least one, none twice. `gradient(i, values)` takes `values = w[coordinates[i]]`, and
#   returns a new float64 array of the same length: the gradient of example i at these places. Then `rate` and the
#   number of `threads`, which may be larger than the number of examples.
# - **You return** nothing: `w` is changed in place. For each example i, exactly once, `rate` times its gradient is
#   subtracted at its places. Thread t takes the examples t, t + `threads`, t + 2·`threads`, …, in this order.
#   When your function returns, all its threads have ended.
# - **You may use** `threading` or `concurrent.futures`, and NumPy.
# - **It may cost** no lock: all threads may be inside `gradient` at the same time, and all may write at the same time. A
#   step reads and writes `w` at the places of its example only.
#
# `values` is what the shared `w` holds right before the call of `gradient`. The update is subtracted from what it holds
# *after* the call: what other threads wrote meanwhile stays. With one thread, `w` ends as in the given program, to
# the bit. (Two updates of one place in the same instant may still collide. HOGWILD! lives with that.)


# %% lab="given delete_the_lock"
def delete_the_lock(gradient, coordinates, w, rate, threads):
    """HOGWILD!: several threads train one w."""
    lock = threading.Lock()

    def train(t):
        for i in range(t, len(coordinates), threads):
            with lock:
                full = np.zeros(len(w))
                full[coordinates[i]] = gradient(i, w[coordinates[i]])
                w[:] -= rate * full

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


# %% [markdown] lab="hint delete_the_lock"
# Two threads, a `w` of four numbers, no lock. The first is inside `gradient` with an example that uses places 0 and 1.
# Meanwhile the second finishes a step at places 2 and 3. Then the first runs `w[:] -= rate * full`. Which places does
# that line read, and write? What if the second writes to one of them between the two?
#
# ---
#
# The lock can go as soon as no thread writes what is not its own. A sparse step needs no vector of zeros: index `w`
# with the example's places, once to read and once to write. The traps: a lock around part of the step; a copy of `w`
# for each thread; and a line that reads the old values, calls `gradient`, and then writes old values minus the step.
# In which order does Python evaluate `a[c] -= f(a)`?
#
# ---
#
# ```python
# def train(t):
#     for i in range(t, len(coordinates), threads):
#         own = ...  # the places of example i
#         ...  # its gradient, at what stands there now
#         w[...] -= ...
# ```
#
# The check tells you how many threads were inside `gradient` at once, and which step wrote where it should not.


# %% lab="answer delete_the_lock"
### BEGIN SOLUTION
def delete_the_lock(gradient, coordinates, w, rate, threads):
    """HOGWILD!: several threads train one w."""

    def train(t):
        for i in range(t, len(coordinates), threads):
            own = coordinates[i]
            g = gradient(i, w[own])
            w[own] -= rate * g

    workers = [threading.Thread(target=train, args=(t,)) for t in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


### END SOLUTION

# %% lab="tests delete_the_lock"
check("without_waiting.delete_the_lock", delete_the_lock)

# %% [markdown] lab="readonly about-parameter_server"
# ## 2. A parameter server with bounded staleness ({minutes} minutes, {points} points)
#
# Rank 0 keeps the parameters and applies every gradient when it arrives. A fast worker need not wait for a slow one, but
# it may not run too far ahead. (Section 3 of the lesson.)
#
# - **You get** `gradient`, the start `w` (a float32 or float64 tensor of any shape, the same on every rank), `steps`,
#   `rate` and `bound`. Rank 0 is the **server**: there, `steps` is `None`. All others are **workers**: there, `steps`
#   is how many steps this worker takes. It may be 0, and may differ from worker to worker. Only the worker itself knows
#   it. `bound` is a whole number, 0 or more.
# - **You return** on rank 0 the final w: every gradient g of every worker was applied once, as w ← w − `rate`·g. Workers
#   may return anything. With K = 1 you return `w`.
# - **You may use** `send`, `recv`, `isend` and `irecv` of `dist`.
# - **It may cost** each worker two messages a step, one each way, and three more at most. Each has at most the bytes
#   of `w` and of two more of its numbers.
#
# The rules of a run:
#
# 1. A worker's step is *done* when the server has applied its gradient. A worker begins its step c = 0, 1, … only when
#    each other worker has done at least c − `bound` steps, or all its own.
# 2. As soon as rule 1 allows the step, the worker gets w: nobody waits needlessly. The server takes each gradient
#    when it arrives, from whichever worker.
# 3. The w of a step holds all updates that the server has made before it sends it. Only step 0 may begin with the start
#    `w`. The server's own `gradient` is never called.
#
# So `bound=0` is lockstep: nobody begins a step before all have done the one before. With a `bound` that is larger than
# all `steps`, nobody waits for another worker.

# %% [markdown] lab="hint parameter_server"
# Take two workers with three steps each, and `bound=1`. Worker 1 is fast. Write down the messages at the server. After
# which of them may it answer worker 1, and whom does it answer when worker 2's first gradient arrives?
#
# ---
#
# The server needs one number for each worker: how many steps it has done. A worker that has finished counts as
# infinitely far ahead. A gradient is also a request for the next w. The server applies it, and then goes through all
# workers that are waiting: each one for whom the slowest is far enough gets w. Two traps: only the sender is
# looked at, so one that waits is forgotten; and the server waits for the message of one particular worker while another
# one has something for it.
#
# ---
#
# ```python
# if rank == 0:
#     done = {r: 0 for r in range(1, K)}  # math.inf: has done all its steps
#     waiting = set()
#     while ...:  # somebody has not finished
#         dist.recv(message, group=group)  # from anyone: a flat gradient, who, is it the last?
#         w = ...
#         done[who] = ...
#         for r in sorted(waiting):
#             if ...:  # its step number is done[r]
#                 dist.send(w, group=group, group_dst=r)
#                 waiting.remove(r)
#     return w
# for step in range(steps):
#     ...  # gradient, send; unless it was the last step: receive w
# ```
#
# What does a worker with no steps send? The check tells you which step began too early, and which waited needlessly.


# %% lab="answer parameter_server"
def parameter_server(gradient, w, steps, rate, bound, group=None):
    """On rank 0 the parameters after all gradients of all workers, none of which was more than bound steps ahead."""
    ### BEGIN SOLUTION
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    if rank > 0:
        for step in range(steps):
            report = w.new_tensor([rank, step + 1 == steps])
            dist.send(torch.cat([gradient(w, step).flatten(), report]), group=group, group_dst=0)
            if step + 1 < steps:
                w = torch.empty(w.shape, dtype=w.dtype)
                dist.recv(w, group=group, group_src=0)
        if steps == 0:
            dist.send(torch.cat([w.flatten() * 0, w.new_tensor([rank, True])]), group=group, group_dst=0)
        return w
    done, waiting = dict.fromkeys(range(1, size), 0), set()
    message = w.new_empty(w.numel() + 2)
    while any(count < math.inf for count in done.values()):
        dist.recv(message, group=group)
        worker, last = int(message[-2]), bool(message[-1])
        w = w - rate * message[:-2].view(w.shape)
        done[worker] = math.inf if last else done[worker] + 1
        if not last:
            waiting.add(worker)
        for ready in [r for r in sorted(waiting) if min(done.values()) >= done[r] - bound]:
            dist.send(w.contiguous(), group=group, group_dst=ready)
            waiting.remove(ready)
    return w
    ### END SOLUTION


# %% lab="tests parameter_server"
check("without_waiting.parameter_server", parameter_server)

# %% [markdown] lab="readonly about-diloco"
# ## 3. DiLoCo ({minutes} minutes, {points} points)
#
# Each rank takes many steps alone. How far all have come, on average, is one gradient for an *outer* optimizer. It was
# made for language models on slow links. (Section 5 of the lesson.)
#
# - **You get** `gradient`, the start `w` (a float64 tensor of any shape, not always contiguous), the number of `steps`
#   (0 or more), the learning `rate`, the `period`, at least 1, the `outer_rate` η, above 0, and the `momentum` μ, at
#   least 0 and below 1. All but `gradient` are the same on every rank.
# - **You return** the common w after the last round, the same on every rank. A **round** is `period` steps; the last
#   round is shorter where `period` does not divide `steps`. Without a step you may return `w` itself.
# - **You may use** `dist.all_reduce` and `torch.optim`.
# - **It may cost** one all-reduce a round, of as many numbers as `w` has.
#
# In a round:
#
# 1. Each rank begins with the common w, and takes its steps alone: own ← own − `rate`·gradient. Steps are numbered on
#    from round to round.
# 2. The **outer gradient** Δ is the mean over the ranks of w − own.
# 3. The **outer step** is SGD with Nesterov momentum, by torch's formula: v ← μ·v + Δ, and then w ← w − η·(Δ + μ·v),
#    with the new v.
#
# Before the first round v is zero; it is kept from round to round. One rank alone takes outer steps, too.

# %% [markdown] lab="hint diloco"
# One number, one rank. w is 10, and its steps lead to 8; η = 1/2, μ = 1/2. Which Δ is that, which v, and which w begins
# the next round? In that round the steps lead 2 down again. Why is w now further down than after the first one?
#
# ---
#
# Two loops: rounds, and the steps of a round on a copy of w, so that w is still there when they are done. One tensor
# travels, and one tensor lives on between the rounds. The traps: own − w walks uphill; v begins anew in each round, or
# the old v is used where the new one should be; the ranks go on with their own models; and torch's `nesterov=True`
# refuses a momentum of 0.
#
# ---
#
# ```python
# v = ...
# for begin in range(0, steps, period):
#     own = ...
#     for step in range(begin, ...):
#         own = ...
#     delta = ...
#     dist.all_reduce(delta, group=group)
#     ...
#     v = ...
#     w = ...
# return w
# ```
#
# The check tells you in which round w is wrong for the first time, and counts what travels.


# %% lab="answer diloco"
def diloco(gradient, w, steps, rate, period, outer_rate, momentum, group=None):
    """The common model: the mean distance of period steps is one gradient for SGD with Nesterov momentum."""
    ### BEGIN SOLUTION
    ranks, v = dist.get_world_size(group), torch.zeros_like(w)
    for begin in range(0, steps, period):
        own = w
        for step in range(begin, min(begin + period, steps)):
            own = own - rate * gradient(own, step)
        delta = w - own
        dist.all_reduce(delta, group=group)
        delta = delta / ranks
        v = momentum * v + delta
        w = w - outer_rate * (delta + momentum * v)
    return w
    ### END SOLUTION


# %% lab="tests diloco"
check("without_waiting.diloco", diloco)

# %% [markdown] lab="readonly about-gossip_step"
# ## 4. One step of gossip ({minutes} minutes, {points} points)
#
# Nobody talks to everybody. Each rank mixes its model with those of its neighbours. (Section 6 of the lesson.)
#
# - **You get** `x`, this rank's float32 or float64 tensor of any shape, the same shape and dtype on every rank, not always contiguous;
#   and `mixing`, a float64 tensor of K rows and K columns, the same on every rank. `mixing[i, j]` is the weight that
#   rank i gives to rank j's tensor.
# - **You return** on rank i the sum over all j of `mixing[i, j]` times x of rank j: a new tensor of x's shape and dtype.
# - **You may use** `send`, `recv`, `isend`, `irecv` and `batch_isend_irecv` of `dist`.
# - **It may cost** one message for each entry of `mixing` that is not zero and not on the diagonal: from rank j to rank
#   i if `mixing[i, j]` ≠ 0. Each carries x once. They travel at the same time: a rank waits for none before it has posted
#   all its sends, or all its receives, of this step.
#
# `mixing` need not be symmetric: rank 2 may send to rank 5, and get nothing back. A rank may have no neighbour at all, and
# entries of the diagonal may be 0. Take the weights as they stand: they may be negative, and rows and columns need not
# sum to 1.

# %% [markdown] lab="hint gossip_step"
# Draw three ranks, and an arrow from j to i where `mixing[i, j]` is not zero. You are rank 1. Which arrows leave you: are
# they in your row, or in your column?
#
# ---
#
# Your row says from whom you receive, and with what weight. Your column says to whom you send. Post all of them before you
# wait for any: in a circle where everyone sends first, everyone waits for ever. Each message needs a buffer of its own.
# Your own x does not travel.
#
# ---
#
# ```python
# sources = [j for j in range(K) if ...]
# targets = [i for i in range(K) if ...]
# x = ...  # contiguous, as messages must be
# received = {j: torch.empty_like(x) for j in sources}
# works = [dist.irecv(..., group=group, group_src=j) for j in sources]
# works += [dist.isend(..., group=group, group_dst=i) for i in targets]
# for work in works:
#     work.wait()
# return ...
# ```
#
# The check tells you which tensor arrived where, and which messages nobody needed.


# %% lab="answer gossip_step"
def gossip_step(x, mixing, group=None):
    """The weighted sum of the tensors of this rank and its neighbours."""
    ### BEGIN SOLUTION
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    others = [j for j in range(size) if j != rank]
    x = x.contiguous()
    received = {j: torch.empty_like(x) for j in others if mixing[rank, j] != 0}
    posted = [dist.P2POp(dist.irecv, buffer, group=group, group_peer=j) for j, buffer in received.items()]
    posted += [dist.P2POp(dist.isend, x, group=group, group_peer=i) for i in others if mixing[i, rank] != 0]
    for work in dist.batch_isend_irecv(posted) if posted else []:
        work.wait()
    mixed = mixing[rank, rank].item() * x
    for j, buffer in received.items():
        mixed += mixing[rank, j].item() * buffer
    return mixed
    ### END SOLUTION


# %% lab="tests gossip_step"
check("without_waiting.gossip_step", gossip_step)

# %% [markdown] lab="readonly about-topk_with_error_feedback"
# ## 5. Top-k with error feedback ({minutes} minutes, {points} points)
#
# Send the k largest numbers of the gradient, and keep the rest for the next step. (Section 7 of the lesson.)
#
# - **You get** `gradient` and `residual`, two float32 or float64 vectors of this rank, with n numbers each and the same
#   dtype, and `k`, from 1 to n. n and `k` are the same on every rank. `residual` is what this rank has not sent so far.
# - **You return** a pair `(mean, residual)`. Let `total = gradient + residual`. A rank's **sent** vector has n numbers: it
#   is `total` at the k places where `total` is largest by magnitude, and 0 elsewhere; of equally large ones, take any.
#   `mean` is the mean of the sent vectors of all ranks, a vector of n numbers, the same on every rank to the bit: all
#   ranks add in the same order. The new `residual` is what this rank has not sent: sent + residual is `total`, to the
#   bit.
# - **You may use** `dist.all_gather` or `dist.all_gather_into_tensor`.
# - **It may cost** two all-gathers: k values and k places of each rank.
#
# Ranks choose different places. Both results have the dtype of `gradient`.

# %% [markdown] lab="hint topk_with_error_feedback"
# Two ranks, n = 4, k = 1. The totals are (1, −5, 2, 0) and (3, 1, 0, 2). What does each rank send, what is the mean, and what
# does each keep?
#
# ---
#
# `torch.topk` of the magnitudes gives places; the values at these places are those of `total`, with their signs. The
# residual is `total` with zeros at these places: then nothing is lost. Gather values and places, and add each rank's values at
# its places. The traps: the largest of the *gradient*, whose residual then grows for ever; the magnitude sent
# in place of the value; a mean over the ranks that chose a place, instead of all K.
#
# ---
#
# ```python
# total = ...
# places = torch.topk(...).indices
# values = ...
# kept = ...
# all_values = [torch.empty_like(values) for _ in range(K)]
# all_places = ...
# dist.all_gather(all_values, values, group=group)
# ...
# mean = torch.zeros_like(total)
# for v, p in zip(all_values, all_places):
#     mean[p] += ...
# return mean, kept
# ```
#
# The check tells you where sent and residual don't add up to the total, and what travelled.


# %% lab="answer topk_with_error_feedback"
def topk_with_error_feedback(gradient, residual, k, group=None):
    """The mean of what all ranks send, and what this rank keeps for the next step."""
    ### BEGIN SOLUTION
    ranks = dist.get_world_size(group)
    total = gradient + residual
    places = torch.topk(total.abs(), k).indices
    values = total[places]
    kept = total.clone()
    kept[places] = 0
    all_values = [torch.empty_like(values) for _ in range(ranks)]
    all_places = [torch.empty_like(places) for _ in range(ranks)]
    dist.all_gather(all_values, values, group=group)
    dist.all_gather(all_places, places, group=group)
    summed = torch.zeros_like(total)
    for its_values, its_places in zip(all_values, all_places, strict=True):
        summed[its_places] += its_values
    return summed / ranks, kept
    ### END SOLUTION


# %% lab="tests topk_with_error_feedback"
check("without_waiting.topk_with_error_feedback", topk_with_error_feedback)

# %% [markdown] lab="readonly extra"
# ## Extra
#
# What follows is for those who want more. The cells of each exercise are folded: open them by the button below
# its text. The grade rests on the exercises above; the points of these are yours alone, in `lockstep progress`.

# %% [markdown] lab="readonly about-staleness_of"
# ## 6. How stale were the gradients? ({minutes} minutes, {points} points)
#
# There is no need to ask the workers: the messages tell you. (Section 3 of the lesson.)
#
# - **You get** `trace`, the recorded messages of a parameter server, rank 0, and its workers, ranks 1 to `trace.ranks` − 1.
#   `trace.of_rank(0)` are the server's events, in the order in which it did them, one after the other: each ends before the
#   next one begins. An event has a `kind` and a `peer`. `"send"` is w, on its way to worker `peer`. `"recv"` is a gradient
#   from worker `peer`, computed on the last w that the server has sent to this worker. Other kinds have nothing to do
#   with it. Every worker gets a w before it sends its first gradient. It may send two gradients on one w, and it may get
#   another w before it has sent a gradient.
# - **You return** a `dict`: its keys are stalenesses, its values say how many gradients had that staleness; a staleness
#   that no gradient had is not a key. The staleness of a gradient is the number of *other* gradients that the server
#   received after it had sent the w, and before it received this gradient.
# - **You may use** arithmetic: nothing runs, nothing is sent.
# - **It may cost** nothing.


# %% lab="answer staleness_of"
def staleness_of(trace):
    """By staleness, how many gradients had it."""
    ### BEGIN SOLUTION
    histogram, received, when_sent = Counter(), 0, {}
    for event in trace.of_rank(0):
        if event.kind == "send":
            when_sent[event.peer] = received
        elif event.kind == "recv":
            histogram[received - when_sent[event.peer]] += 1
            received += 1
    return dict(histogram)
    ### END SOLUTION


# %% lab="tests staleness_of"
check("without_waiting.staleness_of", staleness_of)

# %% [markdown] lab="readonly about-push_sum"
# ## 7. Push-sum ({minutes} minutes, {points} points)
#
# Where some ranks send to more neighbours than others, and get nothing back, plain gossip ends at the wrong mean. Send a
# weight along, and divide. (The lesson's [more](../../course/06_without_waiting/more.ipynb).)
#
# - **You get** `x`, this rank's float64 tensor of any shape, the same on every rank. `sends_to` is a list of K lists, the same
#   on every rank: `sends_to[i]` are the ranks to which rank i sends, without i itself, none twice. Along these one-way links
#   every rank reaches every other one. Then the number of `rounds`, 0 or more.
# - **You return** value/weight after `rounds` rounds, a new tensor like `x`, correct to nine digits. Before the first
#   round, the value is `x` and the weight is 1. In a round each rank i cuts its value and its weight into equal shares:
#   one for each rank of `sends_to[i]`, and one for itself. Its next value is the sum of its own share and of all shares
#   that arrive; its next weight likewise.
# - **You may use** `send`, `recv`, `isend`, `irecv` and `batch_isend_irecv` of `dist`.
# - **It may cost** one message a round for each entry of `sends_to`, with one number more than `x` has. They travel at
#   the same time: a rank waits for none before it has posted all its sends, or all its receives, of this round.


# %% lab="answer push_sum"
def push_sum(x, sends_to, rounds, group=None):
    """This rank's value divided by its weight, after so many rounds of sharing both."""
    ### BEGIN SOLUTION
    rank = dist.get_rank(group)
    sources = [j for j, targets in enumerate(sends_to) if rank in targets]
    own = torch.cat([x.reshape(-1), x.new_ones(1)])
    for _ in range(rounds):
        share = own / (len(sends_to[rank]) + 1)
        received = [torch.empty_like(own) for _ in sources]
        posted = [dist.P2POp(dist.irecv, r, group=group, group_peer=j) for r, j in zip(received, sources, strict=True)]
        posted += [dist.P2POp(dist.isend, share, group=group, group_peer=i) for i in sends_to[rank]]
        for work in dist.batch_isend_irecv(posted) if posted else []:
            work.wait()
        own = sum(received, start=share)
    return (own[:-1] / own[-1]).view(x.shape)
    ### END SOLUTION


# %% lab="tests push_sum"
check("without_waiting.push_sum", push_sum)

# %% [markdown] lab="readonly about-best_mixing"
# ## 8. Who should talk to whom? ({minutes} minutes, {points} points)
#
# Each rank may have only so many neighbours. Find the mixing matrix that brings all to the mean soonest.
# (Section 6 of the lesson.)
#
# - **You get** the number of `ranks` K, and the `degree`: at least 2, or 1 where there are two ranks. It may be more than
#   K − 1.
# - **You return** `mixing`, a list of K lists of K numbers. No entry is negative; each row and each column sums to 1, to
#   six digits; it is symmetric; and no row has more than `degree` entries off the diagonal that are not zero.
# - **You may use** Python, NumPy and `torch`: nothing is sent.
# - **It may cost** one second for each pair of `ranks` and `degree`.
#
# The **spectral gap** of a mixing matrix is 1 − |λ₂|, where λ₂ is the eigenvalue of second-largest magnitude; with one rank
# it is 1. The larger it is, the sooner all agree. For each pair of `ranks` and `degree` that is tried, you earn the
# fraction gap/bar of its points, and never more than all of them.
#
# The **bar** is the gap of the best *circulant* matrix with equal weights: for a set of steps s, row i has the same number
# on the diagonal, at (i + s) mod K and at (i − s) mod K, for each s of the set. Of all the sets that `degree` allows,
# the best one counts. With 8 ranks and a degree of 3 that is {1, 4}, and the bar is 0.5. Larger gaps exist.


# %% lab="answer best_mixing"
def best_mixing(ranks, degree):
    """A symmetric mixing matrix with at most so many neighbours for each rank, and a large spectral gap."""
    ### BEGIN SOLUTION
    best, best_gap = np.eye(ranks), 0.0
    steps = range(1, ranks // 2 + 1)
    for chosen in itertools.chain.from_iterable(itertools.combinations(steps, n) for n in range(1, degree + 1)):
        mixing = np.eye(ranks)
        for i, s in itertools.product(range(ranks), chosen):
            mixing[i, (i + s) % ranks] = mixing[i, (i - s) % ranks] = 1
        if mixing[0].sum() <= degree + 1:
            mixing /= mixing[0].sum()
            gap = 1 - sorted(abs(np.linalg.eigvalsh(mixing)))[-2]
            if gap > best_gap:
                best, best_gap = mixing, gap
    return best.tolist()
    ### END SOLUTION


# %% lab="tests best_mixing"
check("without_waiting.best_mixing", best_mixing)

# %% [markdown] lab="readonly about-federated_average"
# ## 9. Federated averaging ({minutes} minutes, {points} points)
#
# Phones train on their own data and report their models. Not all of them do. (The lesson's [more](../../course/06_without_waiting/more.ipynb).)
#
# - **You get** `w`, the model that all clients began with, a float64 tensor of any shape; `models`, a list: `models[i]` is
#   the model of client i after its training, a tensor like `w`, or `None` if it dropped out; and `examples`, a list of
#   the same length: `examples[i]` is how many examples client i has, a whole number, 0 or more.
# - **You return** a tensor like `w`: the mean of the reported models, in which each counts by its number of examples; or the
#   numbers of `w`, if nobody reported or those who did have no examples.
# - **You may use** arithmetic: nothing runs, nothing is sent.
# - **It may cost** nothing.


# %% lab="answer federated_average"
def federated_average(w, models, examples):
    """The mean of the models that were reported, weighted by their clients' examples."""
    ### BEGIN SOLUTION
    reported = [(model, n) for model, n in zip(models, examples, strict=True) if model is not None]
    total = sum(n for _, n in reported)
    if total == 0:
        return w
    return sum((n / total * model for model, n in reported), start=torch.zeros_like(w))
    ### END SOLUTION


# %% lab="tests federated_average"
check("without_waiting.federated_average", federated_average)

# %% [markdown] lab="readonly about-masked_sum"
# ## 10. A sum of secrets ({minutes} minutes, {points} points)
#
# All learn the sum, nobody learns a summand: each pair of ranks hides behind a mask, and the masks cancel. (The lesson's
# [more](../../course/06_without_waiting/more.ipynb).)
#
# - **You get** `value`, an int64 tensor of this rank, of the same shape on every rank, with numbers from 0 to 2³² − 1;
#   `secrets`, a list: `secrets[j]` is a whole number, 0 or more, that this rank shares with rank j and with nobody else, the same on both,
#   and `None` for this rank itself; and `mask(secret)`, an int64 tensor like `value`: random numbers from 0 to 2³² − 1, always
#   the same for the same secret.
# - **You return** on every rank the sum of the values of all ranks, modulo 2³²: an int64 tensor with numbers from 0 to
#   2³² − 1.
# - **You may use** `dist.all_reduce`.
# - **It may cost** one all-reduce of as many int64 numbers as `value` has.
#
# What a rank hands to the all-reduce must look random: numbers from 0 to 2³² − 1, in which the masks of *all* its secrets are
# added to `value` or subtracted from it, once each, modulo 2³². Then even ranks that pool what they know learn no more
# than a sum. Nothing else may leave a rank: print nothing, send nothing in another way, write no file.


# %% lab="answer masked_sum"
def masked_sum(value, secrets, mask, group=None):
    """The sum of the values of all ranks modulo 2**32, of which no rank shows its own."""
    ### BEGIN SOLUTION
    rank = dist.get_rank(group)
    masked = value.clone()
    for other, secret in enumerate(secrets):
        if other != rank:
            masked += mask(secret) if rank < other else -mask(secret)
    masked %= 2**32
    dist.all_reduce(masked, group=group)
    return masked % 2**32
    ### END SOLUTION


# %% lab="tests masked_sum"
check("without_waiting.masked_sum", masked_sum)

# %% [markdown] lab="readonly about-local_sgd"
# ## 11. Local SGD ({minutes} minutes, {points} points)
#
# Each rank trains a model of its own, and now and then all take the mean of their models. (Section 5 of the lesson.)
#
# - **You get** `gradient`, the start `w` (a float64 tensor of any shape, not always contiguous), the number of `steps`
#   (0 or more), the learning `rate`, and the `period`, at least 1. All but `gradient` are the same on every rank.
# - **You return** the averaged w, the same on every rank. A step is w ← w − `rate`·gradient, on each rank's own w. After
#   every `period` steps, and after the last step, each rank's w becomes the mean of the w of all ranks. Without a step it
#   may be `w` itself.
# - **You may use** `dist.all_reduce`.
# - **It may cost** ⌈`steps`/`period`⌉ all-reduces of as many numbers as `w` has.


# %% lab="answer local_sgd"
def local_sgd(gradient, w, steps, rate, period, group=None):
    """The mean of the ranks' models, which met after every period steps, and after the last one."""
    ### BEGIN SOLUTION
    ranks = dist.get_world_size(group)
    for step in range(steps):
        w = w - rate * gradient(w, step)
        if (step + 1) % period == 0 or step + 1 == steps:
            dist.all_reduce(w, group=group)
            w = w / ranks
    return w
    ### END SOLUTION


# %% lab="tests local_sgd"
check("without_waiting.local_sgd", local_sgd)

# %% [markdown] lab="readonly where-next"
# ## Where to go from here
#
# Run your `parameter_server` on the real processes of this machine: `check("without_waiting.parameter_server",
# parameter_server, on="processes")`. There the order of the messages is not the same each time.
#
# What professionals use: PyTorch's DDP takes a *communication hook*, `model.register_comm_hook(...)`. `PowerSGD` and fp16
# hooks are in `torch.distributed.algorithms.ddp_comm_hooks`, local SGD in
# `torch.distributed.algorithms.model_averaging`, DiLoCo in `torchft.local_sgd`. DDP itself waits, in every step.
