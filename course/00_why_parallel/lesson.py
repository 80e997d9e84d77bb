# %% [markdown]
# # 00 Why parallel
#
# **What do 100 machines buy you?**
#
# ![](opening.svg)
#
# One machine needs 100 hours to train your model. You are given 100 machines. How long does it take now? Say a number
# aloud first.
#
# Every lesson here works like that: commit to a number, simulate it, measure it, and find out what decides it.
#
# **A common claim**, beside a count, is quoted from one of five public lecture notes. This course grew out of them.
# [Its front page](../index.ipynb) names them.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | {minutes} | sections 1 to 8 |
# | Short path | {minutes} | sections 1, 5 and 8, the wrap-up; then `amdahl` in the lab |
# | [Lab](../../labs/00_why_parallel/lab.ipynb) | 75 | five exercises, and one more for those who want it |
#
# You need some Python, and nothing else.

# %%
import inspect
import math
import time

import torch
import torch.distributed as dist
from IPython.display import display

from lockstep import predict, quiz, reconcile, run, show, your_turn
from lockstep.cost import speedup, tasks, training
from lockstep.experiments.all_reduce_sgd import forgiving
from lockstep.machines import Cluster, Device, Link
from lockstep.this_machine.survey import full_survey

# %% [markdown]
# ## 1. Why not just wait? · {minutes} minutes · short path
#
# For 25 years you could. Next year's processor ran the same program faster. The **clock frequency** says how many steps
# a processor takes in a second. Look at its line: what happens after 2004?

# %%
show.processors()

# %% [markdown]
# Until about 2004, smaller transistors needed a lower voltage: twice as many on the same area, running faster, took no
# more power. That was **Dennard scaling**. Then the voltage could fall no further. A faster clock now makes more heat
# than a chip can get rid of.
#
# Every generation still has more transistors (**Moore's law**). They become **cores**, which each run a program of
# their own. That raises the **throughput**: how much gets done in an hour. It doesn't raise the speed: how soon *one*
# thing is done.

# %% lesson="quiz why-parallel-throughput"
quiz(
    "why-parallel-throughput",
    "One core trains a model in 6 hours. You have 8 such cores and 8 models, and each core trains one. "
    "After how many hours is the first model done?",
    unit="hours",
    answer=6,
    because="All 8 are done after 6 hours. The throughput is 8 times as high, and each model takes as long as before.",
    wrong={
        0.75: "That is 6/8: on average, one model each 45 minutes. When does the first one come?",
        48: "That is one core, one model after another.",
        1: "Nobody helps anybody here: each core trains its own model.",
    },
)

# %% [markdown]
# ## 2. What waits for what · {minutes} minutes
#
# To make *one* thing faster, you must divide it. A **serial** program takes one step after another, a **parallel** one
# several at once. That needs **divisible work**: tasks that don't wait for each other.
#
# A task that needs another's result must wait: a **data dependence**. In `for x in X: total = total * x + 1` each turn
# needs the one before. In `for x in X: y.append(x * x)` none does.
#
# Here is a training job. Arrows show what waits for what; numbers are minutes.

# %%
show.tasks(tasks.TRAINING)

# %% lesson="predict why-parallel-tasks"
predict(
    "why-parallel-tasks",
    "One worker needs 30 minutes for these 12 tasks. How many minutes do 100 workers need? "
    "A task is done by one worker.",
    unit="minutes",
    answer=15,
)

# %% lesson="after why-parallel-tasks"
display(show.tasks(tasks.TRAINING, workers=2))
all_at_once = tasks.minutes_on(tasks.TRAINING, 100)
reconcile("why-parallel-tasks", simulated=all_at_once)

# %% [markdown] lesson="reason why-parallel-tasks"
# **Our reason.** Follow the longest chain: read 2, split 1, clean D 2, learn D 6, add 1, test 3. That is 15 minutes. It
# is the **critical path**: no number of workers can be faster. So this job is never more than twice as fast.
#
# Move the slider: three workers reach that already. The other 97 have nothing to do.

# %% [markdown]
# **Your turn.** `ends` lists when the tasks it waits for end. It may be empty: then the task begins at 0.


# %% lesson="turn earliest_end"
def earliest_end(minutes, ends):
    """When does a task of so many minutes end at the earliest?"""
    ### BEGIN SOLUTION
    return max(ends, default=0) + minutes
    ### END SOLUTION


# %% lesson="behind earliest_end"
cases = [
    (3, [5]), (2, []), (1, [6, 6, 6, 11]), (4, [9, 2, 7]), (3, [12]), (6, [5, 4]), (1, [3, 8]), (2, [0]),
    (5, list(range(100))), (7, [1, 1, 1]),
]  # fmt: skip
wrong = {
    lambda minutes, ends: sum(ends) + minutes: "That is one after another. The tasks it waits for may run together.",
    lambda minutes, ends: max(ends) + minutes: "Right where it waits for something. An empty list has no maximum.",
    lambda minutes, ends: min(ends, default=0) + minutes: "That starts when the first of them ends. It needs all.",
    lambda minutes, ends: max(ends, default=0): "That is when it can start. When does it end?",
    lambda minutes, ends: max([minutes, *ends]): "It does not run beside the tasks it waits for. It comes after them.",
}
well = "Right. Below, your line walks along every arrow. Its last number is the length of the critical path."

# %% lesson="after earliest_end"
for name, minute in tasks.earliest_ends(tasks.TRAINING, earliest_end).items():
    print(f"{name} ends at {minute}")

# %% [markdown]
# ## 3. How long does training take? · {minutes} minutes
#
# Count the arithmetic. A **FLOP** is one addition or multiplication. A **parameter** is a number that the model learns.
# A **token** is a piece of text, about three quarters of a word.
#
# For each token, each parameter is multiplied once and added once: 2 FLOP, on the way *forward*. The way
# *backward* takes 4 more: 2 to find out how this parameter should change, 2 to pass the error on. So training N
# parameters on D tokens takes **6·N·D** FLOP.

# %% [markdown]
# Nobody has published how much GPT-4 took. Epoch AI estimates about 2e25 FLOP. A B200, which NVIDIA sells for
# such work, does at most 2.25e15 FLOP a second. That is its **peak**, in numbers of 16 bits.
#
# In long trainings, a GPU reaches about 40 % of its peak: the **utilisation** (MFU, model FLOP utilisation). Llama 3
# reached 38 to 43 % (arXiv:2407.21783, table 4).

# %% lesson="predict why-parallel-gpt4"
predict(
    "why-parallel-gpt4",
    "How many years does one B200 need for GPT-4's 2e25 FLOP, at 40 % of its peak?",
    unit="years",
    answer=704,
)

# %% lesson="after why-parallel-gpt4"
YEAR = 365.25 * 24 * 3600
rates = {"at the peak": 2.25e15, "best product": 1745e12, "at 40 %": 0.9e15}
for name, rate in rates.items():
    print(f"{name:<14}{2.0e25 / rate / YEAR:>5.0f} years")
display(reconcile("why-parallel-gpt4", simulated=2.0e25 / rates["at 40 %"] / YEAR))
N, D = 405e9, 15.6e12  # Llama 3; its paper says 3.8e25 FLOP (section 1)
print(f"Llama 3: {training.training_flops(N, D):.2g} FLOP", end=", ")
days = training.training_days(N, D, devices=10_000, peak=989e12, utilisation=0.4)
print(f"on 10,000 H100 at 40 %: {days:.0f} days")

# %% [markdown] lesson="reason why-parallel-gpt4"
# **Our reason.** 2e25 FLOP / (0.4 · 2.25e15 FLOP/s) = 2.2e10 seconds. At the peak it would be 282 years. The second
# line is the best rate that stas00/ml-engineering found for one matrix product.
#
# This is the first reason to be parallel: **time**. The last line has a catch. It assumes that 10,000 GPUs are as busy
# as one. This course is about whether they are.

# %% [markdown]
# ## 4. Does it fit? · {minutes} minutes
#
# Training keeps several numbers for *each* parameter. Large models are mostly trained with Adam in **mixed precision**:
#
# - the **weight**, the parameter itself: 16 bits;
# - its **gradient**, which way to change it: 16 bits;
# - Adam's two running means, of gradients and of their squares: 32 bits each;
# - a **master copy** of the weight in 32 bits, since a step is often too small for 16.
#
# A byte has 8 bits. LLaMA-65B has 65.3 billion parameters.

# %% lesson="predict why-parallel-65b"
predict(
    "why-parallel-65b",
    "You fine-tune all of LLaMA-65B with Adam in mixed precision. How many GB do these numbers take?",
    unit="GB",
    answer=1045,
)

# %% lesson="after why-parallel-65b"
mixed = training.training_memory(training.LLAMA_65B, training.RECIPES["adam mixed"])
display(reconcile("why-parallel-65b", simulated=mixed / 1e9))
print(f"457 GB / 65.3 billion = {457e9 / training.LLAMA_65B:.2f} bytes a parameter")
print(f"192 GB / 27 billion = {192 / 27:.2f} bytes a parameter")
training.recipes_table(training.LLAMA_65B, memory=192e9)

# %% [markdown] lesson="reason why-parallel-65b"
# **Our reason.** 2 + 2 + 4 + 4 + 4 = 16 bytes for each parameter, and 16 · 65.3 = 1,045 GB. A **recipe** says what is
# kept, and in how many bits: with another one you get another number. On top come the **activations**, what the layers
# compute on the way forward.
#
# This is the second reason: **memory**. If a model doesn't fit, a faster machine is no help. The model must be split.

# %% [markdown] lesson="after why-parallel-65b"
# **Common claims, and what we count**
#
# | a common claim | we count | why |
# |---|---|---|
# | GPT-4 on a B200: 282 years | 282 at the peak, 704 at 40 % | Right for a GPU that never waits. |
# | “Fine-tuning a LLaMA-65B requires ~ 457GBs” | 457 GB is 7 bytes a parameter; Adam takes 12 (783 GB) or 16 (1,045 GB) | No recipe is named, and none of those above has 7. |
# | 192 GB “can only train 27B model” | 27 billion at 7 bytes, 12 billion at 16 | The same 7 bytes. |
#
# The paper of QLoRA agrees with 12 bytes: “more than 780 GB” (arXiv:2305.14314).

# %% [markdown]
# A third reason is **data**. DBRX was trained on 12 trillion tokens. As text of about 5 bytes a token, that is 60 TB.
# An 8-GPU server of a research group stores 13 TB. And some data may not
# leave their place, such as patients' records. Then the training goes to the data (unit 06). [More](more.ipynb) counts
# **energy**.

# %% lesson="quiz why-parallel-servers"
quiz(
    "why-parallel-servers",
    "You store DBRX's 12 trillion tokens as numbers of 4 bytes instead. How many servers of 13 TB do you need?",
    unit="servers",
    answer=4,
    because="12e12 · 4 bytes = 48 TB, and 48 / 13 = 3.7. You need whole servers.",
    wrong={
        5: "That is the text: 60 TB. A number takes 4 bytes, not 5.",
        3: "Three servers hold 39 TB.",
        3.69: "Nearly. You need whole servers.",
        1: "One server holds 13 TB. How many TB are 12e12 numbers of 4 bytes?",
    },
)

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 5. Amdahl's law · {minutes} minutes · short path
#
# Back to the 100 hours. One thing more: 95 % of them can be divided among any number of **workers** (cores,
# GPUs, machines). The rest can't.

# %% lesson="predict why-parallel-hundred"
predict(
    "why-parallel-hundred",
    "Of the 100 hours, 95 % can be divided among any number of machines; the rest cannot. "
    "How many hours does it take on 100 machines?",
    unit="hours",
    answer=5.95,
)

# %% [markdown]
# Here is such a program: of 1,000 matrix products, 50 are serial. A **rank** is one of several copies of it that run at
# once. At a **barrier**, each waits until all have come.
#
# You don't have 100 machines. Lockstep simulates them in **virtual time**: each rank has a clock, and each step moves it
# by what it would take there. These computers do a billion FLOP a second.


# %%
def job(serial, parallel, repeats=1):
    """Seconds of the whole job, the best of several repeats."""
    rank, size, times = dist.get_rank(), dist.get_world_size(), []
    x = torch.ones(128, 128)
    for _ in range(repeats):
        dist.barrier()
        start = time.perf_counter()
        for _ in range(serial if rank == 0 else 0):
            x @ x
        dist.barrier()
        for _ in range(rank, parallel, size):  # my share
            x @ x
        dist.barrier()
        times.append(time.perf_counter() - start)
    return min(times)


small = Device("small", {"float32": 1e9}, 4e9, memory=10**9, launch_overhead=1e-6)
network = Link(alpha=25e-6, beta=8e-10)  # seconds a message, and seconds a byte
computers = Cluster("computers", small, 1, inside=network, between=network)

# %% lesson="after why-parallel-hundred"
simulated = {}
for s in show.progress((1, 2, 4, 8, 16, 32, 64, 100), "Simulating"):
    simulated[s] = run(job, 50, 950, ranks=s, on=computers).values[0]
hours = 100 * simulated[100] / simulated[1]
display(reconcile("why-parallel-hundred", simulated=hours))
show.amdahl(p=0.95, workers=100, times=simulated, points_are="simulated")

# %% [markdown] lesson="reason why-parallel-hundred"
# **Our reason.** 5 hours stay, and 95/100 of an hour is added: 5.95. The simulation also has messages, since workers
# tell each other that they are done. And of 950 products, some workers do 10 and others 9.
#
# Did you say 1 hour at the top? Then you took 100 machines for 100 times as fast. Look at the orange part in the figure:
# it stays. Move the slider of p: how much must be divisible before 100 workers are 50 times as fast?

# %% [markdown]
# **Your turn.** p is the **parallel fraction**: the part of one worker's time that can be divided. s is the number of
# workers. (Other texts call the *serial* fraction s.)


# %% lesson="turn hours_on"
def hours_on(s, hours, p):
    """One worker needs so many `hours`. How many do s workers need?"""
    ### BEGIN SOLUTION
    return hours * ((1 - p) + p / s)
    ### END SOLUTION


# %% lesson="behind hours_on"
cases = [(s, hours, p) for s in (1, 3, 8, 1000) for hours, p in ((64.0, 0.75), (10.0, 0.5), (4.0, 1.0), (12.0, 0.0))]
wrong = {
    lambda s, hours, p: hours / s: "That divides everything. The serial part stays as long as it is.",
    lambda s, hours, p: hours * (p + (1 - p) / s): "You divide the serial part. p is what can be divided.",
    lambda s, hours, p: hours * p / s: "The serial part is missing. Somebody has to do it.",
    lambda s, hours, p: hours * (1 - p): "The parallel part takes time, too, unless there are endlessly many workers.",
    lambda s, hours, p: 1 / ((1 - p) + p / s): "That is how many times as fast they are. How many hours is that?",
}
well = "Right. One worker's hours divided by these are the speedup."

# %% lesson="after hours_on"
t = {s: run(job, 50, 950, ranks=s, on=computers).values[0] for s in (1, 4, 16, 64)}
for s in t:
    mine = hours_on(s, 100, 0.95)
    print(f"{s:>2}: {mine:6.2f} hours by your line, {100 * t[s] / t[1]:6.2f} simulated")

# %% [markdown] lesson="after hours_on"
# One worker's time divided by that of s workers is the **speedup**:
#
# $$S = \frac{1}{(1-p) + p/s}$$
#
# This is **Amdahl's law** (1967). Each further worker brings less than the one before: **diminishing returns**.
# [More](more.ipynb) has the dashed line of the figure, Gustafson's law.

# %% lesson="quiz why-parallel-ceiling"
quiz(
    "why-parallel-ceiling",
    "90 % of a program can be divided. How many times as fast does it get, with as many workers as you like?",
    unit="times",
    answer=10,
    because="The serial tenth stays. S never exceeds 1/(1 − p) = 1/0.1.",
    wrong={
        90: "Percents are no speedups. What is left of 100 hours?",
        9: "That is 0.9/0.1. What is the whole time, divided by what stays?",
        1.11: "You divided by the parallel part. Which part stays?",
        100: "Then one hour of 100 would stay. How many do?",
    },
)

# %% [markdown]
# ## 6. Read p off your times · {minutes} minutes
#
# You can seldom read p off a program. So measure with few workers, and find out what many would bring. Here is `job` on
# this machine, in real processes: each number of workers five times, of which the best counts.

# %%
cores = full_survey().cores
workers = [s for s in (1, 2, 4, 8) if s <= max(2, cores)]
ways = show.progress(workers, "Measuring")
measured = {s: run(job, 100, 1900, 5, ranks=s).values[0] for s in ways}
for s, took in measured.items():
    print(f"{s} at once: {1e3 * took:6.1f} ms, speedup {measured[1] / took:.2f}")

# %% [markdown]
# Two workers should reach 1.90. If they do not, other programs want your cores.
#
# Amdahl's law says t = a + b/s: a seconds are serial, b can be divided. Against 1/s that is a line. Least
# squares find a and b from *all* these points, and p = b/(a + b). You write that in the lab.
#
# Here are your points, and the curve of your p. Two points always lie on a line: with two cores, you can't tell if it
# fits. Move p a little. How much changes for 100 workers?

# %%
p_here = speedup.fit_parallel_fraction(workers, list(measured.values()))
print(f"The program was built with p = 0.95; measured: p = {p_here:.3f}")
show.amdahl(p=p_here, workers=100, times=measured)

# %% [markdown]
# ## 7. What Amdahl leaves out · {minutes} minutes
#
# In Amdahl's law workers never talk. In machine learning they do. Below, *all* of the work can be divided: p = 1. But
# the workers sum 1 MB, once or four times. See what is left of the speedup.
#
# Then look at your machine. Each orange square is a number that one instruction works on. **Caches** (L1, L2, L3) are
# small, fast memories. What is there only once, so that all cores want it?


# %%
def step(products, exchanges):
    """Seconds for so many products, shared out, with exchanges in between."""
    size, x, found = dist.get_world_size(), torch.ones(128, 128), torch.ones(250_000)
    start = time.perf_counter()
    for _ in range(exchanges):
        for _ in range(products // exchanges // size):
            x @ x
        if size > 1:
            dist.all_reduce(found)  # everyone gets the sum of all
    return time.perf_counter() - start


def slowest(exchanges, ranks, on=computers):
    return max(run(step, 256, exchanges, ranks=ranks, on=on).values)


for s, sums in ((4, 1), (4, 4), (64, 1), (64, 4)):
    S = slowest(1, 1) / slowest(sums, s)
    print(f"{s:>2} workers, sums {sums}: speedup {S:4.1f}, efficiency {S / s:4.0%}")

# %%
machine = full_survey()
one, together = machine.cluster.device.memory_bandwidth, machine.hardware.bandwidth
print(f"{machine.cores} cores read {together / one:.1f} times as fast as one")
show.survey(machine)

# %% [markdown]
# Four words stay with you:
#
# - **Overhead**: what is done only because the work was divided, such as the sums.
# - **Granularity**: how much work lies between two exchanges.
# - **Efficiency**: speedup divided by workers.
# - **Contention**: several workers want the same thing, such as the memory.
#
# A slide names one trouble more: “7 fast GPUs and 1 slow GPU”. Eight computers divide 256 products equally, and sum
# after each quarter.

# %% lesson="predict why-parallel-slow"
predict(
    "why-parallel-slow",
    "One of the eight runs at half speed. How many times as long do they take as eight fast ones?",
    unit="times",
    answer=1.99,
)

# %% lesson="after why-parallel-slow"
one_slow = computers.with_rank(7, speed=0.5)
longer = slowest(4, 8, on=one_slow) / slowest(4, 8)
display(reconcile("why-parallel-slow", simulated=longer))
products = [tasks.Task(str(i), 1) for i in range(256)]
fast, taken = (tasks.minutes_on(products, 8, [1] * 7 + [v]) for v in (1, 0.5))
print(f"Whoever is free takes the next product: {taken / fast:.2f} times as long")

# %% [markdown] lesson="reason why-parallel-slow"
# **Our reason.** At every sum, everyone waits for the slowest. So they are as slow as eight slow ones. (The messages take
# no longer, so it is not quite twice.) That is **static** assignment: shares are fixed beforehand. In **dynamic** assignment, whoever is free takes
# the next product: 35 turns instead of 32. That balances the load, but somebody has to hand out each product.

# %% lesson="quiz why-parallel-efficiency"
quiz(
    "why-parallel-efficiency",
    "16 workers are 12 times as fast as one. What is their efficiency?",
    unit="%",
    answer=75,
    because="12/16 = 0.75: each worker is worth three quarters of one that is alone.",
    wrong={
        0.75: "That is the share. How many percent is it?",
        12: "That is the speedup.",
        133: "That is workers by speedup. Divide the other way round.",
        25: "That is what is lost.",
    },
)

# %% [markdown]
# ## 8. Training is not like sorting · {minutes} minutes · short path
#
# Bubble sort needs each of its steps: nothing later repairs a forgotten exchange. Training **converges**: it repeats one
# step that leads nearer to a good state, wherever it is:
#
# $$A_t = F(A_{t-1}, \Delta(\text{data}, A_{t-1}))$$
#
# A is the state, the parameters. **Δ** computes an update from data. **F** brings updates into the state.

# %%
print(inspect.getsource(forgiving.delta), inspect.getsource(forgiving.F), sep="\n")
print(f"Four workers' updates, summed, differ from one's by {forgiving.apart():.0e}")

# %% [markdown]
# The steps form a chain. But within a step the work is divisible: the update of all data is the *sum* of its parts'
# updates. Each worker computes Δ on its own data, and F adds.
#
# Now be careless. If bubble sort of 200 numbers forgets one exchange in ten, 36 % of the way to the sorted numbers is
# left. Training on 4 workers loses one update in ten, too. With nothing lost, 0.00 % is left.

# %% lesson="predict why-parallel-lost"
predict(
    "why-parallel-lost",
    "What percent of the way from the first state to the best one is left after 60 steps?",
    unit="%",
    answer=0.07,
)

# %% lesson="after why-parallel-lost"
left = 100 * forgiving.left_of_training(lost=0.1)
display(reconcile("why-parallel-lost", simulated=left))
forgiving.lost_table()

# %% [markdown] lesson="reason why-parallel-lost"
# **Our reason.** A step from a slightly wrong state still leads the right way: later steps mend what a lost one left. This
# was a linear model. Unit 06 shows where it goes wrong.
#
# So machine learning may send less, wait less, round more. It also long did without **MPI**, the message passing of
# scientific computing. A common claim says why: little of it was done on such machines. [More](more.ipynb) asks how much that
# explains.

# %% [markdown]
# Where do you cut? Look at the upright lines: how often do all workers meet?

# %%
show.sgd_map()

# %% [markdown]
# The finer the cut, the closer together the workers must be. The coarsest hardly meet: 20 machines try 20 settings in
# the time of the longest try.
#
# | you have | then | what is cut | units |
# |---|---|---|---|
# | many settings or models to try | run them side by side | nothing | 01 |
# | a model that fits, and much data | data parallelism: a copy for each worker | the data of Δ | 04, 05, 07 |
# | slow links, or data that may not leave | don't wait for everyone | when F happens | 06 |
# | an optimizer that doesn't fit | shard the state | A | 08 |
# | layers that don't fit together | pipeline: some layers for each worker | Δ, between layers | 09 |
# | one layer that doesn't fit | tensor parallelism | Δ, inside a layer | 10 |
# | a huge model, little of it for each token | mixture of experts | A and Δ, by token | 11 |

# %% lesson="quiz why-parallel-which"
quiz(
    "why-parallel-which",
    "Your model fits on one GPU and takes a week. You have 8 GPUs and need this one model sooner. What do you cut?",
    choices=["the data of Δ", "the state A", "Δ, between layers", "nothing: run side by side"],
    answer="the data of Δ",
    because="The model fits, so each GPU keeps a copy and computes Δ on an eighth of each step's data.",
    wrong={
        "the state A": "That saves memory, and yours suffices. Each worker would wait for pieces of A.",
        "Δ, between layers": "That is for layers that don't fit on one GPU together. Yours do.",
        "nothing: run side by side": "That gives 8 models after a week: throughput. You need one, sooner.",
    },
)

# %% [markdown]
# ## Wrap-up
#
# You can now say:
#
# - why more cores raise the throughput, and not the speed;
# - which chain of tasks no number of workers makes shorter;
# - how many days and bytes a training takes, by which recipe;
# - what 100 machines bring if 5 % is serial.
#
# Professionals state the MFU of a training. Now you can check it.
#
# **Go on**: [the lab](../../labs/00_why_parallel/lab.ipynb). [More](more.ipynb): more than Amdahl promises, energy, a
# published number, why there was no MPI. **Or stop here**, and begin with the lab next time.
