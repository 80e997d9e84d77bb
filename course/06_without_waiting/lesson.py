# %% [markdown]
# # 06 Without waiting
#
# **What does a stale gradient cost, and what does it save?**
#
# In unit 05 every rank waited for all others, in every step: $A_t = F(A_{t-1}, \Delta(\text{data}, A_{t-1}))$. Here
# nobody has to. A rank may use an older $A$, or its own, or send less. You measure what that costs.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | 57 | sections 1 to 8 |
# | Short path | 15 | sections 1, 5 and 8, the wrap-up; then `local_sgd` in the lab |
# | [Lab](../../labs/06_without_waiting/lab.ipynb) | 115 | five exercises, and more for those who want them |
#
# From units 04 and 05 you need `run`, the all-reduce, and Algorithm 1.

# %%
import inspect
from functools import partial

import torch
from IPython.display import display

from lockstep import predict, quiz, reconcile, run, show, your_turn
from lockstep.experiments.without_waiting import advice, conflict, consensus
from lockstep.experiments.without_waiting import fewer_bytes, ingress, lecture_notes
from lockstep.experiments.without_waiting import lost_updates, published, schedules
from lockstep.experiments.without_waiting import schemes, waiting, your_line
from lockstep.without_waiting import compression_with_error_feedback, hogwild, push_sum

# %% [markdown]
# ## 1. What waiting costs · 3 minutes · short path
#
# “Synchronization can be very expensive”, say the notes. All “wait for the slowest one”, and “for several round-trip
# times”. Those are two prices: a slow *rank*, and a slow *link*.
#
# **Delayed-synchronous** SGD avoids one: while the gradient of step t − 1 is being summed, each rank computes that of step
# t. So each gradient is **stale**: it knows nothing of the last update. Look at the all-reduces below, without the delay and
# with it: what does rank 0 do meanwhile?

# %%
for delay in (False, True):
    display(schemes.delayed_run(delay=delay).show())

# %% [markdown]
# Now a whole training. Its model learns digits: 650 parameters, and one gradient takes 1 ms, exactly. One rank is 4 times
# slower, or the link is 100 times slower. Which price does the delay save?

# %%
waiting.waiting_table()

# %% [markdown]
# The delay hides the link. It does not hide the slow rank: all still meet in each step.
#
# ## 2. Delete the lock · 7 minutes
#
# “Idea: Just Don’t Synchronize.” That “adds errors due to race conditions”, say the notes; “but our methods were already
# noisy – maybe these errors are fine”. Begin on one machine: its threads share one vector w in one memory.
#
# `w[v] -= x` is three things: load a number, subtract, store it. Another thread may come in between. A **lock** forbids
# that: one thread at a time.

# %% lesson="predict survivors"
predict(
    "survivors",
    "Two threads add 1 to one counter that begins at 0, a thousand times each, without a lock. What is the smallest "
    "number that can be there at the end?",
)

# %% lesson="after survivors"
n = 1000  # A, A is a load and a store of thread A
worst = "A" + "BB" * (n - 1) + "A" + "B" + "AA" * (n - 1) + "B"
display(reconcile("survivors", simulated=schedules.played(worst)))
lost_updates.survivors()

# %% [markdown] lesson="reason survivors"
# **Our reason.** A loads 0, and sleeps. B adds 999 times. A wakes up and stores its 1: 999 additions are gone. B loads
# that 1 for its last addition, and sleeps, too. A adds 999 times. B stores 2. Real threads seldom sleep so unluckily: the
# table counts what this machine loses. Atomic additions lose nothing. Threads that take turns lose next to nothing, too: on
# a single core, or a busy machine.

# %% [markdown] lesson="after survivors"
# **HOGWILD!** (Niu et al., 2011) is SGD like that: threads, one w, no lock. It counts on **sparse** data: an example uses
# few of the coordinates of w, and writes only those. Look at the last columns: how often do two examples meet, and how
# often was a step really overtaken? Then compare the losses of the racy rows with those of one thread.

# %% lesson="after survivors"
display(conflict.conflict_table())
hogwild.loss_table()

# %% lesson="quiz meeting"
quiz(
    "meeting",
    "w has 10,000 coordinates, and each example uses 20 of them, at random. About how many percent of all pairs of "
    "examples share a coordinate?",
    unit="%",
    answer=3.92,
    within=0.04,
    because="Each of the 20 misses the other example's 20 with probability 1 − 20/10,000, so 1 − 0.998²⁰ = 0.039.",
    wrong={
        0.2: "That is one coordinate's chance. The example has 20 of them.",
        0.4: "That is what the table's 100,000 coordinates give. How does it grow with fewer?",
        0.04: "That is the order of the fraction. How many percent is it?",
    },
)

# %%
display(hogwild.speed_table())
published.hogwild_table()

# %% [markdown]
# | the notes | we count | why |
# |---|---|---|
# | If we don't synchronize, get almost perfect parallel speedup | the column *racy*, above; the paper’s own 3 to 9 times with 10 threads | Right where examples seldom meet, and each thread has a core of its own. |
#
# The first table is of processor time: where far fewer than 2 threads ran at once, that is no speed-up. In the lab you delete a lock.
#
# ## 3. The parameter server · 11 minutes
#
# Over a network there is no shared w. So what is “the value of the parameters”, ask the notes. Their answer: a
# **parameter server** has it. The others are **workers**: they get w, compute a gradient and send it. The server applies
# each gradient when it arrives: *asynchronously*.
#
# Here is one. Its `may_begin` will be your line.

# %%
print(inspect.getsource(your_line.driven_server))

# %% [markdown]
# A worker's w is old: while it computes, the server goes on. The **staleness** of a gradient is the number of updates that
# the server made between sending the w and receiving the gradient that was computed on it.

# %% lesson="predict stale"
predict(
    "stale",
    "A server and 8 workers, all equally fast; nobody waits for anybody. How stale is a gradient, on average?",
    unit="updates",
)

# %% lesson="after stale"
found = waiting.asynchronous_staleness(workers=8)
mean = sum(age * number for age, number in found.items()) / sum(found.values())
print("staleness: gradients", dict(sorted(found.items())))
reconcile("stale", simulated=mean)

# %% [markdown] lesson="reason stale"
# **Our reason.** While one worker computes, each of the other 7 delivers a gradient. So nearly all gradients are 7 updates
# old; only the first few find a fresh server. In general it is K − 1 for K workers: more workers, older gradients. A
# slow worker's are older still, and the others' are younger.

# %% [markdown]
# The cure is a **bound** (Ho et al., 2013). A worker may be at most so many steps ahead of the slowest of the others.
#
# **Your turn.** Below, your line decides in a run where one of four workers takes 4 times as long.


# %% lesson="turn may_begin"
def may_begin(step, others, bound):
    """May a worker begin step number `step` = 0, 1, ...? Each number in `others`, the
    steps that they have done, must be at least step - bound. There may be no others."""
    ### BEGIN SOLUTION
    return all(done >= step - bound for done in others)
    ### END SOLUTION


# %% lesson="behind may_begin"
inf = float("inf")
cases = [(0, [0, 0], 0), (1, [0, 1], 0), (1, [1, 1], 0), (3, [1, 9], 1), (3, [2, 9], 1), (5, [1, 4], 4)]
cases += [(6, [1, 9, 9], 4), (7, [], 0), (1000, [0], inf), (2, [5], 0), (4, [2, 2, 2], 2), (100, [96] * 63, 3)]
wrong = {
    lambda step, others, bound: any(
        done >= step - bound for done in others
    ): "That asks for one of them. Each must be there.",
    lambda step, others, bound: all(
        done > step - bound for done in others
    ): "With a bound of 0 that asks the others to be a step ahead. Then nobody begins.",
    lambda step, others, bound: all(done >= step for done in others): "Where is the bound? That is lockstep.",
    lambda step, others, bound: (
        max(others, default=step) >= step - bound
    ): "The fastest is no worry. Who is the slowest?",
    lambda step, others, bound: all(
        done - step <= bound for done in others
    ): "That holds back who is behind. Hold back who is ahead.",
}
well = "Right. If no other is at work any more, each of none is far enough: it may."

# %% lesson="after may_begin"
your_line.bounds_table(may_begin)

# %% [markdown] lesson="after may_begin"
# With one worker *always* slow, a bound helps only for a few steps: then the fast ones wait for it, as in lockstep.
# Without a bound they are done early, and the slow one's gradients are the oldest. A bound is for workers that are slow
# now and then: [more](more.ipynb) counts that.

# %% lesson="quiz ahead"
quiz(
    "ahead",
    "The bound is 3. A worker has done 5 steps, the slowest of the others 4, and there it stays. How many more steps may "
    "this worker begin?",
    answer=3,
    because="It may begin step c while 4 ≥ c − 3: steps 5, 6 and 7.",
    wrong={
        2: "Try c = 7: is 4 at least 7 − 3?",
        4: "Step 8 needs 5 steps of each other worker.",
        1: "Steps are counted from 0: the worker that has done 5 begins step 5 next.",
        7: "That is the number of its last step. How many does it begin?",
    },
)

# %% [markdown]
# ## 4. Does it scale? · 7 minutes
#
# Two pages of the notes disagree. “Centralized approach does not scale well: parameter servers create a communication
# bottleneck”, says one. “Generally scales well, because there is no ‘barrier’ that induces wait time”, says the next, of
# asynchronous SGD.

# %% lesson="predict ingress"
predict(
    "ingress",
    "A gradient takes a worker 40 ms. A message, w or gradient, takes 4 ms; a port can send one and receive one at a time. "
    "How many times the gradients per second of 1 worker do 64 asynchronous workers deliver?",
    unit="times",
)

# %% lesson="after ingress"
one, many = (ingress.gradients_per_second(workers) for workers in (1, 64))
display(reconcile("ingress", simulated=many / one))
ingress.ingress_table()

# %% [markdown] lesson="reason ingress"
# **Our reason.** Each gradient must come in through the server's port, and each takes 4 ms there: 250 a second at most, from
# any number of workers. One worker alone takes 40 + 8 ms: 21 a second. So 12 times is the end, and 12 workers reach it.
# There is no barrier; there is a queue. A ring all-reduce has a barrier and no queue: its time hardly grows.

# %% lesson="quiz sharded"
quiz(
    "sharded",
    "Now 4 servers have a quarter of w each, and a message to each takes 1 ms. The 64 workers deliver how many times "
    "the gradients per second of that 1 worker with 1 server?",
    unit="times",
    answer=48,
    within=0.04,
    because="Each server needs 1 ms for its part of a gradient: 1,000 a second, 48 times 1/(48 ms).",
    wrong={
        12: "Each server now handles a quarter of the bytes.",
        3: "More servers share the load; each message is shorter.",
        64: "64 workers want 1,333 gradients a second. How many can a server handle?",
    },
)

# %% [markdown]
# And is it better? The notes’ “accepted and advised approach” is synchronous. So is that of Chen et al. (2016), the paper to
# which they link for asynchronous SGD: with a few **backup workers**, whose late gradients are thrown away (unit 05). Here
# all train the digits, on machines that are late now and then, the same for all.

# %%
advice.advice_table()

# %% [markdown]
# | the notes | we count | why |
# |---|---|---|
# | Generally scales well, no ‘barrier’ | the column *1 server*, above | Right while the port has time; then workers queue. |
# | Centralized approach does not scale well | the last row, against *all-reduce* | Right for one server. Four can serve more workers. |
# | More info on asynchronous SGD: pub45187 | synchronous with 4 backup workers 21.3 ms, asynchronous 23.1 | That paper argues for backup workers: hardly a wait, and nothing stale. |
#
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 5. Local SGD · 9 minutes · short path
#
# Each rank takes steps on a model of its own. Now and then, all models become their mean, by an all-reduce (Stich, 2019).
# With a **period** of 8 that is one all-reduce in 8 steps, and one wait.
#
# **Your turn.** Below, your line says when 8 ranks meet. All have examples of all digits, and train with three periods. What
# does a long one cost?


# %% lesson="turn meets"
def meets(step, steps, period):
    """Steps are 0, 1, ... steps - 1. All meet after every `period` of them, and after
    the last one. Do they meet after this step?"""
    ### BEGIN SOLUTION
    return (step + 1) % period == 0 or step + 1 == steps
    ### END SOLUTION


# %% lesson="behind meets"
cases = [(step, 7, 3) for step in range(7)] + [(0, 1, 1), (0, 1, 8), (1, 2, 1), (998, 1000, 1000), (999, 1000, 1000)]
wrong = {
    lambda step, steps, period: (
        step % period == 0 or step + 1 == steps
    ): "That averages after step 0, when one step is done.",
    lambda step, steps, period: (
        (step > 0 and step % period == 0) or step + 1 == steps
    ): "Steps are counted from 0: after step number `period`, one more than `period` are done.",
    lambda step, steps, period: (
        (step + 1) % period == 0
    ): "Seven steps with a period of 3: what becomes of the seventh?",
    lambda step, steps, period: (
        (step + 1) % period == 0 and step + 1 == steps
    ): "They should meet in either case, not only in both.",
    lambda step, steps, period: step + 1 == steps: "That is the last step. When do they meet before?",
}
well = "Right. Now 8 ranks meet when you say."

# %% lesson="after meets"
your_line.periods_table(meets)

# %% [markdown]
# Now part the examples by class, as if each rank were somebody's phone: each has most of its examples from few digits.
# Clients of **federated learning** are like that.

# %%
your_line.classes_table()

# %% lesson="predict by-class"
predict(
    "by-class",
    "With these examples, 128 steps with a period of 1 end at a loss of 0.38. Where does a period of 64 end? (Training "
    "begins at 2.30.)",
)

# %% lesson="after by-class"
display(reconcile("by-class", simulated=your_line.local_loss(64, alpha=0.1)))
your_line.periods_table(your_line.meets, alpha=0.1)

# %% [markdown] lesson="reason by-class"
# **Our reason.** For 64 steps a rank sees its own few digits, and its model forgets the others: it goes towards *its* minimum.
# The mean of 8 such models is not the model that all examples together would give. That is **client drift**. With even
# shares all ranks go to about the same place, so their mean loses little.

# %% lesson="quiz rounds"
quiz(
    "rounds",
    "1,000 steps, a period of 300. How many all-reduces does local SGD make?",
    answer=4,
    because="Three full periods are 900 steps, and the last 100 steps end with one more: ⌈1,000/300⌉.",
    wrong={
        3: "After step 1,000 the ranks meet once more: their last 100 steps count, too.",
        1000: "That is a period of 1.",
        300: "That is the period: how many of them are there?",
    },
)

# %% [markdown]
# ## 6. Gossip · 6 minutes
#
# Local SGD meets everybody, now and then. **Gossip** meets some, in every step. In D-PSGD (Lian et al., 2017) each rank
# takes a step, and averages its model with its neighbours’ in a graph. The weights are the **mixing matrix** W: row i says
# how much rank i takes of whom. On a ring: 1/3, 1/3, 1/3.
#
# That is one of the notes’ three senses of “decentralized”. None of them needs another:
#
# | layer | decentralized | for example |
# |---|---|---|
# | application | the data differ from worker to worker | section 5’s phones |
# | protocol | nobody has the model of all | gossip |
# | network | links form a sparse graph | a ring of cables |
#
# How soon do all agree? No gradients now, only averaging.

# %% lesson="predict ring"
predict(
    "ring",
    "16 ranks in a ring, each averages with its two neighbours. After 8 steps each has heard of everybody. After how many "
    "steps is their disagreement down to a thousandth?",
    unit="steps",
)

# %% lesson="after ring"
ring = consensus.measured(ranks=16)[0]
display(reconcile("ring", simulated=ring.steps))
consensus.consensus_table(ranks=16)

# %% [markdown] lesson="reason ring"
# **Our reason.** Each step multiplies the disagreement by |λ₂|, the second-largest eigenvalue of W by magnitude. On this
# ring it is (1 + 2·cos 22.5°)/3 = 0.949, and 0.949¹¹⁵ is about 1/400; the first steps do better. What counts is the
# **spectral gap** 1 − |λ₂|, not the way that news has to go. The gap of a ring shrinks like 1/K². One-peer exponential
# graphs need 4 steps here, and one message each.

# %%
push_sum.one_way_table()

# %% [markdown]
# Above, four ranks begin with 1, 2, 3, 4, and send one way only. If the *rows* of W sum to 1, all agree, but not on 2.5. If
# its *columns* do, the sum is right, but they do not agree. **Push-sum** sends a weight along, and divides: stochastic gradient
# push (Assran et al., 2019) trains like that.

# %% lesson="quiz neighbours"
quiz(
    "neighbours",
    "64 ranks train by gossip on a ring. How many models does the busiest rank send in a step?",
    answer=2,
    because="Two neighbours, with any number of ranks. A parameter server with 63 workers sends 63.",
    wrong={
        63: "That is a parameter server's rank 0.",
        1: "A rank has two neighbours on a ring.",
        126: "That is what the ranks 1 to 63 send together. One rank?",
        128: "That is what all ranks send together. One rank?",
    },
)

# %% [markdown]
# ## 7. Sending less · 9 minutes
#
# Wait for everybody, but send less. **Half precision** sends two bytes a number. **PowerSGD** (Vogels et al., 2019) sends a
# gradient matrix as two thin ones, whose product is near it; all-reduces sum both. **Top-k** sends the k numbers with the
# largest magnitude, as values and places, by all-gather: “Deep Gradient Compression” (Lin et al., 2018) sends 0.1 % of them.

# %% lesson="predict top-k"
predict(
    "top-k",
    "64 ranks, float32 gradients. Each rank sends 1 % of its numbers, with int64 places, by all-gather. How many percent of "
    "the bytes of a ring all-reduce of the whole gradient go through a port?",
    unit="%",
)

# %% lesson="after top-k"
program = partial(compression_with_error_feedback.topk_with_error_feedback, k=1000)
gradient = torch.randn(100_000)
trace = run(program, gradient, torch.zeros(100_000), ranks=64, on="commodity-10g").trace
gathered = sum(event.nbytes for event in trace.of_rank(0) if event.kind == "all_gather")
port = 63 / 64 * gathered  # what comes in from the 63 others
reconcile("top-k", simulated=100 * port / (2 * 63 / 64 * gradient.nbytes))

# %% [markdown] lesson="reason top-k"
# **Our reason.** For each number sent there are 4 bytes of value and 8 of place. And no sum is made on the way: each port
# takes in what all 63 others send, 63 · 1 % · 12 bytes = 7.56 a number. The ring moves 2 · 63/64 · 4 = 7.88. So 1 % saves
# 4 %. With 8 ranks it would save 88 %: an all-gather grows with K, a ring all-reduce hardly does.

# %% [markdown]
# And the 99 % that stay behind? **Error feedback** keeps them, as a **residual**, and adds them to the next gradient. So
# nothing is lost; it only comes later.
#
# **Your turn.** `sent` is `total` at the k chosen places, and 0 elsewhere. Below, your line trains with it. Then come the
# other ways to send less. What becomes of each without feedback?


# %% lesson="turn left"
def left(total, sent):
    """`total` is gradient + residual, `sent` is what was sent. What is left?"""
    ### BEGIN SOLUTION
    return total - sent
    ### END SOLUTION


# %% lesson="behind left"
cases = [(t, s) for t, s in ((3.0, 3.0), (3.0, 0.0), (-2.0, -2.0), (-2.0, 0.0), (0.5, 0.0), (0.0, 0.0), (-8.0, -8.0))]
cases += [(1e6, 1e6), (1e6, 0.0), (0.25, 0.25)]
wrong = {
    lambda total, sent: total: "Then what was sent is sent again.",
    lambda total, sent: sent: "That has arrived already. What has not?",
    lambda total, sent: sent - total: "Its sign is turned round: it would be taken back, not caught up on.",
    lambda total, sent: total + sent: "That counts twice what was sent.",
    lambda total, sent: 0 * total: "Then it is lost for ever. The table below has that, too.",
}
well = "Right: sent and residual are the total, to the bit."

# %% lesson="after left"
display(your_line.feedback_table(left))
fewer_bytes.compression_table(fewer_bytes.compression_sweep())

# %% [markdown]
# ## 8. The race · 3 minutes · short path
#
# One model, one loss to reach, 8 machines, 8 ways. **Servers** wait for nobody, or for who is more than 3 steps behind
# (*bound*); **gossip** averages with two neighbours; **top-k** sends the 20 largest of 650 numbers. **Post-local** SGD
# begins with a period of 1. The digits are parted by class. Learning rates are the best without a slow rank or link.
#
# Set how slow one rank is, and the link. Who is first in time? In bytes? In gradients (*updates*)?

# %%
show.race()

# %% [markdown]
# Nobody wins everywhere, and plain synchronous SGD is first nowhere. On the fast link a server is first; on the very slow
# one, local SGD or top-k: they send least. In between, it depends on the slow rank. Note that top-k *is* synchronous.
#
# So what do the notes say? Here is their list of three kinds, in their words. Which row does not agree with what we count?

# %%
lecture_notes.notes_table()

# %% [markdown]
# ## Wrap-up
#
# You can now say:
#
# - which wait a delay saves, and when threads may race on one vector;
# - how old an asynchronous gradient is, and what bounds it;
# - why no barrier still means a queue;
# - when models may part for many steps, and how soon a graph brings them together;
# - what top-k saves on 8 ranks, and on 64.
#
# DDP has hooks for fp16 and PowerSGD: `register_comm_hook`.
#
# **Go on**: [the lab](../../labs/06_without_waiting/lab.ipynb). Your lines are steps of it.
# [More](more.ipynb): phones, secrets, changing groups. **Or stop here**, and begin with the lab.
