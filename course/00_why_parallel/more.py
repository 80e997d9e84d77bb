# %% [markdown]
# # 00 Why parallel: more
#
# What the lesson has no room for: more than Amdahl promises, alternatives to more workers, energy, a plan of your own, a
# published number, and why machine learning had no MPI.

# %%
import math

import torch

from lockstep import show
from lockstep.cost import speedup, training
from lockstep.experiments.cpu.latency import latency
from lockstep.this_machine.measure import best_time

# %% [markdown]
# ## The same time, and more work
#
# With more machines you may not train the same model faster. You train a *larger* one, in the same time. Then the
# question is how much more gets done. If s workers spend the part p of their time in parallel, one worker would need
# S = (1 − p) + p·s times as long. This is **Gustafson's law** (1988), the dashed line in the lesson's figures. It has no limit.

# %%
for s in (10, 100, 1000):
    print(
        f"p = 0.95, {s:>4} workers: Amdahl {speedup.amdahl(0.95, s):5.1f}, Gustafson {speedup.gustafson(0.95, s):6.1f}"
    )
alone = speedup.parallel_fraction_alone(0.95, 100)
print(f"One worker on the problem of 100: p = {alone:.5f}, and Amdahl gives {speedup.amdahl(alone, 100):.2f}")

# %% [markdown]
# Both laws are right. Amdahl's p is a part of *one* worker's time, Gustafson's p a part of the time on *s* workers. The
# larger problem has a smaller serial part. With the p that belongs to it, either law gives the same number.
#
# **Strong scaling** keeps the work and adds workers. **Weak scaling** lets the work grow with them. Ask which one a paper
# means before you compare.

# %% [markdown]
# ## More than s times as fast
#
# By Amdahl, s workers are at most s times as fast. When is that not so? Measure: a table of 16 MiB is read
# at random places, and each read waits for the one before. Then s workers share the table and the reads. Here is one
# worker's part, alone on this machine. Which points are above the line?

# %%
whole = 2**24
times = {s: latency(whole // s) / s for s in (1, 2, 4, 8, 16, 32)}
for s, took in times.items():
    print(f"{s:>2} workers, {whole // s // 1024:>6} KiB each: speedup {times[1] / took:5.1f}")
show.amdahl(p=1.0, workers=8, times=times, points_are="one worker's part")

# %% [markdown]
# Points above the line are **super-linear**. Workers don't only bring cores, they bring caches: a small part of the table
# fits where the whole did not. Amdahl's law assumes that a read takes as long as before.
#
# This is no run of 32 workers, who share caches and memory. It shows what the parts can gain. If a colleague reports a
# super-linear speedup, look for the cache first. Then ask whether one worker had enough memory, and whether both did the
# same work.

# %% [markdown]
# ## Instead of more workers
#
# Look at the one that you have. Here is the same sum twice, on one core.

# %%
numbers = torch.ones(300_000)
listed = numbers.tolist()


def loop():
    total = 0.0
    for number in listed:
        total += number
    return total


faster = best_time(loop, 0.2) / best_time(numbers.sum, 0.2)
print(f"torch.sum is {faster:,.0f} times as fast as a loop in Python")

# %% [markdown]
# | instead of more workers | when |
# |---|---|
# | code that uses SIMD and caches (units 02, 03) | always first |
# | a better algorithm, or fewer steps | always first |
# | a smaller model: weights left out (pruning), or in fewer bits (quantisation) | when a little accuracy may be lost |
# | one large machine, with many cores and much memory | when the data fit: no messages between machines |
# | other hardware | when the work is mostly matrix products |
# | more patience | when it runs once, overnight |

# %% [markdown]
# ## Energy
#
# Some name a fourth reason beside time, memory and data. Here is Llama 3 on two numbers of GPUs, with the
# utilisation that was reached on each, and each GPU at 700 W all the time (arXiv:2407.21783, section 3.3.1 and table 4).

# %%
for gpus, utilisation in ((8192, 0.43), (16384, 0.41)):
    days = training.training_days(405e9, 15.6e12, gpus, peak=989e12, utilisation=utilisation)
    energy = gpus * days * 24 * 700 / 1e9
    print(f"{gpus:>6,} GPUs at {utilisation:.0%}: {days:>4.0f} days, {energy:.1f} GWh")

# %% [markdown]
# Twice as many GPUs are nearly twice as fast. In this model they take a little more energy, since the utilisation is
# lower: a GPU that waits takes its 700 W, too. So energy is no reason to divide. But a job that can be stopped, moved and
# split can run when there is wind or sun. Some renewable sources need such scheduling.

# %% [markdown]
# ## Plan a training run
#
# Change the numbers in the last line and run the cell again. An H100 has 80 GB. By a common rule a model needs some 20
# tokens for each parameter (Hoffmann et al., arXiv:2203.15556); Llama 3 got 39.


# %%
def plan(params, tokens_each, gpus, utilisation, recipe):
    days = training.training_days(params, tokens_each * params, gpus, 989e12, utilisation)
    states = training.training_memory(params, training.RECIPES[recipe])
    print(f"{days:,.1f} days. {states / 1e9:,.0f} GB of model states: at least {math.ceil(states / 80e9):,} H100.")


plan(params=70e9, tokens_each=20, gpus=512, utilisation=0.4, recipe="adam mixed")

# %% [markdown]
# ## A published number
#
# FourCastNet forecasts the weather. A slide says: training takes about an hour at scale, “compared to 40 hrs on
# 32 nodes or >~45days on a single GPU”. Its paper (arXiv:2208.05419) says 67.4 minutes on 3,072 GPUs. Let a node have 4
# GPUs. What do you make of it?

# %%
minutes = {1: 45 * 24 * 60, 32 * 4: 40 * 60, 3072: 67.4}
for gpus, t in minutes.items():
    S = minutes[1] / t
    print(f"{gpus:>5,} GPUs  {t:>8,.0f} min  speedup {S:>4.0f}  efficiency {S / gpus:.0%}")
show.amdahl(p=0.999, workers=1000, times=minutes, points_are="FourCastNet")

# %% [markdown]
# From 128 to 3,072 GPUs the efficiency goes *up*. No p of Amdahl's law fits both points; the curve is that of p = 0.999.
# Super-linear? Ask whether both did the same. The slide does not say so,
# and “>~45days” is a bound, not a measurement. Three numbers on a slide are no scaling curve. Ask for one program, one
# machine, one problem, and only the workers changed.

# %% [markdown]
# ## Why machine learning had no MPI
#
# MPI has been the language of parallel scientific computing since 1994. You often read that machine learning was
# traditionally *not* done there, and so its frameworks cared little for distributed learning, used parameter servers, and
# “most AI experts probably never heard of MPI”. Two reasons more:
#
# - The data lay elsewhere. “Large datasets typically do not sit in MPI clusters”, wrote John Langford, who built such
#   learning systems ([hunch.net](https://hunch.net/?p=151364)).
# - It could do with less. An MPI program counts on each of its messages and each of its ranks. Training forgives a lost
#   or late update, as section 8 of the lesson shows. A parameter server makes use of that (unit 06).
#
# It came back when models grew and one GPU was no longer enough: Horovod (unit 07) and PyTorch (unit 05) train with
# an all-reduce, MPI's word for “everyone gets the sum” (unit 04).
#
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/00_why_parallel/lab.ipynb).
