# %% [markdown]
# # 00 Why parallel
#
# One machine needs 100 hours to train your model. You are given 100 machines. How long does it take now? Say a number
# aloud, before you read on.
#
# Start with a number of your own. A guess is fine. Every lesson here begins like that: you commit to a number, and find
# out what decides it.

# %%
from lockstep import predict, reconcile

# %% lesson="predict why-parallel-hundred"
predict(
    "why-parallel-hundred",
    "Now with one thing more: of the 100 hours, 95 % can be divided among any number of machines; the rest cannot. "
    "How many hours does it take on 100 machines?",
    unit="hours",
)

# %% [markdown]
# You will work it out, simulate it, and measure it on this machine.
#
# Plan about two hours for this lesson. Short of time? Run sections 5, 11 and 15 now, and read them later. The lab needs
# 3, 4, 6, 7 and 9.

# %% [markdown]
# ## 1. The free lunch is over
#
# For 25 years most programs did not have to be divided: next year's processor ran the same program faster. (Whoever
# could not wait divided all the same, on vector machines and clusters.) These are processors that people bought. The
# **clock frequency** is how many steps a processor takes in a second.

# %%
import matplotlib.pyplot as plt

# year, transistors, MHz, cores. Until 1989: the first model of each, from Intel's Microprocessor Quick Reference Guide
# (copied at ic.unicamp.br/~celio/mc404/opcodes.html). Later ones: about, as announced; Apple names no clock.
processors = [
    (1978, 29e3, 5, 1), (1982, 134e3, 8, 1), (1985, 275e3, 16, 1), (1989, 1.2e6, 25, 1), (1993, 3.1e6, 66, 1),
    (1997, 7.5e6, 300, 1), (1999, 9.5e6, 500, 1), (2000, 42e6, 1500, 1), (2004, 125e6, 3400, 1),
    (2006, 291e6, 2930, 2), (2008, 731e6, 3200, 4), (2012, 1.4e9, 3500, 4), (2020, 16e9, 3200, 8),
    (2022, 114e9, 3200, 20),
]  # fmt: skip
years, transistors, megahertz, cores = zip(*processors)

figure, axes = plt.subplots(figsize=(8, 3.8))
axes.semilogy(years, transistors, "o-", color="#0072B2", label="transistors")
axes.semilogy(years, megahertz, "s-", color="#D55E00", label="clock frequency, MHz")
axes.semilogy(years, cores, "^-", color="#009E73", label="cores")
axes.axvline(2005, color="gray", linestyle=":", label='"The free lunch is over" (Sutter, 2005)')
axes.set(xlabel="year", title="There are ever more transistors. The clock stands still.")
axes.legend(fontsize=8)
figure.tight_layout()

# %% [markdown]
# Until about 2004 smaller transistors needed a lower voltage. So twice as many of them, running faster, took no more
# power on the same area: that was **Dennard scaling**. Then the voltage could not fall any further. A faster clock
# now means more heat than a chip can get rid of.
#
# Every generation still has more transistors (Moore's law). They become more **cores**: parts of a processor that each
# run a program of their own. That raises the **throughput**, how much is done in a second. It does not raise the speed:
# one step after another takes as long as before.

# %%
import math

doubling = (2004 - 1978) / math.log2(3400 / 5)
print(f"From 1978 to 2004 the clock doubled every {doubling:.1f} years.")
print(f"Had it gone on, 2022 would have had {3.4 * 2 ** ((2022 - 2004) / doubling):.0f} GHz.")

# %% [markdown]
# ## 2. What your machine is made of
#
# Lockstep surveys this machine, once. It takes some seconds, and the result is kept. Later units use it for their
# predictions.

# %%
from lockstep import show
from lockstep.launch.survey import full_survey

machine = full_survey()
show.survey(machine)

# %% [markdown]
# From the inside out:
#
# - The orange squares are **SIMD lanes**: one instruction works on so many numbers at once. One core is parallel
#   already.
# - **Caches** (L1, L2, L3) are small, fast memories that keep what was used last. L1 is the smallest and the fastest.
#   Some belong to one core, some are shared.
# - The **memory** is large and slow. How much it delivers in a second is its **bandwidth**, and all cores share it.
# - On large machines each group of cores has a part of the memory that is near. The rest is farther away. This is
#   called **NUMA**.
# - A **message** from one process to another takes some time before its first byte arrives, and then some time for
#   each byte. Between two machines both are larger.
# - **GFLOP/s** are billions of additions and multiplications in a second. A **float32** is a number in 32 bits.
#
# Every arrow and every block can become the one that everything waits for. (`lockstep doctor --survey` measures again.)

# %%
hardware = machine.hardware
one, together = machine.cluster.device.memory_bandwidth, hardware.bandwidth
print(f"{machine.cores} cores together get {together / one:.1f} times the memory bandwidth of one.")

# %% [markdown]
# As many times as there are cores? Then one core alone cannot use up the memory. Far fewer? Then the cores take it from
# each other. That is **contention**: several workers, and one thing to share. With many cores it is the rule.

# %% [markdown]
# ## 3. How long does it take to train a large model?
#
# Count the arithmetic. A **FLOP** is one addition or multiplication of two numbers. A **parameter** is a number that
# the model learns. A **token** is a piece of text, about three quarters of a word.
#
# For each token, each parameter is multiplied once and added once: 2 FLOP. That is the way *forward*, from the text to
# the guess. The way *backward* finds out how to change the parameters. It takes 4 more: 2 to find out how this
# parameter should change, and 2 to pass the error on to the layer before. So training N parameters on D tokens takes
#
# $$ 6 \cdot N \cdot D \ \text{FLOP}$$
#
# Does that agree with what is published?

# %%
from lockstep.cost.training import training_flops

print(f"GPT-3 by the formula:   {training_flops(174.6e9, 300e9):.3g} FLOP")
print("GPT-3 by its paper:     3.14e+23 FLOP   (arXiv:2005.14165, table D.1)")
print(f"Llama 3 by the formula: {training_flops(405e9, 15.6e12):.3g} FLOP")
print("Llama 3 by its paper:   3.8e+25 FLOP    (arXiv:2407.21783, section 1, for 15.6e12 tokens)")

# %% [markdown]
# Nobody has published how much GPT-4 took. Estimates are about $2 \cdot 10^{25}$ FLOP (Epoch AI). The GPU that NVIDIA
# sells for this, a B200, does up to $2.25 \cdot 10^{15}$ FLOP in a second, in numbers of 16 bits (NVIDIA's figure for
# the HGX B200, as listed at glennklockwood.com/garden/processors/B200).

# %% lesson="predict why-parallel-gpt4"
predict("why-parallel-gpt4", "How many years would one B200 need for GPT-4's 2e25 FLOP?", unit="years")

# %% lesson="after why-parallel-gpt4"
year = 365.25 * 24 * 3600
flop, peak = 2.0e25, 2.25e15

# The highest rate that anyone measured for a matrix product on a B200 is 1745 TFLOP/s (stas00/ml-engineering).
rates = {"at its peak": peak, "at the best rate measured": 1745e12, "at 40 % of its peak": 0.4 * peak}
for name, rate in rates.items():
    print(f"{name:<26} {flop / rate / year:>5.0f} years")
reconcile("why-parallel-gpt4", simulated=flop / (0.4 * peak) / year)

# %% [markdown] lesson="reason why-parallel-gpt4"
# **Our reason.** You may read the first of these numbers in talks about parallel training. But no training reaches the
# peak. The share that it does reach is called the **utilisation** (MFU, model FLOP utilisation). Llama 3 reached 38 to
# 43 % on 8,192 to 16,384 GPUs (arXiv:2407.21783, table 4). So "simulated" is the calculation at 40 %.

# %%
from lockstep.cost.training import training_days

for gpus in (1, 100, 1_000, 10_000):
    days = training_days(params=405e9, tokens=15.6e12, devices=gpus, peak=989e12, utilisation=0.4)
    print(f"Llama 3, 405e9 parameters, 15.6e12 tokens, on {gpus:>6,} H100 at 40 %:  {days:>11,.0f} days")

# %% [markdown]
# This is the first reason for parallelism: **time**. You write `training_days` in the lab.
#
# The table has a catch. It assumes that 10,000 GPUs are as busy as one. This course is about whether they are.

# %% [markdown]
# ## 4. Does it fit?
#
# Training keeps several numbers for *each* parameter. Which, and in how many bytes, is a **recipe**:
#
# - the **weights**: the parameters themselves,
# - their **gradients**: in which direction to change them,
# - what the **optimizer** remembers. Adam keeps two numbers: a mean of the gradients, and one of their squares,
# - where weights have only 16 bits, a **master copy** of them in 32 bits: a step is often so small that it would be
#   lost.

# %% [markdown]
# In the table, `fp32` is a number in 32 bits, and `bf16` one in 16. A byte has 8 bits.

# %%
from IPython.display import Markdown

from lockstep.cost.training import BYTES, RECIPES, bytes_per_parameter, most_parameters, training_memory

# 80 layers, each of 7 matrices and 2 vectors; then a vector for each of 32,000 words, coming in and going out.
llama_65b = 80 * (4 * 8192**2 + 3 * 8192 * 22016 + 2 * 8192) + 2 * 32000 * 8192 + 8192
rows = [
    f"| {name} | {' + '.join(f'{BYTES[dtype]} {kept}' for kept, dtype in recipe.items())} "
    f"| {bytes_per_parameter(recipe)} | {training_memory(llama_65b, recipe) / 1e9:,.0f} GB "
    f"| {most_parameters(192e9, recipe) / 1e9:.0f} billion |"
    for name, recipe in RECIPES.items()
]
head = "| recipe | bytes for each parameter | sum | LLaMA-65B | fits in 192 GB |\n|---|---|---|---|---|\n"
Markdown(f"LLaMA-65B has {llama_65b:,} parameters.\n\n{head}" + "\n".join(rows))

# %%
kinds = ("weights", "gradients", "master weights", "momentum", "variance")
colors = ("#0072B2", "#E69F00", "#56B4E9", "#009E73", "#D55E00")
figure, axes = plt.subplots(figsize=(9, 3.2))
left = dict.fromkeys(RECIPES, 0.0)
for kind, color in zip(kinds, colors):
    widths = {name: llama_65b * BYTES[recipe[kind]] / 1e9 if kind in recipe else 0 for name, recipe in RECIPES.items()}
    axes.barh(list(RECIPES), list(widths.values()), left=list(left.values()), color=color, label=kind)
    left = {name: left[name] + widths[name] for name in RECIPES}
axes.axvline(457, color="black", linestyle=":", label='"457 GB"')
axes.invert_yaxis()
axes.set(xlabel="GB", title="What training LLaMA-65B keeps, without activations")
axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
figure.tight_layout()

# %% [markdown]
# You may read that fine-tuning LLaMA-65B takes "457 GB", and that 192 GB can train 27 billion parameters. Which recipe
# is that? Divide:

# %%
print(f"457 GB / {llama_65b:,} parameters = {457e9 / llama_65b:.2f} bytes for each")
print(f"192 GB / 27e9 parameters = {192 / 27:.1f} bytes for each")

# %% [markdown]
# It is 7 bytes, and none of these recipes has 7. No recipe was named, so we cannot say where it comes from. Ask for the
# recipe whenever you read such a number. Adam with gradients and weights in 16 bits takes 12, so 783 GB; the paper of
# QLoRA (arXiv:2305.14314, introduction) says "more than 780 GB". With the master copy, as most large models are
# trained, it is 16 bytes and 1,045 GB. In 192 GB that trains 12 billion parameters, not 27.
#
# All this is without the **activations**, what the layers compute on the way forward. They come on top.
#
# This is the second reason: **memory**. If a model does not fit, a faster machine does not help. It has to be split.
#
# Plan a training run yourself: change the numbers in the last line, and run the cell again. H100s have 80 GB each. A
# model needs about 20 tokens for each parameter, by a common rule (Hoffmann et al., arXiv:2203.15556); most get more.


# %%
def plan(params, tokens_each, gpus, utilisation, recipe):
    days = training_days(params, tokens_each * params, gpus, 989e12, utilisation)
    states = training_memory(params, RECIPES[recipe])
    print(f"{days:,.1f} days. {states / 1e9:,.0f} GB of model states: at least {math.ceil(states / 80e9):,} H100.")


plan(params=70e9, tokens_each=20, gpus=512, utilisation=0.4, recipe="adam mixed")

# %% [markdown]
# ## 5. Data and energy
#
# Two more reasons. The *data* may be too large for one machine. Or it may not leave its place: patients' records stay
# in the hospital. Then the training has to go to the data (unit 06). And *energy*:

# %%
tokens = 12e12  # DBRX was trained on 12 trillion tokens (Databricks, Introducing DBRX, 2024)
for told, each in (("as numbers of 4 bytes", 4), ("as text, about 5 bytes a token", 5)):
    servers = math.ceil(tokens * each / 13e12)  # a talk about it: "8-GPU servers of my group has only 13TB"
    print(f"DBRX's data {told}: {tokens * each / 1e12:.0f} TB, on {servers} servers of 13 TB")

# Llama 3's utilisation on two numbers of GPUs, each running at 700 W (arXiv:2407.21783, section 3.3.1 and table 4)
for gpus, utilisation in ((8192, 0.43), (16384, 0.41)):
    hours = 3.8e25 / (gpus * utilisation * 989e12) / 3600
    energy = gpus * hours * 700 / 1e9
    print(f"Llama 3 on {gpus:>6,} GPUs at {utilisation:.0%}: {hours / 24:>4.0f} days, {energy:.1f} GWh")

# %% [markdown]
# Look at the last column. Twice as many GPUs are nearly twice as fast. They take more energy, not less: the arithmetic
# is the same, and a GPU that waits takes power, too. (Here it takes its 700 W all the time.) Some sites run their
# training when there is wind or sun. That is a scheduling problem, and it is easier with a job that can be stopped,
# moved and split.

# %% [markdown]
# ## 6. Amdahl's law
#
# So divide the work among **workers**: cores, GPUs, machines. Not everything can be divided. Someone has to read the
# file, start the program, take the step. Let
#
# - **p** be the parallel fraction: the part of one worker's time that can be divided. The rest, 1 − p, is serial.
# - **s** be the number of workers.
#
# The serial part takes as long as before. The parallel part takes p/s. So the whole is faster by the **speedup**
#
# $$S = \frac{1}{(1-p) + p/s}$$
#
# This is Amdahl's law (1967). Move the sliders. How many workers does it take until half of their time is waiting? The
# cell below the figure tells.

# %%
show.amdahl(p=0.95, workers=16)

# %%
from lockstep.cost.speedup import amdahl

s = next(s for s in range(1, 1000) if amdahl(0.95, s) / s <= 0.5)
print(f"With p = 0.95, {s} workers are {amdahl(0.95, s):.1f} times as fast as one: half of their time is waiting.")

# %% [markdown]
# On the right: the orange part stays as long as it is, while the blue part is cut in pieces. However many workers
# there are, the orange part remains. So the speedup never exceeds 1/(1 − p): the dotted line. Every further worker
# brings less. These are **diminishing returns**.
#
# Beware of letters. Many texts call the *serial* fraction s, and the workers N. Here s counts workers, and p is what
# can be divided.

# %% [markdown]
# ## 7. Simulate it, measure it
#
# Here is a program with both parts. Rank 0 does `serial` matrix products alone, while the others wait. Then all of
# them share `parallel` products. A **rank** is one of several copies of the program that run at once. A **barrier** is
# where each waits until all have come.

# %%
import time

import torch
import torch.distributed as dist

from lockstep import run


def job(serial, parallel, repeats=1):
    """Seconds for the whole job, the best of several repeats."""
    rank, size = dist.get_rank(), dist.get_world_size()
    x, best = torch.ones(128, 128), float("inf")
    for _ in range(repeats):
        dist.barrier()  # wait until all are here
        start = time.perf_counter()
        if rank == 0:
            for _ in range(serial):
                x @ x
        dist.barrier()
        for _ in range(rank, parallel, size):  # my share
            x @ x
        dist.barrier()
        best = min(best, time.perf_counter() - start)
    return best


# %% [markdown]
# You don't have 100 machines. Lockstep simulates them: the same function, in **virtual time**. Every rank has a clock.
# Each step moves it by what the step would take on that machine, however long it takes here. Take small computers of
# 1 GFLOP/s each, joined by a network of 10 gigabits a second. 50 of 1,000 products are serial, so p = 0.95.
#
# `Device` says how fast a computer is (`launch_overhead`: seconds to start any operation), `Link` what a message costs,
# `Cluster` how they are put together. `run(job, 50, 950, ranks=4, on=computers)` calls `job(50, 950)` on 4 ranks there,
# and without `on` on this machine. `.values` is what each rank returned; `[0]` is rank 0's.

# %%
from lockstep.machines import Cluster, Device, Link

small = Device("a small computer", {"float32": 1e9}, memory_bandwidth=4e9, memory=10**9, launch_overhead=1e-6)
ethernet = Link(alpha=25e-6, beta=8e-10)  # seconds before the first byte; seconds for each byte
computers = Cluster("small computers", small, ranks_per_node=1, inside=ethernet, between=ethernet)

# %% lesson="after why-parallel-hundred"
sizes = show.progress((1, 2, 4, 8, 16, 32, 64, 100), "Simulating")
simulated = {s: run(job, 50, 950, ranks=s, on=computers).values[0] for s in sizes}
show.amdahl(p=0.95, workers=100, times=simulated, points_are="simulated")

# %% [markdown]
# The simulation does not know Amdahl's law. It runs the program, and every worker waits where it must. The points lie
# on the curve all the same.
#
# Now on this machine, with real processes. There are twice as many products, because it is faster. Each run is
# repeated, and the best counts.

# %%
workers = [s for s in (1, 2, 4, 8) if s <= max(2, machine.cores)]
measured = {s: run(job, 100, 1900, 5, ranks=s).values[0] for s in show.progress(workers, "Measuring")}
for s, seconds in measured.items():
    print(f"{s} process{'es' if s > 1 else ' '}   {1e3 * seconds:>7.1f} ms   speedup {measured[1] / seconds:.2f}")

# %% [markdown]
# Amdahl promises 1.90 for two workers. If you see less, something else wants your cores, or there is only one of them.
#
# From times like these you can read p. By Amdahl's law $t = \text{serial} + \text{parallel}/s$: against $1/s$ the
# times lie on a straight line.

# %% lesson="after why-parallel-hundred"
from lockstep.cost.speedup import fit_parallel_fraction

p_here = fit_parallel_fraction(list(measured), list(measured.values()))
print(f"p of the simulated runs: {fit_parallel_fraction(list(simulated), list(simulated.values())):.4f}")
print(f"p of the runs here:      {p_here:.4f}")
show.amdahl(p=p_here, workers=100, times=measured)

# %% [markdown]
# These are your own points, on the curve of your own p. The program was built with p = 0.95. A lower p also contains
# waiting, and other programs. If your machine has two cores, there are two points, and *any* two points lie on a curve
# of their own: that says nothing about how well it fits.
#
# You can seldom read p off a program. So you measure it like this, with few workers, and learn what many would bring.
# Move the slider of p a little: how much does the speedup of 100 workers depend on it? You write the fit in the
# lab.

# %% [markdown]
# ## 8. What Amdahl leaves out
#
# In Amdahl's law, workers never talk. In machine learning they do: after each share of the work they exchange what
# they found. Here the work is parallel throughout, p = 1. But the workers exchange 1 MB, once or many times.


# %%
def step(products, exchanges):
    """Seconds for ``products`` matrix products, shared out, with so many exchanges in between."""
    size, x, found = dist.get_world_size(), torch.ones(128, 128), torch.ones(250_000)
    start = time.perf_counter()
    for _ in range(exchanges):
        for _ in range(products // exchanges // size):
            x @ x
        if size > 1:
            dist.all_reduce(found)  # everyone gets the sum of all
    return time.perf_counter() - start


alone = run(step, 256, 1, ranks=1, on=computers).values[0]
print("workers   products between exchanges   speedup   efficiency")
for s in (4, 16, 64):
    for exchanges in (1, 4):
        speedup = alone / run(step, 256, exchanges, ranks=s, on=computers).values[0]
        print(f"{s:>7} {256 // s // exchanges:>28} {speedup:>9.1f} {speedup / s:>12.0%}")

# %% [markdown]
# These words stay with you through the course:
#
# - **Overhead**: what is done only because the work was divided. Here, the exchange.
# - **Granularity**: how much work lies between two exchanges. Fine-grained work talks all the time.
# - **Efficiency**: speedup divided by workers. What a worker is worth.
# - **Contention**: several workers want the same thing, such as the memory of section 2.
#
# So 100 times the resources are not 100 times as fast. And one more thing: what if seven computers are fast, and one is
# half as fast?

# %%
import heapq


def whoever_is_free(products, seconds):
    """When the last of the products is done, if each goes to the first worker that is free; seconds[w] for one."""
    free = [(0.0, worker) for worker in range(len(seconds))]
    for _ in range(products):
        moment, worker = heapq.heappop(free)
        heapq.heappush(free, (moment + seconds[worker], worker))
    return max(free)[0]


all_slow = Cluster("slow ones", small.at(0.5), ranks_per_node=1, inside=ethernet, between=ethernet)
one_slow = computers.with_rank(7, speed=0.5)
for told, cluster in {"8 fast": computers, "7 fast, 1 slow": one_slow, "8 slow": all_slow}.items():
    print(f"{told:<15} {1e3 * max(run(step, 256, 4, ranks=8, on=cluster).values):.0f} ms with equal shares")
print(f"7 fast, 1 slow: equal shares take {256 / 8 * 2:.0f} times one fast product,")
print(f"whoever is free takes the next: {whoever_is_free(256, [1] * 7 + [2]):.0f} times")

# %% [markdown]
# With equal shares and a meeting after each step, seven fast computers and a slow one are as fast as eight slow ones.
# That is **static** assignment: shares are fixed beforehand. In **dynamic** assignment whoever is free takes the next
# piece. That balances the load, but somebody has to hand out each piece.
#
# The two numbers that decide what an exchange costs, `alpha` and `beta`, have a unit of their own: 04.

# %% [markdown]
# ## 9. Gustafson's law
#
# With more machines, do people train the same model faster? Often they train a larger one, in the same time. Then the
# question is another: *how much more work is done in the same time?* If s workers spend the part p of their time in
# parallel, one worker would need
#
# $$S = (1-p) + p \cdot s$$
#
# This is Gustafson's law (1988): the green line in the figures of sections 6 and 7. It has no limit.

# %%
from lockstep.cost.speedup import gustafson, parallel_fraction_alone

for s in (10, 100, 1000):
    print(f"p = 0.95, {s:>4} workers:  Amdahl {amdahl(0.95, s):>5.1f}   Gustafson {gustafson(0.95, s):>6.1f}")

# %% [markdown]
# Who is right? Both. Look closely at p: Amdahl's is a part of the time on *one* worker, Gustafson's a part of the
# time on *s* workers. It is the larger problem that has a smaller serial part:

# %%
p = parallel_fraction_alone(0.95, 100)  # what one worker's p would be, for the large problem
print(f"one worker on the large problem: p = {p:.5f}, and Amdahl gives {amdahl(p, 100):.2f}")

# %% [markdown]
# With the p that belongs to it, either law gives the same number. In practice: **strong scaling** keeps the work and
# adds workers, **weak scaling** lets the work grow with them. Ask which one a paper means before you compare.

# %% [markdown]
# ## 10. More than s times as fast
#
# By Amdahl, s workers are never more than s times as fast. Is that so? Measure. A table is read at random places,
# always equally often. Only its size changes. (A language model reads its table of words like this.) The clock here
# counts this program's own time, so that other programs disturb it little.

# %%
torch.set_num_threads(1)
lookups = 200_000
places = torch.rand(lookups, generator=torch.Generator().manual_seed(0))


def nanoseconds(nbytes, repeats=5):
    """Time of one lookup in a table of so many bytes, the best of several runs."""
    table, out, best = torch.ones(nbytes // 4), torch.empty(lookups), float("inf")
    rows = (places * len(table)).long()
    for _ in range(repeats + 1):
        start = time.thread_time()
        torch.index_select(table, 0, rows, out=out)
        best = min(best, time.thread_time() - start)
    return best / lookups * 1e9


sizes = [2**k for k in range(14, 27)]
curve = [nanoseconds(n) for n in sizes]

figure, axes = plt.subplots(figsize=(8, 3.6))
axes.semilogx([n / 2**10 for n in sizes], curve, "o-", color="#0072B2", base=2)
for name, size in machine.caches.items():
    if name != "L1i" and sizes[0] <= size <= sizes[-1]:
        axes.axvline(size / 2**10, color="#D55E00", linestyle=":")
        axes.annotate(f" {name}", (size / 2**10, max(curve)), color="#D55E00", va="top")
axes.set(xlabel="size of the table, KiB", ylabel="ns for a lookup", title="A lookup is as fast as the cache it hits")
axes.set_ylim(0)
axes.set_xticks([16, 128, 1024, 8192, 65536], ["16", "128", "1,024", "8,192", "65,536"])
figure.tight_layout()

# %% [markdown]
# The dotted lines are the caches that a core can use, from the survey; the largest is often shared with others. A table
# that fits is read fast. A larger one has to be fetched, from the next cache or from the memory.
#
# Now let s workers share a table of 16 MiB, and the lookups with it. Each has a piece of the table, and a core's
# cache of its own. What is the busiest worker's time?

# %%
whole = 2**24
one_worker = nanoseconds(whole)
times = {s: one_worker_share / s for s in (1, 2, 4, 8, 16, 32) for one_worker_share in [nanoseconds(whole // s)]}
for s, t in times.items():
    print(f"{s:>3} workers, {whole // s // 1024:>6} KiB each   speedup {times[1] / t:>6.1f}")
show.amdahl(p=1.0, workers=8, times=times, points_are="measured: one worker's share")

# %% [markdown]
# This is no run of 32 workers. One was measured, alone, with its piece in the cache already. It shows what the pieces
# can gain, and not what 32 workers would, who share caches and memory.
#
# Points above the line are **super-linear**: more than s times as fast. Nothing is wrong. The workers do not only
# bring cores, they bring caches. The piece of each fits where the whole did not. Amdahl's law assumes that a lookup
# takes as long as before, and that is not so.
#
# If a colleague reports a super-linear speedup, look for the cache first. Then look whether the one worker had enough
# memory, and whether both did the same work.

# %% [markdown]
# ## 11. One worker, used well
#
# Before you add workers, look at the one that you have. The same sum, twice:

# %%
numbers = torch.ones(300_000)
listed = numbers.tolist()


def own_time(work, repeats=5):
    best = float("inf")
    for _ in range(repeats):
        start = time.thread_time()
        work()
        best = min(best, time.thread_time() - start)
    return best


def loop():
    total = 0.0
    for number in listed:
        total += number
    return total


print(f"torch.sum is {own_time(loop) / own_time(numbers.sum):,.0f} times as fast as a loop in Python, on one core.")

# %% [markdown]
# More workers make up for that only at a price. There are other alternatives to more workers:
#
# | instead of more workers | when |
# |---|---|
# | code that uses SIMD and caches (units 02, 03) | always first |
# | a better algorithm, or fewer steps | always first |
# | a smaller model: weights left out (pruning), or in fewer bits (quantisation) | when a little accuracy may be lost |
# | one large machine, with many cores and much memory | when the data fit: no messages, no failures of machines |
# | other hardware: a GPU, a TPU | when the work is mostly matrix products |
# | more patience | when it runs once, overnight |

# %% [markdown]
# ## 12. Training is not like sorting
#
# Why is machine learning so often run in parallel, and in such daring ways? Compare it with sorting. A sorting
# algorithm is a fixed sequence of steps, and each relies on those before it. Forget one exchange in a hundred. What
# share of the way from the shuffled numbers to the sorted ones is left at the end?

# %%
import random


def bubble_sort(values, left_out):
    values, draw = list(values), random.Random(0)
    for end in range(len(values) - 1, 0, -1):
        for i in range(end):
            if values[i] > values[i + 1] and draw.random() >= left_out:
                values[i], values[i + 1] = values[i + 1], values[i]
    return values


def left_of_sorting(left_out):
    """The distance from the result to the sorted numbers, as a share of the distance at the start."""
    return math.dist(bubble_sort(shuffled, left_out), range(200)) / math.dist(shuffled, range(200))


shuffled = random.Random(1).sample(range(200), 200)
for left_out in (0.0, 0.01, 0.1):
    print(f"{left_out:>4.0%} of the exchanges forgotten: {left_of_sorting(left_out):>6.2%} of the way is left")

# %% [markdown]
# Training **converges**: it repeats a step that brings it nearer to a good state, wherever it is. Written out,
#
# $$A_t = F(A_{t-1}, \Delta(\text{data}, A_{t-1}))$$
#
# A is the model's state, its parameters. **Δ** computes an update from some data. **F** brings updates into the
# state. You may also read $A_t = \text{update}(\text{data}, A_{t-1})$. That hides what we need: the two places where a
# program can be cut. Here are both:

# %%
torch.manual_seed(0)
truth = torch.randn(10, dtype=torch.float64)
X = torch.randn(1000, 10, dtype=torch.float64)
y = X @ truth + 0.1 * torch.randn(1000, dtype=torch.float64)


def delta(rows, A):
    """The update that some rows of the data ask for: the negative gradient of their squared errors."""
    return -X[rows].T @ (X[rows] @ A - y[rows])


def F(A, updates):
    """Bring the updates of all workers into the state."""
    return A + 3e-4 * sum(updates)


A = torch.zeros(10, dtype=torch.float64)
everything = delta(range(1000), A)
of_four_workers = [delta(range(w, 1000, 4), A) for w in range(4)]
print("the sum of four workers' updates differs by", f"{(everything - sum(of_four_workers)).abs().max():.1e}")

# %% [markdown]
# The update of all data is the **sum** of the updates of its parts. So each worker computes its Δ alone, on its own
# data, and F adds. That is data parallelism, in one line.
#
# Now be as careless as with sorting. The measure is the same: of the way from the first state to the best one,
# the one with the least squared error, what share is left?


# %%
def left_of_training(lost=0.0, late=0, steps=60):
    """The same for some steps of four workers whose updates may get lost, or come some steps late."""
    draw = random.Random(0)
    history = [torch.zeros(10, dtype=torch.float64)]
    for _ in range(steps):
        seen = history[max(0, len(history) - 1 - late)]  # the state that the workers know
        updates = [delta(range(w, 1000, 4), seen) for w in range(4) if draw.random() >= lost]
        history.append(F(history[-1], updates))
    return math.dist(history[-1], best) / math.dist(history[0], best)


best = torch.linalg.lstsq(X, y).solution
print("forgotten or lost    left of the sorting    left of the training")
for lost in (0.0, 0.01, 0.1):
    print(f"{lost:>17.0%} {left_of_sorting(lost):>22.2%} {left_of_training(lost):>23.2%}")
print(f"\nall updates of the training 2 steps late: {left_of_training(late=2):.2%} is left")

# %% [markdown]
# 100 % is where it began, 0 % is the right result. Sorting with mistakes stays far from
# it, and would have to run again. This training, of a linear model, arrives all the same. A step from a slightly wrong
# state still leads the right way: the next steps mend what a lost one left. So machine learning may do what a bank may
# not: send less, wait less, round more. Unit 06 asks how far one can go, and where it goes wrong.

# %% [markdown]
# ## 13. Where to cut
#
# The course is one formula, cut in different places. Some words of the map first. **SGD**, stochastic gradient descent,
# is the training of section 12 when each Δ sees only a part of the data, a **minibatch**. An **ensemble** is several
# models that vote. A Δ is **stale** when the state has moved on since it was computed, as with the late updates above.
#
# From fine to coarse:

# %%
show.sgd_map()

# %% [markdown]
# The finer the cut, the more often the workers meet, and the closer together they have to be: in one core, on one
# chip, in one box. The coarser, the farther apart they may be. The coarsest cuts never meet at all. They are also the
# easiest. Do you have 20 settings to try? Then 20 machines take as long as the longest try, and exchange nothing.

# %% [markdown]
# ## 14. Which approach, when?
#
# | you have | then | what is cut | units |
# |---|---|---|---|
# | many settings to try, or many models | run them side by side | nothing | 01 |
# | a model that fits, and much data | data parallelism: a copy for each worker | the data of Δ | 04, 05, 07 |
# | slow or unreliable links, or data that may not leave their place | do not wait for everyone | when F happens | 06 |
# | a model whose optimizer does not fit | shard the state: each worker keeps one piece of it | A | 08 |
# | layers that do not fit together | pipeline: some layers for each worker | Δ, between layers | 09 |
# | a layer that does not fit, fast links | tensor parallelism | Δ, inside a layer | 10 |
# | a huge model of which each token needs little | mixture of experts | A and Δ, by token | 11 |
# | all of that | combine them, and plan | everything | 12, 13 |
#

# %% [markdown]
# ## 15. A look at a published number
#
# FourCastNet forecasts the weather. A talk about it says: training takes about an hour on large machines, against 40
# hours on 32 nodes, or ">~45days" on a single GPU. Its paper (arXiv:2208.05419) says 67.4 minutes on 3,072
# GPUs. Nodes of that machine have 4 GPUs. What do you make of it?

# %%
minutes = {1: 45 * 24 * 60, 32 * 4: 40 * 60, 3072: 67.4}
for gpus, t in minutes.items():
    speedup = minutes[1] / t
    print(f"{gpus:>5,} GPUs   {t:>8,.0f} min   speedup {speedup:>6.0f}   efficiency {speedup / gpus:.0%}")
show.amdahl(p=0.999, workers=1000, times=minutes, points_are="FourCastNet")

# %% [markdown]
# From 128 to 3,072 GPUs the efficiency goes *up*. Super-linear? Think of section 10: look whether both did the same.
# The slide does not say so, and ">~45days" is a bound and no measurement. Three numbers on a slide are
# not a scaling curve. Ask for one program, one machine, one problem, and only the workers changed.

# %% [markdown]
# ## 16. Reconcile
#
# Back to your first number. The simulation ran that very job: 95 % parallel, 100 workers. On this machine we measure
# what the busiest of the 100 workers has to compute: the serial part, and its share.


# %% lesson="after why-parallel-hundred"
def products(count):
    x = torch.ones(128, 128)
    for _ in range(count):
        x @ x


busiest = own_time(lambda: products(50 + math.ceil(950 / 100)))
everything = own_time(lambda: products(1000), repeats=3)
reconcile("why-parallel-hundred", simulated=100 * simulated[100] / simulated[1], measured=100 * busiest / everything)

# %% [markdown] lesson="reason why-parallel-hundred"
# **Our reason.** Amdahl says 5 + 95/100 hours. Why do the others differ? The simulation has messages: the workers must
# tell each other that they are done. Both have 950 products for 100 workers, and a product cannot be cut: some do 10,
# others 9. The measurement has the noise of your machine.
#
# And the number that you said aloud, before you knew of the 95 %? If it was 1 hour, you took 100 machines for 100 times
# as fast.

# %% [markdown]
# ## 17. What professionals use
#
# - `lscpu`, and `lstopo` from hwloc, draw a machine as you saw it in section 2. `nvidia-smi topo -m` says which GPUs
#   are near each other. The STREAM benchmark is what measured the memory.
# - Reports of large trainings state the **MFU**, tokens a second, and GPU hours. Now you can check them.
# - Before a large run, a small one: measure with few workers, fit, extrapolate. You did it in section 7.
#
# Go on with [the lab of this unit](../../labs/00_why_parallel/lab.ipynb). The next unit starts where the workers never
# meet: [01, scikit-learn and joblib](../01_scikit_learn/lesson.ipynb).
