# %% [markdown]
# # 06 Without waiting
#
# **What does a stale gradient cost, and what does it save?**
#
# ![](opening.svg)
#
# In unit 05 every rank waited for all the others, in every step: $A_t = F(A_{t-1}, \Delta(\text{data}, A_{t-1}))$. Here
# nobody has to. A rank may use an older $A$, or its own, or send less. You measure what that costs.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | {minutes} | sections 1 to 8 |
# | Short path | {minutes} | sections 1, 5 and 8, the wrap-up; then `diloco` in the lab |
# | [Lab](../../labs/06_without_waiting/lab.ipynb) | 120 | five exercises, and more for those who want them |
#
# From units 04 and 05 you need `run`, the all-reduce, and Algorithm 1.

# %%
import inspect
from functools import partial

import torch
from IPython.display import display

from lockstep import predict, quiz, reconcile, run, show, your_turn
from lockstep.experiments.without_waiting import backup_workers, conflict, consensus
from lockstep.experiments.without_waiting import fewer_bytes, ingress, lecture_notes
from lockstep.experiments.without_waiting import interleavings, lost_updates
from lockstep.experiments.without_waiting import outer_optimizer, published, schemes
from lockstep.experiments.without_waiting import waiting, your_line
from lockstep.without_waiting import compression_with_error_feedback, hogwild

# %% [markdown]
# ## 1. What waiting costs · {minutes} minutes · short path
#
# “Synchronization can be very expensive”: a common claim. All “wait for the slowest one”, and “for several round-trip
# times”. Those are two prices: a slow *rank*, and a slow *link*.
#
# **Delayed-synchronous** SGD avoids one: while the gradient of step t − 1 is being summed, each rank already computes
# that of step t. So each gradient is **stale**: it knows nothing of the last update. Look at the all-reduces below,
# without the delay and with it: what does rank 0 do meanwhile?

# %%
delays = {"without the delay": False, "with it": True}
show.compared({name: schemes.delayed_run(delay=d) for name, d in delays.items()})

# %% [markdown]
# Now a whole training run. A model with 650 parameters learns digits, and one gradient takes exactly 1 ms. One rank is
# 4 times slower, or the link is 100 times slower. Which price does the delay save?

# %%
waiting.waiting_table()

# %% [markdown]
# The delay hides the link. It does not hide the slow rank: all still meet in each step.
#
# ## 2. Delete the lock · {minutes} minutes
#
# “Idea: Just Don’t Synchronize.” That “adds errors due to race conditions”, says a lecture; “but our methods were already
# noisy – maybe these errors are fine”. Begin on one machine: its threads share one vector w in one memory.
#
# `w[v] -= x` is three things: load a number, subtract, store the result. Another thread may get in between. A **lock**
# forbids that: one thread at a time.

# %% lesson="predict survivors"
predict(
    "survivors",
    "Without a lock, two threads each add 1 a thousand times to one counter, which begins at 0. What is the smallest "
    "number that it can hold at the end?",
    answer=2,
)

# %% lesson="after survivors"
n = 1000  # A, A is a load and a store of thread A
worst = "A" + "BB" * (n - 1) + "A" + "B" + "AA" * (n - 1) + "B"
display(reconcile("survivors", simulated=interleavings.played(worst)))
lost_updates.survivors()

# %% [markdown] lesson="reason survivors"
# **Our reason.** A loads 0, and sleeps. B adds 999 times. A wakes up and stores its 1: 999 additions are gone. B loads
# that 1 for its last addition, and sleeps, too. A adds its other 999. B wakes up and stores 2. Real threads seldom
# sleep at such bad moments: the table counts what this machine loses. Atomic additions lose nothing. Threads that take
# turns, on a single core or a busy machine, lose next to nothing.

# %% [markdown] lesson="after survivors"
# **HOGWILD!** is SGD like that: threads, one w, no lock (Niu et al., *HOGWILD!: A Lock-Free Approach to Parallelizing
# Stochastic Gradient Descent*, arXiv:1106.5730). It relies on **sparse** data: an example uses few of the coordinates
# of w, and writes only those. A step is *overtaken* if another thread writes one of those meanwhile. Look at the last
# columns: how often do two examples meet in a coordinate, and how often was a step really overtaken? Then compare the
# losses of the racy rows with those of one thread.

# %% lesson="after survivors"
display(conflict.conflict_table())
hogwild.loss_table()

# %% lesson="quiz meeting"
quiz(
    "meeting",
    "w has 10,000 coordinates, and each example uses 20 of them, at random. About what percentage of all pairs of "
    "examples share a coordinate?",
    unit="%",
    answer=3.92,
    within=0.04,
    because="Each of the 20 misses the other example's 20 with probability 1 − 20/10,000, so 1 − 0.998²⁰ = 0.039.",
    wrong={
        0.2: "That is one coordinate's chance. The example has 20 of them.",
        0.4: "That is what the table's 100,000 coordinates give. How does it grow with fewer?",
        0.04: "That is about the fraction. What percentage is it?",
    },
)

# %%
display(hogwild.speed_table())
published.hogwild_table()

# %% [markdown]
# | a common claim | we count | why |
# |---|---|---|
# | If we don't synchronize, get almost perfect parallel speedup | the column *racy*, above; the paper’s own 3 to 9 times with 10 threads | Right where examples seldom meet, and each thread has a core of its own. |
#
# The first table counts processor time. Where *threads at once* is far below 2, it measures no speed-up. In the lab you
# delete a lock.
#
# ## 3. The parameter server · {minutes} minutes
#
# Over a network there is no shared w. So what is “the value of the parameters”? One answer: a
# **parameter server** has it. The others are **workers**: they get w, compute a gradient and send it. The server applies
# each gradient when it arrives: *asynchronously*.
#
# Here is one. Its `may_begin` will be your line.

# %%
print(inspect.getsource(your_line.driven_server))

# %% [markdown]
# A worker's w is old: while it computes, the server goes on. The **staleness** of a gradient is the number of updates that
# the server made between sending w and receiving the gradient computed on it.

# %% lesson="predict stale"
predict(
    "stale",
    "A server and 8 workers, all equally fast; nobody waits for anybody. How stale is a gradient, on average?",
    unit="updates",
    answer=7,
)

# %% lesson="after stale"
found = waiting.asynchronous_staleness(workers=8)
mean = sum(age * number for age, number in found.items()) / sum(found.values())
print("staleness: gradients", dict(sorted(found.items())))
display(reconcile("stale", simulated=mean))
waiting.asynchronous_run(workers=4).show()

# %% [markdown] lesson="reason stale"
# **Our reason.** While one worker computes, each of the other 7 delivers a gradient. So nearly all gradients are 7 updates
# old; only the first few are fresher. In general it is K − 1 for K workers: more workers, older gradients. A
# slow worker's are older still, and the others' are younger. Play the run of four workers: how many gradients reach
# rank 0 while rank 1 computes?

# %% [markdown]
# The cure is a **bound**: the most steps that a worker may be ahead of the slowest of the others (Ho et al., *More
# Effective Distributed ML via a Stale Synchronous Parallel Parameter Server*, NeurIPS 2013).
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
    ): "That asks for one of them. All must have come that far.",
    lambda step, others, bound: all(
        done > step - bound for done in others
    ): "With a bound of 0 that asks the others to be a step ahead. Then nobody begins.",
    lambda step, others, bound: all(done >= step for done in others): "Where is the bound? That is lockstep.",
    lambda step, others, bound: (
        max(others, default=step) >= step - bound
    ): "The fastest is not the problem. Which one is the slowest?",
    lambda step, others, bound: all(
        done - step <= bound for done in others
    ): "That holds back whoever is behind. Hold back whoever is ahead.",
}
well = "Right. If nobody else is at work any more, there is nobody to wait for: it may begin."

# %% lesson="after may_begin"
your_line.bounds_table(may_begin)

# %% [markdown] lesson="after may_begin"
# With one worker *always* slow, a bound helps only for a few steps: then the fast ones wait for it, as in lockstep.
# Without a bound they are done early, and the slow one's gradients are the oldest. A bound is for workers that are slow
# now and then: [more](more.ipynb) counts that.

# %% lesson="quiz ahead"
quiz(
    "ahead",
    "The bound is 3. A worker has done 5 steps, the slowest of the others 4, and it stays there. How many more steps may "
    "this worker begin?",
    answer=3,
    because="It may begin step c while 4 ≥ c − 3: steps 5, 6 and 7.",
    wrong={
        2: "Try c = 7: is 4 at least 7 − 3?",
        4: "Step 8 needs 5 steps from each of the others.",
        1: "Steps are counted from 0: the worker that has done 5 begins step 5 next.",
        7: "That is the number of its last step. How many does it begin?",
    },
)

# %% [markdown]
# ## 4. Does it scale? · {minutes} minutes
#
# Two claims disagree. “Centralized approach does not scale well: parameter servers create a communication
# bottleneck”, says one. “Generally scales well, because there is no ‘barrier’ that induces wait time”, says the next, of
# asynchronous SGD.

# %% lesson="predict ingress"
predict(
    "ingress",
    "A gradient takes a worker 40 ms. A message, w or gradient, takes 4 ms; a port can send one and receive one at a time. "
    "64 asynchronous workers deliver how many times the gradients per second of 1 worker?",
    unit="times",
    answer=11.9,
)

# %% lesson="after ingress"
one, many = (ingress.gradients_per_second(workers) for workers in (1, 64))
display(reconcile("ingress", simulated=many / one))
ingress.ingress_table()

# %% [markdown] lesson="reason ingress"
# **Our reason.** Each gradient must come in through the server's port, and each takes 4 ms there: 250 a second at most,
# from any number of workers. One worker alone takes 40 + 8 ms: 21 a second. So 12 times is the limit, and 12 workers
# reach it. There is no barrier; there is a queue. A ring all-reduce has a barrier and no queue: its time hardly grows.

# %% lesson="quiz sharded"
quiz(
    "sharded",
    "Now 4 servers hold a quarter of w each, and a message to each takes 1 ms. The 64 workers deliver how many times "
    "the gradients per second of that 1 worker with 1 server?",
    unit="times",
    answer=48,
    within=0.04,
    because="Each server needs 1 ms for its part of a gradient: 1,000 a second, 48 times 1/(48 ms).",
    wrong={
        12: "Each server now handles a quarter of the bytes.",
        3: "More servers share the load; each message is shorter.",
        64: "64 workers would deliver 1,333 gradients a second. How many can a server handle?",
    },
)

# %% [markdown]
# And is asynchronous SGD better? The “accepted and advised approach” is synchronous. So is that of a paper
# often cited for asynchronous SGD (Chen et al., *Revisiting Distributed Synchronous SGD*, arXiv:1604.00981). It adds
# a few **backup workers**: the last gradients are thrown away (unit 05). Here all schemes train the digits, on machines
# that are late now and then, with the same delays.

# %%
backup_workers.advice_table()

# %% [markdown]
# | a common claim | we count | why |
# |---|---|---|
# | Generally scales well, no ‘barrier’ | the column *1 server*, above | Right while the port keeps up; then workers queue. |
# | Centralized approach does not scale well | the last row, against *all-reduce* | Right for one server. Four can serve more workers. |
# | More info on asynchronous SGD: pub45187 | time to the loss, just above: synchronous with 4 backup workers against asynchronous | That paper argues for backup workers: hardly any wait, nothing stale. |
#
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 5. Local SGD · {minutes} minutes · short path
#
# Each rank takes steps on its own model. Now and then, an all-reduce replaces all models by their mean (Stich,
# *Local SGD Converges Fast and Communicates Little*, arXiv:1805.09767). A **period** of 8 means one all-reduce, and one
# wait, in 8 steps.
#
# **Your turn.** Below, your line says when 8 ranks meet. All have examples of all digits, and train once with each
# of three periods. What does a long one cost?


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
# Now divide the examples by class, as if each rank were somebody's phone: most of its examples are of a few digits. The
# clients of **federated learning** are like that (McMahan et al., *Communication-Efficient Learning of Deep Networks
# from Decentralized Data*, arXiv:1602.05629).

# %%
your_line.classes_table()

# %% lesson="predict by-class"
predict(
    "by-class",
    "With these examples, 128 steps with a period of 1 end at a loss of 0.38. Where does a period of 64 end? (Training "
    "begins at 2.30.)",
    answer=1.23,
)

# %% lesson="after by-class"
display(reconcile("by-class", simulated=your_line.local_loss(64, alpha=0.1)))
your_line.periods_table(your_line.meets, alpha=0.1)

# %% [markdown] lesson="reason by-class"
# **Our reason.** For 64 steps a rank sees mostly its own few digits, and its model forgets the others: it goes towards
# *its* minimum.
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
# How far a rank goes in a period is like one long gradient. **DiLoCo** takes it for one: the mean of *common w − own w*
# goes to an **outer optimizer**, SGD with Nesterov momentum (Douillard et al., *DiLoCo*, arXiv:2311.08105). It sends
# what local SGD sends.
#
# Here all train by class: at the rate of the tables above, and at their own best. Momentum makes steps longer: at one
# rate, DiLoCo beats even an all-reduce in each step. In the last column, what is still better?

# %%
outer_optimizer.outer_table()

# %% [markdown]
# ## 6. Gossip · {minutes} minutes
#
# In local SGD, all meet now and then. In **gossip**, neighbours meet in every step. In D-PSGD each rank steps, then
# averages its model with its neighbours’ in a graph (Lian et al., *Can Decentralized Algorithms Outperform Centralized
# Algorithms?*, arXiv:1705.09056). The averages' weights are the **mixing matrix** W: row i says how much rank i
# takes from each. On a ring: 1/3, 1/3, 1/3.
#
# That is one of three senses of “decentralized”. None needs the others:
#
# | layer | decentralized | for example |
# |---|---|---|
# | application | the data differ from worker to worker | section 5’s phones |
# | protocol | nobody has the model of all | gossip |
# | network | links form a sparse graph | a ring of cables |
#
# How soon do all agree, by averaging alone?

# %% lesson="predict ring"
predict(
    "ring",
    "16 ranks in a ring: each averages with its two neighbours, and after 8 steps has heard from everybody. After how "
    "many steps is their disagreement down to a thousandth?",
    unit="steps",
    answer=115,
)

# %% lesson="after ring"
ring = consensus.measured(ranks=16)[0]
display(reconcile("ring", simulated=ring.steps))
consensus.consensus_table(ranks=16)

# %% [markdown] lesson="reason ring"
# **Our reason.** Each step multiplies the disagreement by |λ₂|, the second-largest eigenvalue of W by magnitude. On
# this ring it is (1 + 2·cos 22.5°)/3 = 0.949, and 0.949¹¹⁵ is about 1/400; the first steps do better. What counts is
# the **spectral gap** 1 − |λ₂|, not how far news has to travel. The gap of a ring shrinks like 1/K². In a
# one-peer exponential graph, a rank averages with one other in each step, 1, 2, 4 … ranks away: 4 steps are enough
# here, with one message each.

# %% lesson="quiz neighbours"
quiz(
    "neighbours",
    "64 ranks train by gossip on a ring. How many models does the busiest rank send in a step?",
    answer=2,
    because="Two neighbours, with any number of ranks. A parameter server with 63 workers sends 63.",
    wrong={
        63: "That is a parameter server's rank 0.",
        1: "A rank has two neighbours on a ring.",
        126: "That is what the ranks 1 to 63 send together. How many does one rank send?",
        128: "That is what all ranks send together. How many does one rank send?",
    },
)

# %% [markdown]
# ## 7. Sending less · {minutes} minutes
#
# Wait for everybody, but send less. **Half precision** sends two bytes a number: half of float32. **PowerSGD** sends a
# gradient matrix as two thin ones, whose product is close to it; all-reduces sum both (Vogels et al., *PowerSGD*,
# arXiv:1905.13727). **Top-k** sends the k numbers with the largest magnitude, as values and their places in the
# gradient, by all-gather. With k at 0.1 %, that is part of *Deep Gradient Compression* (Lin et al., arXiv:1712.01887).

# %% lesson="predict top-k"
predict(
    "top-k",
    "64 ranks all-gather 1 % of their float32 gradients, with int64 places. How much goes through a port, as a "
    "percentage of what a ring all-reduce of the whole gradient puts through it?",
    unit="%",
    answer=96,
)

# %% lesson="after top-k"
program = partial(compression_with_error_feedback.topk_with_error_feedback, k=1000)
gradient = torch.randn(100_000)
trace = run(program, gradient, torch.zeros(100_000), ranks=64, on="commodity-10g").trace
gathered = sum(event.nbytes for event in trace.of_rank(0) if event.kind == "all_gather")
port = 63 / 64 * gathered  # what comes in from the 63 others
reconcile("top-k", simulated=100 * port / (2 * 63 / 64 * gradient.nbytes))

# %% [markdown] lesson="reason top-k"
# **Our reason.** For each number sent there are 4 bytes of value and 8 of place. And nothing is summed on the way: each
# port takes in what all 63 others send, 63 · 1 % · 12 bytes = 7.56 for each number of the gradient. The ring moves 2 ·
# 63/64 · 4 = 7.88. So 1 % saves 4 %. With 8 ranks it would save 88 %: an all-gather grows with K, a ring all-reduce
# hardly does.

# %% [markdown]
# And the 99 % that stays behind? **Error feedback** keeps it, as a **residual**, and adds it to the next gradient. So
# nothing is lost; it only arrives later.
#
# **Your turn.** `sent` is `total` at the k chosen places, and 0 elsewhere. Below, a model trains with your line. Then
# come the other ways to send less. How does each do without feedback?


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
    lambda total, sent: sent - total: "That has the wrong sign: the next step would take it back.",
    lambda total, sent: total + sent: "That counts twice what was sent.",
    lambda total, sent: 0 * total: "Then it is lost for ever. The table below shows that, too.",
}
well = "Right: what was sent and what is left add up to the total, to the bit."

# %% lesson="after left"
display(your_line.feedback_table(left))
fewer_bytes.compression_table(fewer_bytes.compression_sweep())

# %% [markdown]
# ## 8. The race · {minutes} minutes · short path
#
# One model, one loss to reach, 8 machines, 8 ways. **Servers** wait for nobody, or for workers over 3 steps behind
# (*bound*); **gossip** averages with two neighbours; **top-k** sends the 20 largest of 650 numbers. **Post-local** SGD
# begins with a period of 1. The digits are divided by class. Each way's learning rate is its best when no rank
# or link is slow.
#
# Choose how slow one rank and the link are. Which way wins in time? In bytes? In gradients (*updates*)?

# %%
show.race()

# %% [markdown]
# None of them wins everywhere, and plain synchronous SGD wins nowhere. On the fast link a server is first; on the very
# slow one, local SGD or top-k: they send least. In between, it depends on the slow rank. Note that top-k *is*
# synchronous.
#
# So what do others say? Here is a lecture's list of three kinds, in its words. Which row does not agree with what we count?

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
# - when models may drift, what an outer optimizer adds, and how soon a graph unites them;
# - what top-k saves on 8 ranks, and on 64.
#
# DDP has hooks for PowerSGD: `register_comm_hook`.
#
# **Go on**: [the lab](../../labs/06_without_waiting/lab.ipynb). You will meet your lines there.
# [More](more.ipynb): phones, secrets, changing groups. **Or stop here**, and begin with the lab.
