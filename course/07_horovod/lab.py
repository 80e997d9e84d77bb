# %% [markdown] lab="readonly title"
# # Lab 07: Horovod
#
# You turn a serial script into one that trains on any number of ranks. Then you write a training step that goes on when
# a rank has died, as torchft makes it today.
#
# [The lesson](../../course/07_horovod/lesson.ipynb) explains what you need. Each exercise names its section.

# %% [markdown] lab="readonly how"
# ## How to work
#
# Write each function in its cell, in place of `raise NotImplementedError()`, or change the program that is there. Run
# the cell below it: it runs your function and says what it saw. Try as often as you like. Each exercise that you write
# or change has three folded hints. A program that hangs is stopped.
#
# **Exercises 1 and 5 need Horovod itself**, and run on real processes of this machine. Where it is not installed, their
# checks say so and grade nothing; `lockstep horovod` in a terminal builds it. The other exercises do without. So
# `import horovod.torch as hvd` stands *inside* the functions that need it. `hvd.init()` has been called when your
# function begins. Calling it again does nothing; `hvd.shutdown()` is not yours to call.
#
# **Ranks.** K is the number of ranks: `hvd.size()`, or that of `group`. It may be 1.
#
# **Your arguments stay as they are**, unless the text says otherwise: values, order, `requires_grad`, `.grad`, hooks.
# What you return is new: whoever changes it later must not change them.

# %% lab="readonly imports"
from collections import Counter

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from lockstep import check

# %% [markdown] lab="readonly about-distribute"
# ## 1. Distribute a script ({minutes} minutes, {points} points)
#
# This is a serial training script. Turn it into a Horovod script: K ranks train as one serial script would, on batches
# K times as large. (Section 1 of the lesson.)
#
# - **You get** on every rank: `model`, whose initial weights (and buffers) differ from rank to rank, and which each
#   rank trains (some layers may be frozen, by `requires_grad=False`); `dataset`, the same on every rank, with pairs (x,
#   y); `epochs`; `batch`, the number of examples of *one* rank in one step; `rate`; and `save`. `checkpoint` is what an
#   earlier training on K ranks saved; but only rank 0 has it: the others get `None`. If there is none, rank 0 gets
#   `None`, too. The length of `dataset` is a multiple of K·`batch`.
# - **You return** on every rank the trained `model`: the same weights and buffers on all. (Training changes no buffer.)
#   It is what the serial script makes of rank 0's weights, or of the checkpoint with its momentum, with the learning
#   rate K·`rate`, if each of its batches is the union of the ranks' batches. (The rate in the checkpoint is K·`rate`
#   already.) In an epoch each example is used once, by one rank, and each epoch has a new order. `save` is
#   called once, at the end, on rank 0 alone: with the dict of the serial script, whose keys and values the next
#   training can begin with.
# - **You may use** all of `horovod.torch`, and `DistributedSampler`.
# - **It may cost** one all-reduce of each parameter's gradient in each step, alone or in a group with others; with K =
#   1 none is needed. And broadcasts before the first step. Averaging a loss over the ranks for a log is no fault.
#
# `hvd.DistributedOptimizer(optimizer)` is a *new* optimizer. It takes over the parameters and the rate, but not the
# momentum that `optimizer` has. `DistributedSampler` has the same order in each epoch, unless you tell it the epoch;
# also tell it how many ranks there are, and which is yours. Call the model once for each batch: the check
# watches these calls.


# %% lab="given distribute"
def distribute(model, dataset, checkpoint, epochs, batch, rate, save):
    """Train the model on this rank's share of the dataset, together with all other ranks."""
    import horovod.torch as hvd

    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    for epoch in range(epochs):
        for x, y in DataLoader(dataset, batch, shuffle=True):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
    save({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    return model


# %% [markdown] lab="hint distribute"
# Two ranks, a dataset of 8, `batch=2`, one epoch. Write down for each line of the script: what does each rank hold
# before it and after it, if you change nothing? Which lines must do the same on both, which must differ, and which run
# on one only?
#
# ---
#
# Six things are missing, and each is one or two lines: who am I, and how many of us are there; each rank its own
# examples; the rate; an optimizer that averages gradients before it steps; the same beginning on all; and who saves.
# The traps lie in the order. A state that you load into an optimizer before you wrap it is lost. What rank 0 has loaded
# must reach the others *after* it is loaded. And a rate that comes out of a checkpoint needs no factor.
#
# ---
#
# ```python
# optimizer = torch.optim.SGD(...)  # which rate?
# optimizer = hvd.DistributedOptimizer(..., named_parameters=...)
# if checkpoint:
#     ...
# hvd.broadcast_parameters(..., root_rank=0)
# hvd.broadcast_optimizer_state(..., root_rank=0)
# sampler = DistributedSampler(dataset, ...)  # how many shares, and which is mine?
# for epoch in range(epochs):
#     ...  # another order
#     for x, y in DataLoader(dataset, batch, sampler=sampler):
#         ...  # as before
# if ...:
#     save(...)
# ```
#
# The check tells you which examples each rank saw, and which step was the first to differ from the serial training.


# %% lab="answer distribute"
### BEGIN SOLUTION
def distribute(model, dataset, checkpoint, epochs, batch, rate, save):
    """Train the model on this rank's share of the dataset, together with all other ranks."""
    import horovod.torch as hvd

    optimizer = torch.optim.SGD(model.parameters(), lr=rate * hvd.size(), momentum=0.9)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    hvd.broadcast_optimizer_state(optimizer, root_rank=0)
    sampler = DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank())
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in DataLoader(dataset, batch, sampler=sampler):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
    if hvd.rank() == 0:
        save({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    return model


### END SOLUTION

# %% lab="tests distribute"
check("horovod.distribute", distribute)

# %% [markdown] lab="readonly about-fault_tolerant_step"
# ## 2. A step that survives ({minutes} minutes, {points} points)
#
# Write one training step as torchft makes it. A replica group has died, another one has come back, an all-reduce fails:
# nobody stops for that. (Section 6 of the lesson.) This one needs no Horovod. Each rank stands for one **replica
# group**.
#
# - **You get** on every rank: `w`, this rank's weights, a contiguous float tensor; `gradient`, a function:
#   `gradient(w)` is the gradient at w on this rank's own data; `rate`; and `steps`, the same list on every rank: entry
#   r says how many steps are in the weights of rank r of `group`. The ranks with the most steps are **up to date**, and
#   have the same weights. All others are **behind**: their weights, and so their gradients, are of no use, and may be
#   `nan`.
#   `all_reduce(tensor)` sums a tensor over `group`, in place. It may fail, on some ranks and not on others: then it
#   raises `RuntimeError`, and the tensor holds garbage. `vote(well)` tells the replica group whether all went well on
#   this rank, True or False, and returns what the group decides, True or False.
# - **You return** a pair: the weights after this step, and how many steps are in them. If the group decides True, these
#   are w − `rate`·G/n, and one step more than before. Here w are the weights of those that are up to date, n is how
#   many of them there are, and G is the sum of their gradients. That holds on ranks that were behind, too. If the group
#   decides False, the step is discarded: return the up-to-date weights w without it, and the number of steps in them.
# - **You may use** these functions, and `send`, `recv`, `isend`, `irecv` of `dist`, each with `group=group`.
# - **It may cost** one message with the weights to each rank that is behind; and on every rank one call of
#   `all_reduce`, with as many elements as `w` has, and after it one call of `vote`.
#
# Ranks that have died are not in `group`. A rank that is behind calls `all_reduce`, too, but adds nothing to the sum. A
# vote is due even where the all-reduce has failed. Decisions may differ from rank to rank.


# %% [markdown] lab="hint fault_tolerant_step"
# `steps=[5, 7, 7, 1]`. Write down for each rank: whose weights does it end with, whose gradients are in the step, and
# what is their sum divided by? Then let the all-reduce fail on rank 2 alone. What does each rank return?
#
# ---
#
# Five parts: who is up to date, weights for those who are not, a share of the sum, the vote, the end. Everybody can
# work out from `steps` alone who sends to whom. The traps: a rank that is behind takes the step as well, so that it is
# no longer behind; what it was sent stays, even if the step is discarded; `nan` times 0 is `nan`; and the number of a
# rank in `group` need not be its number in the world.
#
# ---
#
# ```python
# most = max(steps)
# up_to_date = ...  # numbers of ranks in `group`
# w = w.clone()
# for r in ...:  # those that are behind
#     if ...:  # I send to r
#         dist.send(w, group=group, group_dst=r)
#     if ...:  # r is me
#         dist.recv(w, group=group, group_src=...)
# share = ...  # zeros, or not?
# well = True
# try:
#     all_reduce(share)
# except RuntimeError:
#     ...
# if vote(well):
#     return ..., ...
# return ..., ...
# ```
#
# When is the gradient computed: before or after `w` has arrived? The check tells you which rank has voted, counted or
# stepped differently from its quorum.


# %% lab="answer fault_tolerant_step"
def fault_tolerant_step(w, gradient, rate, steps, all_reduce, vote, group=None):
    """This rank's weights after one step, and how many steps are in them."""
    ### BEGIN SOLUTION
    me, most = dist.get_rank(group), max(steps)
    up_to_date = [r for r, made in enumerate(steps) if made == most]
    behind = [r for r, made in enumerate(steps) if made < most]
    share = gradient(w) if me in up_to_date else torch.zeros_like(w)
    w = w.clone()
    for r in behind:
        if me == up_to_date[0]:
            dist.send(w, group=group, group_dst=r)
        if me == r:
            dist.recv(w, group=group, group_src=up_to_date[0])
    well = True
    try:
        all_reduce(share)
    except RuntimeError:
        well = False
    if vote(well):
        return w - rate * share / len(up_to_date), most + 1
    return w, most
    ### END SOLUTION


# %% lab="tests fault_tolerant_step"
check("horovod.fault_tolerant_step", fault_tolerant_step)

# %% [markdown] lab="readonly extra"
# ## Extra
#
# What follows is for those who want more. The cells of these exercises are folded: open them by the button below each
# text. The grade counts only the exercises above; the points for these are yours alone, in `lockstep progress`.

# %% [markdown] lab="readonly about-negotiate"
# ## 3. Negotiate ({minutes} minutes, {points} points)
#
# On each rank, tensors become ready in a different order. Write what Horovod does about it: a **coordinator**, rank 0
# of the group, says in each cycle which ones all ranks sum now. (Section 3 of the lesson.) This one needs no Horovod:
# it is plain `torch.distributed`.
#
# - **You get** `cycles`, an iterator: `next(cycles, None)` is the next cycle of this rank, a dict that maps names to
#   tensors: those that have become ready on this rank since the cycle before, in the order in which they did. It is
#   `None` when this rank has no more cycles. Every rank has the same names, each in exactly one cycle, and under one
#   name tensors of the same shape and dtype. The ranks differ in the order, in the cycle of a name, and in how many
#   cycles they have. A cycle may be empty.
# - **You return** the list of names in the order in which they were all-reduced: the same list on every rank. Each
#   tensor has become the sum over all ranks of the tensors of its name, in place.
# - **You may use** `gather_object`, `broadcast_object_list`, `send`, `recv` and `all_reduce` of `dist`, each with
#   `group=group`.
# - **It may cost** one all-reduce for each name, separately. Besides these, 2(K−1) messages in a cycle, and as many to
#   stop: one from each other rank to rank 0, and one back. (`gather_object` and `broadcast_object_list` count as that;
#   what has at most 32 bytes, such as a length or a flag, does not count.) An all-gather has K(K−1) messages. Names
#   (and shapes, if you like) travel to rank 0; no tensor does.
#
# In its cycle c each rank tells rank 0 which names became ready in this cycle. The names that are now ready on *all*
# ranks come back, and all ranks all-reduce them, in one order, and in this very cycle. Only then take the next cycle. A
# rank that has no more cycles still joins in, with nothing new. When no rank has one, all stop. Each rank alone
# knows how many it has.
#
# `group` may hold some of the ranks; "rank 0" is then the group's rank 0. Names may travel as objects, or as a tensor
# of bytes. The all-reduces of one cycle may be under way at the same time. With K = 1 nothing need be sent.


# %% [markdown] lab="hint negotiate"
# Three ranks. In cycle 0 rank 0 has a and b ready, rank 1 has b, rank 2 has b and a. In cycle 1 rank 1 has a, and the
# others nothing. Write down what rank 0 hears in each cycle, and what it answers. How does it know that there is no
# cycle 2?
#
# ---
#
# A cycle has three parts: tell, answer, reduce. Rank 0 keeps a count for each name; a name whose count has reached K
# goes into the answer, and never again. The answer is one list: whoever follows it needs no order of its own. A rank
# without another cycle sends `None`, and when all do, `None` is the answer. The traps: a rank that has finished and
# leaves the others waiting; and a tensor that was ready in an earlier cycle, and has to be found again.
#
# ---
#
# ```python
# tensors, counts, order, now = {}, Counter(), [], []  # counts: rank 0 only
# while now is not None:
#     mine = next(cycles, None)
#     tensors |= ...
#     told = [None] * K if ... else None
#     dist.gather_object(..., told, group=group, group_dst=0)
#     answer = [None]
#     if ...:  # rank 0 of the group, and somebody has a cycle
#         ...  # count; take out what is ready on all
#     dist.broadcast_object_list(answer, group=group, group_src=0)
#     now = answer[0]
#     ...  # reduce, in the order of now
# return order
# ```
#
# The check tells you which tensor was summed too early or too late, and counts the messages of a cycle.


# %% lab="answer negotiate"
def negotiate(cycles, group=None):
    """The names in the order in which all ranks summed their tensors, each as soon as it was ready everywhere."""
    ### BEGIN SOLUTION
    size, first = dist.get_world_size(group), dist.get_rank(group) == 0
    tensors, ready, order, now = {}, Counter(), [], []
    while now is not None:
        mine = next(cycles, None)
        tensors |= mine or {}
        told = [None] * size if first else None
        dist.gather_object(None if mine is None else list(mine), told, group=group, group_dst=0)
        answer = [None]
        if first and told != [None] * size:
            ready.update(name for names in told for name in names or [])
            answer = [[name for name, count in ready.items() if count == size]]
            for name in answer[0]:
                del ready[name]
        dist.broadcast_object_list(answer, group=group, group_src=0)
        now = answer[0]
        for name in now or []:
            dist.all_reduce(tensors[name], group=group)
            order.append(name)
    return order
    ### END SOLUTION


# %% lab="tests negotiate"
check("horovod.negotiate", negotiate)

# %% [markdown] lab="readonly about-fused_tensors"
# ## 4. What was fused? ({minutes} minutes, {points} points)
#
# Horovod sums several tensors in one operation. Its timeline tells which. (Section 4 of the lesson.)
#
# - **You get** `timeline`, a list of events, dicts, in order of time, in the form in which `HOROVOD_TIMELINE` writes them.
#   Each tensor has a row of its own, with a number, `pid`, that stays the same. What you need of them:
#
#   | event | meaning |
#   |---|---|
#   | `{"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "allreduce.w"}}` | row 7 is that of the tensor `allreduce.w` |
#   | `{"ph": "B", "name": "GLOO_ALLREDUCE", "pid": 7, "ts": 8120}` | something by this name begins there, at that time in µs |
#   | `{"ph": "E", "pid": 7, "ts": 8279}` | what began last on row 7, and has not ended, ends |
#
# - **You return** a list with one entry for each all-reduce operation that was carried out, in order of time: the list
#   of the names of the tensors that it carried, sorted. For example `[["allreduce.a", "allreduce.b"],
#   ["allreduce.c"]]`.
# - **You may use** arithmetic: nothing runs, nothing is sent.
# - **It may cost** nothing.
#
# Horovod carries out one operation after another. While it carries one out, each of its tensors is in
# `GLOO_ALLREDUCE`: on all of their rows it begins before it ends on any. Every operation has ended before the next one
# begins. Where events have the same `ts`, their order in the list is the order of time: an operation may begin in the
# microsecond in which the one before it ended, and may itself take less than one. A tensor is reduced again in each step:
# then it is in several operations, perhaps with other tensors each time.
#
# On a row, things are nested: something else may begin and end while the row is in `GLOO_ALLREDUCE`. What
# begins has ended by the end of the list. The `process_name` of a row comes before all that begins or ends there.
#
# Row 0 is not a tensor's: its `process_name` has no `name` in `args`. Other operations and events do not count:
# negotiations, copies, broadcasts, all-gathers, events with `"ph": "X"` or `"i"`. Those with `"i"` have no `pid`; all
# others have one.


# %% [markdown] lab="hint fused_tensors"
# Take the timeline of one step in the lesson's figure, and put your finger on the left edge. Move it to the right. When
# do bars of `GLOO_ALLREDUCE` begin, when do they end, and how many rows have one at the same time?
#
# ---
#
# Keep the set of rows that are in `GLOO_ALLREDUCE` now. If one begins while the set is empty, a new operation begins.
# If it begins while others are in it, it belongs to theirs. An end event has no name: what ends is what began last on
# its row. The traps: a row keeps its number, but in the next step it may be fused with others; and a dict that is keyed
# by the tensor forgets all steps but one.
#
# ---
#
# ```python
# names, open_on, inside, operations = {}, {}, set(), []
# for event in timeline:
#     row = event.get("pid")
#     if event["ph"] == "M" and ...:
#         names[row] = ...
#     elif event["ph"] == "B":
#         open_on.setdefault(row, []).append(event["name"])
#         if event["name"] == "GLOO_ALLREDUCE":
#             ...  # a new operation, or the one that is under way?
#     elif event["ph"] == "E" and open_on[row].pop() == ...:
#         ...
# return ...
# ```
#
# The check tells you which operation it found, and which one you have in its place.


# %% lab="answer fused_tensors"
def fused_tensors(timeline):
    """For each all-reduce operation, in order of time, the sorted names of its tensors."""
    ### BEGIN SOLUTION
    names, open_on, operations, inside = {}, {}, [], set()
    for event in timeline:
        row = event.get("pid")
        if event["ph"] == "M" and event["name"] == "process_name":
            names[row] = event["args"].get("name")
        elif event["ph"] == "B":
            open_on.setdefault(row, []).append(event["name"])
            if event["name"] == "GLOO_ALLREDUCE":
                if not inside:
                    operations.append([])
                operations[-1].append(names[row])
                inside.add(row)
        elif event["ph"] == "E" and open_on.get(row) and open_on[row].pop() == "GLOO_ALLREDUCE":
            inside.remove(row)
    return [sorted(operation) for operation in operations]
    ### END SOLUTION


# %% lab="tests fused_tensors"
check("horovod.fused_tensors", fused_tensors)

# %% [markdown] lab="readonly about-elastic_state"
# ## 5. A state that loses no step ({minutes} minutes, {points} points)
#
# Write a training loop that survives: one rank is killed in the middle, another one is added, and no step is lost.
# (Section 5 of the lesson.)
#
# - **You get** on every rank: `model`, whose initial weights differ from rank to rank; `optimizer`, a plain
#   `torch.optim.SGD` with momentum over the model's parameters; `batches`, a list with the batch of each step:
#   `batches[step]` is a pair (x, y) for *all* ranks together; and `every`. `batches` and `every` are the same on every
#   rank. Of each batch, rank r of K takes the rows r, r + K, r + 2K, …. There are 1 to 4 ranks, and the number of rows
#   is always a multiple of K. The rate of `optimizer` is right for the mean of the loss `F.mse_loss(model(x), y)` over
#   the whole batch.
# - **You return** on every rank that reaches the end the trained `model`: within 1e-6, what a serial training makes of
#   the weights with which rank 0 began, with one step for each batch, in their order, each exactly once. That holds
#   however often the number of ranks changes.
# - **You may use** all of `horovod.torch`, above all `hvd.elastic.TorchState`, `hvd.elastic.run` and `state.commit()`.
# - **It may cost** one commit after every `every` steps, counted from the first step of the training: after `every`
#   steps, 2·`every`, …, and perhaps one at the end. A step is one all-reduce of each parameter's gradient.
#
# A rank is killed without warning (SIGKILL), at the earliest after the first commit. The others go back to their last
# commit, and repeat the steps after it. A rank that is added calls your function from its beginning, with a
# model and an optimizer of its own; what it needs to know comes out of the state of rank 0. When the number of ranks
# changes, a rank may get a different number.


# %% [markdown] lab="hint elastic_state"
# Eight batches, `every=3`. A rank is killed in step number 4: four steps are done, and the fifth has begun. To which step
# do the others go back? What must they find there, so that step 3 comes next, and with the right momentum?
#
# ---
#
# Whatever changes from step to step belongs in the state: the model, the optimizer, and the number of the step. The
# loop asks the state where it is. `hvd.elastic.run` calls your inner function again after each change, with the state
# as it was committed, or as rank 0 has it. So nothing in it may start over. The traps: a `for` loop that begins at 0; a
# commit before the step is counted; an optimizer that is made inside; and a rank number that was read once.
#
# ---
#
# ```python
# optimizer = hvd.DistributedOptimizer(...)
# state = hvd.elastic.TorchState(model=..., optimizer=..., step=...)
#
#
# @hvd.elastic.run
# def train(state):
#     while ...:
#         x, y = ...  # this rank's rows, by today's rank and size
#         ...  # a step as ever
#         state.step += 1
#         if ...:
#             state.commit()
#
#
# train(state)
# return model
# ```
#
# The check tells you which step was lost or made twice, and how often you committed.


# %% lab="answer elastic_state"
def elastic_state(model, optimizer, batches, every):
    """The model after one step for each batch, although ranks died and others came."""
    import horovod.torch as hvd

    ### BEGIN SOLUTION
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    state = hvd.elastic.TorchState(model=model, optimizer=optimizer, step=0)

    @hvd.elastic.run
    def train(state):
        while state.step < len(batches):
            x, y = (part[hvd.rank() :: hvd.size()] for part in batches[state.step])
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
            state.step += 1
            if state.step % every == 0:
                state.commit()

    train(state)
    return model
    ### END SOLUTION


# %% lab="tests elastic_state"
check("horovod.elastic_state", elastic_state)

# %% [markdown] lab="readonly about-frameworks"
# ## 6. Today's names ({minutes} minutes, {points} points)
#
# A lecture lists frameworks, in names of its time. Complete the table with the names that the documentation uses
# today. (Section 7 of the lesson.)
#
# - **You get** nothing: the table stands below, with a `"?"` for each name that is missing.
# - **You return** the table with the same keys, and a name in place of each `"?"`: as the documentation of that
#   framework writes it, as a string, without the modules before it: `"allreduce"`, not `"hvd.allreduce"` or
#   `"horovod.torch.allreduce"`. Upper and lower case count. Horovod's names are those of `horovod.torch`. A backend's
#   name is the string for `init_process_group`, in lower case. Lightning's strategy is the string that its trainer takes
#   for the regular one. Leave what is there already.
# - **You may use** the lesson, and the frameworks' own documentation.
# - **It may cost** nothing.


# %% lab="given frameworks"
def frameworks():
    """The lecture's frameworks, in today's names."""
    return {
        "tf.distribute": {
            "strategy: all GPUs of one machine, synchronous": "MirroredStrategy",
            "strategy: several machines, synchronous": "?",
            "strategy: parameter servers, asynchronous": "?",
            "today's name of CollectiveCommunication": "?",
        },
        "Horovod": {
            "command that starts the ranks": "?",
            "wraps an optimizer, averages gradients": "DistributedOptimizer",
            "gives all ranks rank 0's weights": "?",
        },
        "torch.distributed": {
            "command that starts the ranks": "?",
            "wraps a model, averages gradients": "DistributedDataParallel",
            "backend for CPUs": "gloo",
            "backend for NVIDIA GPUs": "?",
            "backend for Intel GPUs": "?",
            "backend only if torch was built with it": "?",
        },
        "Lightning": {
            "class that runs the training": "Trainer",
            "its argument: how many machines": "?",
            "its strategy on DistributedDataParallel": "?",
        },
        "libraries below": {"today's name of MKL-DNN": "?"},
    }


# %% lab="answer frameworks"
### BEGIN SOLUTION
def frameworks():
    """The lecture's frameworks, in today's names."""
    return {
        "tf.distribute": {
            "strategy: all GPUs of one machine, synchronous": "MirroredStrategy",
            "strategy: several machines, synchronous": "MultiWorkerMirroredStrategy",
            "strategy: parameter servers, asynchronous": "ParameterServerStrategy",
            "today's name of CollectiveCommunication": "CommunicationImplementation",
        },
        "Horovod": {
            "command that starts the ranks": "horovodrun",
            "wraps an optimizer, averages gradients": "DistributedOptimizer",
            "gives all ranks rank 0's weights": "broadcast_parameters",
        },
        "torch.distributed": {
            "command that starts the ranks": "torchrun",
            "wraps a model, averages gradients": "DistributedDataParallel",
            "backend for CPUs": "gloo",
            "backend for NVIDIA GPUs": "nccl",
            "backend for Intel GPUs": "xccl",
            "backend only if torch was built with it": "mpi",
        },
        "Lightning": {
            "class that runs the training": "Trainer",
            "its argument: how many machines": "num_nodes",
            "its strategy on DistributedDataParallel": "ddp",
        },
        "libraries below": {"today's name of MKL-DNN": "oneDNN"},
    }


### END SOLUTION

# %% lab="tests frameworks"
check("horovod.frameworks", frameworks)

# %% [markdown] lab="readonly where-next"
# ## Where to go from here
#
# Save your `distribute` in a file `mine.py`, and check it under Horovod's own launcher: `horovodrun -np 4 python -m
# lockstep check horovod.distribute mine.py` in a terminal.
#
# What professionals use: in PyTorch, DDP, started by `torchrun`, which restarts all ranks when one has died; in
# TensorFlow, `tf.distribute`. Both have what Horovod was the first to bring to many. Where the others should go on
# without a restart: torchft, whose step you have written.
