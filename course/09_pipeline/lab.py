# %% [markdown] lab="readonly title"
# # Lab 09: Pipelines
#
# You draw a schedule by hand, and it trains a model. Then you write a worker that follows any schedule, mend an exchange
# that hangs, and cut a model into stages.
#
# [The lesson](../../course/09_pipeline/lesson.ipynb) explains what you need. Each exercise names its sections.

# %% [markdown] lab="readonly how"
# ## How to work
#
# Write each function in its cell, in place of `raise NotImplementedError()`. Run the cell below it: it runs your
# function (a distributed one on 1 to 5 ranks of a virtual cluster). It looks at the results, at what was sent and in
# which order, *and* at what each rank held, and says what it saw. Try as often as you like. Each of the first five
# exercises has three folded hints. A program that hangs is stopped.
#
# **Stages.** A model is cut into p **stages**. Stage s = 0, …, p − 1 has the s-th part of its layers, and runs on rank
# s of `group`: `dist.get_rank(group)` is s, and `dist.get_world_size(group)` is p. p may be 1. `group=None` is all
# ranks. Every call of `dist` gets `group=group`, and names its peer by its rank in the group: by `group_src`,
# `group_dst`, or as in `dist.P2POp(dist.isend, y, group=group, group_peer=s + 1)`.
#
# **Your arguments stay as they are**, unless the text says otherwise: values, order, `requires_grad`, `.grad`, hooks.
# What you return is new: whoever changes it later must not change them.

# %% [markdown] lab="readonly streams"
# **Micro-batches.** A batch is cut into m **micro-batches**, i = 0, …, m − 1. m is 1 or more; it may be smaller than p.
# Each stage does two things with each of them:
#
# - **F**, the forward pass: from the input x_i to the output y_i. On stage s + 1 that is the input.
# - **B**, the backward pass: from dy_i, the gradient of the output, to dx_i, that of the input. On stage s − 1 that is
#   dy_i.
#
# So F of micro-batch i has to end on stage s − 1 before it begins on stage s. B has to end on stage s + 1 before it
# begins on stage s; on the last stage it waits for F of i there. A stage **keeps** micro-batch i from the beginning of
# its F to the end of its B: all that time its activations fill memory. Weights change only when all B are done, except
# in exercises 7 and 8.
#
# **Streams.** What a stage does, in order, is a list of pairs, its *stream*. `("F", 3)` is F of micro-batch 3, and
# `("B", 3)` is B. Exercise 3 adds messages, exercise 6 a third entry, exercise 7 two more kinds.
#
# **Slots.** On paper, each F and each B takes one slot of time, and a message takes none. Slots count from 0. Two stages
# and two micro-batches take 6 slots:
#
# ```
# stage 0    F0 F1 .. B0 .. B1        keeps two micro-batches in slots 1 to 3
# stage 1    .. F0 B0 F1 B1 ..        never keeps more than one
# ```
#
# 4 of the 12 cells are idle. That share, a third, is the **bubble**.

# %% lab="readonly imports"
import torch
import torch.distributed as dist

from lockstep import check, show

# %% [markdown] lab="readonly about-draw_the_schedule"
# ## 1. Draw the schedule ({minutes} minutes, {points} points)
#
# Decide for yourself who computes what, and when. Your drawing then trains a model. (Sections 2, 4 and 5 of the
# lesson.)
#
# - **You get** the number of `stages` p and of `micro_batches` m, and `cap`: how many micro-batches a stage may keep at once.
# - **You return** a drawing: a list of p rows, one for each stage, stage 0 first. A row is a list of cells, one for each
#   slot: `"F3"`, `"B3"`, or `".."` for nothing (`""` is as good). Rows may differ in length: after its last cell a stage is
#   idle.
# - **You may use** anything: write four drawings by hand, draw them on the board below and copy their text, or write a
#   program that draws. The check asks for four: (p, m, cap) = (3, 2, 1), (3, 4, 4), (4, 6, 4) and (4, 6, 3).
# - **It may cost** few slots: all up to the last F or B of any stage, idle ones too. Each drawing is a quarter of the points.
#   A legal one earns half of its quarter, three quarters of it if it takes at most 10 % more slots than the best one, and
#   all of it if no legal drawing takes fewer.
#
# A drawing is **legal** if
#
# 1. each row has F and B of each micro-batch once, and nothing else;
# 2. F of i on stage s is in a later slot than F of i on stage s − 1;
# 3. B of i on stage s is in a later slot than B of i on stage s + 1; on the last stage, later than F of i there;
# 4. in no slot does a stage keep more than `cap` micro-batches. The slots of F and of B count: if a stage is full and
#    has B0 in slot 5, it may begin another F in slot 6;
# 5. all rows have their F in the same order, and all rows have their B in the same order. Any order will do, and that
#    of B may be a different one. (Messages between two stages arrive in the order in which they are sent.)
#
# The check runs each legal drawing on p ranks, with an exchange of messages after each slot: its gradients are those of one
# rank.

# %% [markdown] lab="hint draw_the_schedule"
# Begin with (3, 2, 1): each stage keeps one micro-batch at a time. Draw F0 down the stages and B0 up again. When is stage 0
# free for F1? For (3, 4, 4) draw all F as early as they can go. Then look at the last stage: what could it do in the
# slot after F0?
#
# ---
#
# Fill the drawing slot by slot, not stage by stage. In each slot ask each stage: is there a B that may go here? Then
# draw it: it makes room. If not, is there an F, and room for it? The trap is to prefer F: then a B waits, and with it
# all stages before this one.
#
# ---
#
# ```
# # (4, 6, 4) begins like this
# F0 F1 F2 F3 .. .. .. B0 ...
# .. F0 F1 F2 .. .. B0 ...
# .. .. F0 F1 .. B0 ...
# .. .. .. F0 B0 F1 ...
# ```
#
# Go on like this, B and F alternately. For cap = 3, stage 0 stops after F2: everything that follows moves. The check
# tells you the first rule that the first faulty drawing breaks, with its stage and slot, or how many slots are possible.

# %% lab="readonly board"
show.board(4, 6, 4)


# %% lab="given draw_the_schedule"
def draw_the_schedule(stages, micro_batches, cap):
    """A drawing: for each stage a list of cells, "F3", "B3" or "..", one for each slot."""
    drawings = {
        (3, 2, 1): """
            F0 .. ..
            .. F0 ..
            .. .. F0
        """,
        (3, 4, 4): """
        """,
        (4, 6, 4): """
        """,
        (4, 6, 3): """
        """,
    }
    rows = drawings[stages, micro_batches, cap].strip().splitlines()
    return [row.split() for row in rows]


# %% lab="answer draw_the_schedule"
### BEGIN SOLUTION
def draw_the_schedule(stages, micro_batches, cap):
    """A drawing: for each stage a list of cells, "F3", "B3" or "..", one for each slot."""
    drawings = {
        (3, 2, 1): """
            F0 .. .. .. .. B0 F1 .. .. .. .. B1
            .. F0 .. .. B0 .. .. F1 .. .. B1 ..
            .. .. F0 B0 .. .. .. .. F1 B1 .. ..
        """,
        (3, 4, 4): """
            F0 F1 F2 .. .. B0 F3 B1 .. B2 .. B3
            .. F0 F1 .. B0 F2 B1 F3 B2 .. B3 ..
            .. .. F0 B0 F1 B1 F2 B2 F3 B3 .. ..
        """,
        (4, 6, 4): """
            F0 F1 F2 F3 .. .. .. B0 F4 B1 F5 B2 .. B3 .. B4 .. B5
            .. F0 F1 F2 .. .. B0 F3 B1 F4 B2 F5 B3 .. B4 .. B5 ..
            .. .. F0 F1 .. B0 F2 B1 F3 B2 F4 B3 F5 B4 .. B5 .. ..
            .. .. .. F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 .. .. ..
        """,
        (4, 6, 3): """
            F0 F1 F2 .. .. .. .. B0 F3 B1 F4 B2 F5 .. .. B3 .. B4 .. B5
            .. F0 F1 F2 .. .. B0 .. B1 F3 B2 F4 .. F5 B3 .. B4 .. B5 ..
            .. .. F0 F1 .. B0 F2 B1 .. B2 F3 .. F4 B3 F5 B4 .. B5 .. ..
            .. .. .. F0 B0 F1 B1 F2 B2 .. .. F3 B3 F4 B4 F5 B5 .. .. ..
        """,
    }
    rows = drawings[stages, micro_batches, cap].strip().splitlines()
    return [row.split() for row in rows]


### END SOLUTION


# %% lab="tests draw_the_schedule"
check("pipeline.draw_the_schedule", draw_the_schedule)

# %% [markdown] lab="readonly about-one_f_one_b"
# ## 2. One forward, one backward ({minutes} minutes, {points} points)
#
# Your third drawing had four stages. This is a schedule for any size: as short as can be, and it keeps few
# micro-batches. (Section 5 of the lesson.)
#
# - **You get** the number of this `stage` s, and the numbers of `stages` p and of `micro_batches` m.
# - **You return** the stage's stream, a list of 2·m pairs: `("F", 0)`, …, `("B", m − 1)`. No messages.
# - **You may use** arithmetic. Every stage finds its own stream: nothing is sent.
# - **It may cost** 2·(m + p − 1) slots, if all p stages follow your streams and each begins its next pass as soon as it can.
#   And stage s keeps at most min(m, p − s) micro-batches.
#
# F come in ascending order, and so do B. For each p, m and s exactly one stream does all this. m may be smaller than p.

# %% [markdown] lab="hint one_f_one_b"
# Read your third drawing row by row, and leave out what is idle. How many F come before the first B on stage 0, 1, 2,
# 3? What follows then, and what is left at the end?
#
# ---
#
# The stream has three parts: some F; then B and F alternately, as long as there are F; then the B that are left. How
# many F come first follows from what the stage may keep. The trap is m < p: then the first part already has all F.
#
# ---
#
# ```python
# first = ...  # F before the first B
# stream = [("F", i) for i in range(first)]
# for i in range(micro_batches):
#     stream.append(...)
#     if ...:  # is there an F left?
#         stream.append(...)
# return stream
# ```
#
# The check tells you which stage keeps too many, or how many slots all stages take.


# %% lab="answer one_f_one_b"
def one_f_one_b(stage, stages, micro_batches):
    """The stage's stream, [("F", 0), ...]: forward and backward passes alternating, as early as can be."""
    ### BEGIN SOLUTION
    first = min(micro_batches, stages - stage)
    stream = [("F", i) for i in range(first)]
    for i in range(micro_batches):
        stream.append(("B", i))
        if first + i < micro_batches:
            stream.append(("F", first + i))
    return stream
    ### END SOLUTION


# %% lab="tests one_f_one_b"
check("pipeline.one_f_one_b", one_f_one_b)

# %% [markdown] lab="readonly about-pipeline_worker"
# ## 3. A worker for any schedule ({minutes} minutes, {points} points)
#
# One program executes every schedule. It doesn't know which one: it follows its stream. (Sections 4 and 5 of the lesson.)
#
# - **You get**, on each rank: `module`, this stage's part of the model; `stream`, this stage's stream, with messages;
#   `inputs`, on stage 0 the list of all x_i, on other stages an empty list; `targets`, on the last stage the list of all
#   targets, elsewhere an empty list; `loss`: `loss(y, target)` is a tensor of one number, a mean over a micro-batch; and
#   `shape`, the shape of this stage's x_i, the same for all i. Everything is float32 on the default device:
#   `torch.empty(shape)` fits.
# - **You return** a list: for each of `module.parameters()`, in their order, the gradient of the step's loss. That is the
#   mean of the micro-batches' losses: (loss(y_0, t_0) + … + loss(y_{m−1}, t_{m−1}))/m, with the last stage's y_i. On that
#   stage m is `len(targets)`.
# - **You may use** autograd, and `dist.batch_isend_irecv`. What autograd computes on one stage doesn't reach another
#   one by itself: you send it.
# - **It may cost** one call of `module` for each F, and the messages of the stream, one tensor each; no collective. And
#   memory: micro-batch i is *under way* from its first pair in the stream to its last. Let k be the most that are under way
#   at once. At no time may you hold what belongs to more than k + 1 of them: x_i, y_i, dx_i, dy_i and what autograd keeps.
#   (So a variable may still hold the last one.) `inputs`, `targets` and gradients of parameters don't count.
#
# A stream has six kinds of pairs:
#
# | pair | what to do |
# |---|---|
# | `("F", i)` | y_i = `module`(x_i) |
# | `("B", i)` | the backward pass of i. On the last stage it begins at the loss, elsewhere at dy_i. Gradients of weights add up |
# | `("send activation", i)` | send y_i to stage s + 1 |
# | `("receive activation", i)` | receive x_i from stage s − 1 |
# | `("send gradient", i)` | send dx_i to stage s − 1 |
# | `("receive gradient", i)` | receive dy_i from stage s + 1; its shape is that of y_i |
#
# Keep to the order. Messages side by side, without F or B between them, are *one* exchange, at the end of the stream, too:
# post them all with one `dist.batch_isend_irecv`, in their order, then wait for all. Posted one by one, they can wait for
# each other for ever.
#
# F, B and messages come in any order of i: y_1 may be computed before y_0 is sent, x_1 may be received before F of 0,
# and F of 2 may come before F of 0. All y_i and dx_i are contiguous: send them as they are. Leave `inputs` and
# `targets` as they are; what a parameter's `.grad` holds at the beginning, numbers or None, doesn't count. Your function
# may be called twice with one `module`: what it returned first stays as it was. The first stage has no dx_i to send. A
# stage in the middle may have no parameters: then return [].

# %% [markdown] lab="hint pipeline_worker"
# Take two stages, one micro-batch, and paper. Write all tensors under each stage: x, y, dy, dx. Which of them travel? On
# stage 1, `x` came by message: what has to be true of it, so that autograd finds `x.grad`?
#
# ---
#
# Four dictionaries by micro-batch hold all that is under way: inputs, outputs, gradients of outputs, gradients of inputs.
# What a pair needs is in one of them, what it makes goes into another. Take out what is needed for the last time:
# `pop`. The last stage can treat its share of the loss as its output. Then B is the same everywhere:
# `y.backward(dy)`, and there dy is None. The traps: a received tensor that autograd doesn't track; the m in the mean,
# which is already in dy on the other stages; neighbouring messages posted one by one.
#
# ---
#
# ```python
# from itertools import groupby
#
# x, y, dx, dy = dict(enumerate(inputs)), {}, {}, {}
# ...  # what .grad holds doesn't count
# for computing, steps in groupby(stream, lambda pair: pair[0] in "FB"):
#     operations = []
#     for what, i in steps:
#         if what == "F":
#             ...  # x[i] to y[i]; on the last stage to its share of the loss
#         elif what == "B":
#             ...  # y[i] and dy[i] to dx[i]
#         elif what == "send activation":
#             operations.append(dist.P2POp(dist.isend, ..., group=group, group_peer=...))
#         ...  # the three others
#     if operations:
#         ...  # post, then wait
# return ...
# ```
#
# The check tells you which gradient differs, where a stage departs from its stream, and how many bytes it holds.


# %% lab="answer pipeline_worker"
def pipeline_worker(module, stream, inputs, targets, loss, shape, group=None):
    """This stage's gradients of the mean loss, a list like module.parameters(), after the whole stream."""
    ### BEGIN SOLUTION
    s, p = dist.get_rank(group), dist.get_world_size(group)
    x, y, dx, dy = dict(enumerate(inputs)), {}, {}, {}
    module.zero_grad()

    def operation(what, i):
        if what == "send activation":
            return dist.P2POp(dist.isend, y[i].detach(), group=group, group_peer=s + 1)
        if what == "send gradient":
            return dist.P2POp(dist.isend, dx.pop(i), group=group, group_peer=s - 1)
        if what == "receive activation":
            x[i] = torch.empty(shape)
            return dist.P2POp(dist.irecv, x[i], group=group, group_peer=s - 1)
        dy[i] = torch.empty_like(y[i])
        return dist.P2POp(dist.irecv, dy[i], group=group, group_peer=s + 1)

    def exchange(operations):
        for work in dist.batch_isend_irecv(operations) if operations else []:
            work.wait()
        operations.clear()

    waiting = []
    for what, i in stream:
        if what not in ("F", "B"):
            waiting.append(operation(what, i))
            continue
        exchange(waiting)
        if what == "F":
            if s > 0:
                x[i].requires_grad_()
            y[i] = module(x[i])
            if s == p - 1:
                y[i] = loss(y[i], targets[i]) / len(targets)
        else:
            torch.autograd.backward(y.pop(i), dy.pop(i, None))
            if s > 0:
                dx[i] = x.pop(i).grad
    exchange(waiting)
    return [parameter.grad for parameter in module.parameters()]
    ### END SOLUTION


# %% lab="tests pipeline_worker"
check("pipeline.pipeline_worker", pipeline_worker)

# %% [markdown] lab="readonly about-mend_one_f_one_b_exchange"
# ## 4. Mend the exchange ({minutes} minutes, {points} points)
#
# This is 1F1B with plain sends and receives. With large messages it hangs. Run the check as it is: who waits for whom?
# (Section 6 of the lesson.)
#
# - **You get**, on each rank: `forward` and `backward`, two functions. `forward(i, x)` is this stage's y_i; on stage 0 x is
#   None. It keeps x itself for `backward(i, dy)`, this stage's dx_i; on the last stage dy is None. Each returns a new
#   tensor. The number of `micro_batches` m. And `shape`: that of all these tensors, float32.
# - **You return** the list of everything that `backward` returned, for i = 0, …, m − 1.
# - **You may use** send and receive in all their forms.
# - **It may cost** the messages that the program below sends, one tensor each and no others; no collective, no barrier. Each
#   rank calls `forward` and `backward` in the order in which the program below does, once for each i.
#
# Rely on no buffer: a send may last until its receive has begun. And what a rank posts to one other rank goes one after the
# other, even with `isend` and `irecv`: if both post their send first, or both their receive, both may wait. Only what one
# `batch_isend_irecv` posts goes at once. (It needs at least one operation.) Small messages often get through: that
# proves nothing.

# %% [markdown] lab="hint mend_one_f_one_b_exchange"
# Two stages, two micro-batches. Write down both ranks' sends and receives side by side, in their order. Find the first
# moment at which both send. What does each of them want next?
#
# ---
#
# In the steady state, a stage sends y to the next one and wants dy from it: these two cross. It sends dx to the one before,
# and wants the next x from it: these cross, too. Put what crosses into one batch. The traps: after the last F no x is
# wanted any more; with few micro-batches there is no steady state; the first and the last stage have one neighbour; and one
# rank alone has none.
#
# ---
#
# ```python
# def exchange(tensor, to, source):
#     """Send and receive in one batch; a stage that doesn't exist is left out."""
#     ...
#
# ...  # warm-up
# x = ...  # the first one of the steady state, if there is one
# for i in range(warm_up, micro_batches):
#     dy = exchange(forward(i, x), ..., ...)
#     found.append(backward(i - warm_up, dy))
#     x = exchange(found[-1], ..., ...)
# ...  # what is left
# ```
#
# The check tells you who waits for whom, and the first pass that is out of place.


# %% lab="given mend_one_f_one_b_exchange"
def mend_one_f_one_b_exchange(forward, backward, micro_batches, shape, group=None):
    """What backward returned for each micro-batch."""
    s, p = dist.get_rank(group), dist.get_world_size(group)
    warm_up = min(p - s - 1, micro_batches)

    def receive(stage):
        if 0 <= stage < p:
            tensor = torch.empty(shape)
            dist.recv(tensor, group=group, group_src=stage)
            return tensor
        return None

    def send(tensor, stage):
        if 0 <= stage < p:
            dist.send(tensor, group=group, group_dst=stage)

    found = []
    for i in range(warm_up):
        send(forward(i, receive(s - 1)), s + 1)
    for i in range(warm_up, micro_batches):
        send(forward(i, receive(s - 1)), s + 1)
        found.append(backward(i - warm_up, receive(s + 1)))
        send(found[-1], s - 1)
    for i in range(micro_batches - warm_up, micro_batches):
        found.append(backward(i, receive(s + 1)))
        send(found[-1], s - 1)
    return found


# %% lab="answer mend_one_f_one_b_exchange"
### BEGIN SOLUTION
def mend_one_f_one_b_exchange(forward, backward, micro_batches, shape, group=None):
    """What backward returned for each micro-batch."""
    s, p = dist.get_rank(group), dist.get_world_size(group)
    warm_up = min(p - s - 1, micro_batches)

    def exchange(tensor=None, to=-1, source=-1):
        operations, received = [], None
        if 0 <= to < p:
            operations.append(dist.P2POp(dist.isend, tensor, group=group, group_peer=to))
        if 0 <= source < p:
            received = torch.empty(shape)
            operations.append(dist.P2POp(dist.irecv, received, group=group, group_peer=source))
        for work in dist.batch_isend_irecv(operations) if operations else []:
            work.wait()
        return received

    found = []
    for i in range(warm_up):
        exchange(forward(i, exchange(source=s - 1)), to=s + 1)
    x = exchange(source=s - 1) if warm_up < micro_batches else None
    for i in range(warm_up, micro_batches):
        dy = exchange(forward(i, x), to=s + 1, source=s + 1)
        found.append(backward(i - warm_up, dy))
        x = exchange(found[-1], to=s - 1, source=s - 1 if i + 1 < micro_batches else -1)
    for i in range(micro_batches - warm_up, micro_batches):
        found.append(backward(i, exchange(source=s + 1)))
        exchange(found[-1], to=s - 1)
    return found


### END SOLUTION


# %% lab="tests mend_one_f_one_b_exchange"
check("pipeline.mend_one_f_one_b_exchange", mend_one_f_one_b_exchange)

# %% [markdown] lab="readonly about-partition_layers"
# ## 5. Which layers on which stage? ({minutes} minutes, {points} points)
#
# A pipeline is as fast as its slowest stage. Cut the model so that this stage is as fast as can be. (Section 9 of the
# lesson.)
#
# - **You get** `costs`, a list: how long each layer computes, first to last, in whole µs, 0 or more; and the number of
#   `stages` p, at most as many as there are layers.
# - **You return** a list of p whole numbers: how many layers each stage has. Layers keep their order: the first stage has
#   the first ones. Each stage has at least one layer, and their sum is the number of layers.
# - **You may use** arithmetic: nothing runs, nothing is sent.
# - **It may cost** nothing on ranks. There are up to 200 layers on up to 16 stages: too many cuts to try all of them.
#   The calls of a case have 5 seconds.
#
# A stage costs the sum of its layers. Of all cuts, return one whose most expensive stage costs the least. There may be
# several: any of them is right.

# %% [markdown] lab="hint partition_layers"
# Take [5, 5, 4, 3, 3, 2, 1, 1] on 4 stages. Two layers each: what does the most expensive stage cost? Now ask the
# question the other way round: can you cut so that no stage costs more than 7? More than 6?
#
# ---
#
# Two ways lead there. *Limits*: for a given limit, fill stage after stage as far as it allows, and count the stages; find
# the smallest limit for which p are enough. *Tables*: the best cut of the first n layers on k stages ends somewhere; what is
# before that end is a best cut, too, on k − 1 stages. The traps: stages that stay empty when fewer than p are
# enough; and one layer that costs more than the mean of all.
#
# ---
#
# ```python
# def fill(limit):
#     """How many layers each stage gets, if none may cost more than the limit; None if p stages are too few."""
#     counts, cost = [0], 0
#     for n, layer in enumerate(costs):
#         ...  # a new stage, if it costs too much, or if each layer that is left needs a stage of its own
#     return ...
#
# ...  # the smallest limit for which fill finds a cut
# ```
#
# The check tells you what the most expensive stage of your cut costs, and what is possible.


# %% lab="answer partition_layers"
def partition_layers(costs, stages):
    """How many layers each stage has, so that the most expensive stage costs as little as possible."""

    ### BEGIN SOLUTION
    def fill(limit):
        counts, cost = [0], 0
        for n, layer in enumerate(costs):
            needed = stages - len(counts) == len(costs) - n  # each layer that is left is a stage
            if counts[-1] and (cost + layer > limit or needed):
                counts, cost = [*counts, 0], 0
            counts[-1] += 1
            cost += layer
        return counts if len(counts) == stages else None

    low, high = max(costs), sum(costs)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fill(middle) else (middle + 1, high)
    return fill(low)
    ### END SOLUTION


# %% lab="tests partition_layers"
check("pipeline.partition_layers", partition_layers)

# %% [markdown] lab="readonly extra"
# # More, for those who want it
#
# These exercises are extra.

# %% [markdown] lab="readonly about-interleaved"
# ## 6. Thinner slices ({minutes} minutes, {points} points)
#
# Give each stage several thin slices of the model, and the pipeline fills sooner. (Section 7 of the lesson.)
#
# - **You get** `stage`, `stages` and `micro_batches` as in exercise 2, and the number of `chunks` v, 2 or more. m is a multiple
#   of p.
# - **You return** the stage's stream: a list of 2·v·m triples `("F", i, c)` and `("B", i, c)`, where c = 0, …, v − 1 is the
#   chunk.
# - **You may use** arithmetic.
# - **It may cost** what the rules below cost: they leave one stream.
#
# The model has v·p parts. Part c·p + s is chunk c of stage s: a micro-batch goes through chunk 0 of all stages, then through
# chunk 1 of all stages, and so on. Micro-batches go in groups of p: 0 to p − 1, p to 2·p − 1, …
#
# - A stage's F, v·m of them: the first group through chunk 0, the first group through chunk 1, …, through chunk v − 1; then
#   the second group through chunk 0, …
# - Its B: the same, but each group goes through chunk v − 1 first, and through chunk 0 last.
# - The stage begins with w = 2·(p − s − 1) + (v − 1)·p of its F, or with all of them if there are fewer. Then it
#   alternates, one F and one B, as long as there are F. Then come the B that are left.
#
# Stage 1 of p = 2, with v = 2 and m = 4 (a letter b is chunk 1): F0 F1 F0b B0b F1b B1b F2 B0 F3 B1 F2b B2b F3b B3b B2 B3.


# %% lab="answer interleaved"
def interleaved(stage, stages, micro_batches, chunks):
    """The stage's stream, [("F", 0, 0), ...], with several chunks of the model on each stage."""
    ### BEGIN SOLUTION
    groups = [range(first, first + stages) for first in range(0, micro_batches, stages)]
    forward = [("F", i, c) for group in groups for c in range(chunks) for i in group]
    backward = [("B", i, c) for group in groups for c in reversed(range(chunks)) for i in group]
    first = min(2 * (stages - stage - 1) + (chunks - 1) * stages, len(forward))
    turns = zip(forward[first:], backward, strict=False)
    steady = [step for pair in turns for step in pair]
    return forward[:first] + steady + backward[len(forward) - first :]
    ### END SOLUTION


# %% lab="tests interleaved"
check("pipeline.interleaved", interleaved)

# %% [markdown] lab="readonly about-pipedream"
# ## 7. Never flush ({minutes} minutes, {points} points)
#
# PipeDream never waits for a flush: it updates the weights after every B. So it must remember old ones. (Section 8 of the
# lesson.)
#
# - **You get** the number of this `stage` s, the number of `stages` p, and that of `minibatches` m. (Each is a micro-batch
#   with an update of its own.)
# - **You return** the stage's stream, with four kinds of pairs: `("F", i)` and `("B", i)` in the order of exercise 2;
#   `("U", i)`, an update of the weights, after B of i; and `("drop", v)`.
# - **You may use** arithmetic.
# - **It may cost** as few versions of the weights as possible: drop each one as early as you may.
#
# Version v is the stage's weights after v updates; it begins with version 0. F uses the newest version, and B of i uses the
# one that F of i has used. A version is needed while it is the newest one, and while a minibatch that used it in F waits for its
# B. It is dropped once, directly after the pair that ends this, a B or a U. So there may be a drop after B, before its U.
# Versions that no F has used are dropped, too. At the end only version m is left.
#
# Stage 0 of 2, with three minibatches (no F has used version 2):
#
# ```python
# [
#     ("F", 0),
#     ("F", 1),
#     ("B", 0),
#     ("U", 0),
#     ("F", 2),
#     ("B", 1),
#     ("drop", 0),
#     ("U", 1),
#     ("B", 2),
#     ("drop", 1),
#     ("U", 2),
#     ("drop", 2),
# ]
# ```


# %% lab="answer pipedream"
def pipedream(stage, stages, minibatches):
    """The stage's stream, with an update after each backward pass, and each version dropped as early as possible."""
    ### BEGIN SOLUTION
    first = min(minibatches, stages - stage)
    order = [("F", i) for i in range(first)]
    for i in range(minibatches):
        order.append(("B", i))
        if first + i < minibatches:
            order.append(("F", first + i))

    stream, newest, kept, used = [], 0, {0}, {}

    def drop():
        for version in sorted(kept - {newest} - set(used.values())):
            stream.append(("drop", version))
            kept.remove(version)

    for kind, i in order:
        stream.append((kind, i))
        if kind == "F":
            used[i] = newest
        else:
            del used[i]
            drop()
            stream.append(("U", i))
            newest += 1
            kept.add(newest)
            drop()
    return stream
    ### END SOLUTION


# %% lab="tests pipedream"
check("pipeline.pipedream", pipedream)

# %% [markdown] lab="readonly about-weight_version"
# ## 8. How old are the weights? ({minutes} minutes, {points} points)
#
# How old are the weights that a gradient was computed with? (Section 8 of the lesson.)
#
# - **You get** `stage` s and `stages` p; `minibatch` i = 0, 1, …; `which`: `"F"` or `"B"`, one of its passes on this stage;
#   and `rule`: `"none"`, `"stashing"` or `"vertical sync"`.
# - **You return** an `int`: the version of the weights that this pass uses. Version v is the weights after v updates of
#   this stage.
# - **You may use** arithmetic. i may be 10¹²: nobody counts that far one by one.
# - **It may cost** nothing.
#
# Each stage follows the order of exercise 2, for an endless series of minibatches, with an update right after each B.
# It keeps p − s minibatches when it is full.
#
# - *none*: F and B each use the newest version that the stage has then.
# - *stashing*: F uses the newest one; B of i uses the one that F of i has used on this stage.
# - *vertical sync*: F and B of i use, on every stage, the version number that F of i uses on stage 0. (A stage keeps older
#   versions as long as that takes.)


# %% lab="answer weight_version"
def weight_version(stage, stages, minibatch, which, rule):
    """How many updates the weights have seen that this pass of the minibatch uses."""
    ### BEGIN SOLUTION
    if rule == "none" and which == "B":
        return minibatch
    at = 0 if rule == "vertical sync" else stage
    return max(0, minibatch - (stages - at) + 1)
    ### END SOLUTION


# %% lab="tests weight_version"
check("pipeline.weight_version", weight_version)

# %% [markdown] lab="readonly where-next"
# ## Where to go from here
#
# Run your worker on the real processes of this machine:
# `check("pipeline.pipeline_worker", pipeline_worker, on="processes")`.
#
# What professionals use: `torch.distributed.pipelining`. Its stages wrap modules, and `Schedule1F1B` or
# `ScheduleInterleaved1F1B` decide who computes what, and when. The lesson's
# [more](../../course/09_pipeline/more.ipynb) puts it beside our worker.
