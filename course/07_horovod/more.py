# %% [markdown]
# # 07 Horovod: more
#
# What the lesson has no room for: the coordinator's line and its cache, how to read a timeline, half precision and process
# sets, how Horovod scales, three ways to start, ranks that run out of data, settings that Horovod looks for by itself,
# Adasum, who has left Horovod, and what it gave us. The first two prepare extra exercises of the lab.

# %%
import tempfile
from pathlib import Path

from IPython.display import display

from lockstep import predict, quiz, reconcile, your_turn
from lockstep.experiments.horovod import demo_tables, legacy, scaling, your_line
from lockstep.experiments.horovod.recorded import or_recorded
from lockstep.with_horovod import frameworks
from lockstep.with_horovod.available import MISSING, available
from lockstep.with_horovod.launched import called, horovodrun

# %% [markdown]
# ## The coordinator's line
#
# **Your turn.** You are rank 0. Below, your line decides for three ranks with four gradients.


# %% lesson="turn ready_now"
def ready_now(counts, ranks):
    """`counts` says for each name on how many ranks it is ready: {"w": 2, "b": 1}.
    Which names can all `ranks` sum now? A list, in the order of `counts`."""
    ### BEGIN SOLUTION
    return [name for name, count in counts.items() if count == ranks]
    ### END SOLUTION


# %% lesson="behind ready_now"
cases = [
    ({"w": 2, "b": 1}, 2),
    ({"w": 2, "b": 1}, 3),
    ({}, 4),
    ({"w": 1}, 1),
    ({"b": 3, "a": 3}, 3),
    ({"a": 1, "b": 3, "c": 2}, 3),
]
cases += [({"c": 2, "a": 2, "b": 1}, 2), ({str(n): 60 + n % 5 for n in range(9)}, 64), ({"w": 0, "b": 1}, 1)]
wrong = {
    lambda counts, ranks: list(counts): "That is what some rank has ready. The others would wait for it.",
    lambda counts, ranks: [
        n for n, c in counts.items() if c >= ranks / 2
    ]: "A majority is not enough: every rank adds its share.",
    lambda counts, ranks: [
        n for n, c in counts.items() if c == ranks - 1
    ]: "Rank 0 is one of the ranks: it counts itself, too.",
    lambda counts, ranks: sorted(
        n for n, c in counts.items() if c == ranks
    ): "Right names. Their order is that of `counts`.",
    lambda counts, ranks: [c for n, c in counts.items() if c == ranks]: "Those are the counts. Which are the names?",
}
well = "Right. And because there is one list, all ranks sum in one order."

# %% lesson="after ready_now"
display(your_line.negotiated_table(ready_now), demo_tables.negotiation_table())

# %% [markdown] lesson="after ready_now"
# The second table counts what that costs on top of the all-reduces. Most of the bytes are names.

# %% [markdown]
# A model's next step has the same gradients. So ranks keep the lists in a **cache**: all have heard the same names in
# the same order. From then on they say what is ready without names, and without rank 0: by one all-reduce in each
# cycle.

# %% lesson="predict bits"
predict(
    "bits",
    "ResNet-50 has 161 gradients. From the second step on, how many bytes does a rank contribute in each cycle to say which "
    "of them it has ready?",
    unit="bytes",
    answer=24,
)

# %% lesson="after bits"
display(reconcile("bits", simulated=demo_tables.told_by_bits(gradients=161)))
demo_tables.negotiation_table(cached=True)

# %% [markdown] lesson="reason bits"
# **Our reason.** One *bit* for each gradient: all ranks know which one is number 0, 1, …. Two more (in Horovod four)
# say, for example, “all of mine are known”. That is 163 bits, in words of 8 bytes: three words. A bitwise *and* leaves
# what is ready on all ranks. Names would take thousands of bytes from each rank. That held Horovod back on 6,000 GPUs.
# This cache and grouped gradients made it twice as fast (Romero et al., *Accelerating Collective Communication in Data
# Parallel Training*, NSDI 2022).

# %% lesson="quiz cycle"
quiz(
    "cycle",
    "Four ranks have w ready in the cycles 2, 0, 5 and 2, counted from 0. In which cycle is w summed?",
    answer=5,
    because="When the last rank has it: rank 2, in cycle 5.",
    wrong={
        2: "Half of the ranks have it then. Does the sum of two help?",
        0: "In cycle 0 only rank 1 has it ready.",
        6: "Rank 0 answers in the same cycle.",
        2.25: "The mean does not matter. Who is last?",
    },
)

# %% [markdown]
# ## What is fused?
#
# All gradients in one fusion buffer have the same type, and none is cut in two.

# %% lesson="predict fused"
predict(
    "fused",
    "20 gradients of 9,000 bytes each become ready in one cycle. The buffer has 16,000 bytes. How many all-reduces "
    "are carried out?",
)

# %% lesson="after fused"
fused = or_recorded("fused")
display(reconcile("fused", measured=len(fused["rows"][0]["carries"])))
demo_tables.fused_table(fused)

# %% [markdown] lesson="reason fused"
# **Our reason.** A second gradient does not fit beside the first: 18,000 bytes. So each goes alone, and nothing is
# fused. If gradients could be cut, 20 · 9,000 bytes would fit into twelve buffers. Two types that alternate become two
# operations, not twenty: Horovod looks further down the list for gradients of the same type.

# %% [markdown]
# **Your turn.** A timeline shows which gradients went together: those whose spans in `GLOO_ALLREDUCE` overlap. Below,
# your line reads the lesson's timeline.


# %% lesson="turn together"
def together(a, b):
    """Spans (begin, end) of two gradients. An operation may begin at the very moment at
    which the one before ends. Were these two in one operation?"""
    ### BEGIN SOLUTION
    return a[0] < b[1] and b[0] < a[1]
    ### END SOLUTION


# %% lesson="behind together"
cases = [((0, 2), (1, 3)), ((1, 3), (0, 2)), ((0, 4), (1, 2)), ((1, 2), (0, 4)), ((0, 2), (0, 2)), ((0, 1), (2, 3))]
cases += [
    ((2, 3), (0, 1)),
    ((0, 1), (1, 2)),
    ((1, 2), (0, 1)),
    ((8120, 8279), (8121, 8280)),
    ((8120, 8279), (8279, 8300)),
]
wrong = {
    lambda a, b: a[0] == b[0]: "In one operation, too, they begin one after the other: some microseconds apart.",
    lambda a, b: a[0] <= b[1] and b[0] <= a[1]: "If one ends when the other begins, these are two operations.",
    lambda a, b: b[0] < a[1]: "And if b is over before a begins?",
    lambda a, b: a[0] <= b[0] < a[1]: "And if b began first?",
    lambda a, b: a[0] < b[0] < a[1] or b[0] < a[0] < b[1]: "And if both begin in the same microsecond?",
}
well = "Right. In the lab you find all operations of a timeline."

# %% lesson="after together"
your_line.operations_table(together, or_recorded("a_step")["timeline"])

# %% [markdown]
# ## Half precision, and process sets
#
# Two more things that Horovod does. **fp16 compression** sends float32 gradients as float16: half the bytes. A
# **process set** is a group with a negotiation of its own: below, each pair of four ranks sums its own numbers beside
# the sum of all.

# %%
display(demo_tables.half_precision_table(or_recorded("half_precision")))
demo_tables.process_sets_table(or_recorded("process_sets"))

# %% [markdown]
# ## Does it scale?
#
# Horovod's documentation (`docs/benchmarks.rst`) says: on 128 servers with 4 GPUs each, ResNet-101 reached 90 % of 512
# times one GPU's speed. VGG-16 reached less. VGG-16 has 13 convolutions, then 3 dense layers (Simonyan & Zisserman,
# *Very Deep Convolutional Networks for Large-Scale Image Recognition*, arXiv:1409.1556). The first dense layer takes
# 25,088 numbers to 4,096: it has 74 % of all parameters.

# %% lesson="predict vgg"
predict(
    "vgg",
    "That one layer has 74 % of VGG-16's gradient. What percentage of the multiplications of a forward pass does it do?",
    unit="%",
    answer=0.66,
)

# %% lesson="after vgg"
parameters, multiplications = scaling.largest(scaling.vgg16())
print(f"{parameters:.0f} % of parameters, {multiplications:.2f} % of multiplications")
print(f"the first convolution uses a weight {scaling.IMAGE**2:,} times for an image")
display(reconcile("vgg", simulated=multiplications), scaling.scaling_table())

# %% [markdown] lesson="reason vgg"
# **Our reason.** A dense layer uses each weight once for an image. A convolution uses its weights again at each pixel:
# up to 50,176 times. So a dense layer sends much for what it computes. Read the last column: for each multiplication,
# VGG-16 sends about 1.6 times as much as ResNet-101. Its gradient is three times as large, and it has only twice the
# computing to hide that behind.

# %% [markdown]
# ## Three ways to start
#
# The lesson's ranks begin in this kernel: they are forked from a process that has loaded Python, torch and Horovod
# once. On a cluster you start them by **`horovodrun`**: `horovodrun -np 3 python train.py`; with `-H
# server1:4,server2:4` on two machines, over ssh. Here it starts three, each a program of its own. Each line begins with
# the rank that wrote it.

# %%
PROGRAM = """
import horovod.torch as hvd, torch
hvd.init()
total = hvd.allreduce(torch.tensor([float(hvd.rank())]), name="rank", op=hvd.Sum)
print(f"rank {hvd.rank()} of {hvd.size()}: {total.item():g}")
"""
if available():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "sum_of_ranks.py")
        path.write_text(PROGRAM)
        print(horovodrun(str(path), ranks=3))
else:
    print(MISSING)

# %% [markdown]
# The third way is **`horovod.run`**: it starts ranks from Python, and returns what each of them returned.


# %%
def squared_rank():
    import horovod.torch as hvd

    hvd.init()
    return hvd.rank() ** 2


print(called(squared_rank, ranks=3) if available() else MISSING)

# %% [markdown]
# ## Ranks that run out of data
#
# With uneven data, one rank takes its last step while others still have steps to take. They would wait for it.
# `hvd.join()` says “I am done, go on without me”: from then on this rank adds zeros, until all have joined. Below, rank
# r makes r + 1 all-reduces of ones, and then joins.

# %%
demo_tables.join_table(or_recorded("join"))

# %% [markdown]
# Look at the means. They are divided by the number of *all* ranks, although fewer still add gradients: the last ones
# come out too small. A sampler with equal shares avoids that.
#
# ## Settings that Horovod finds
#
# The lesson sets the size of the buffer; the length of a cycle is the other one that matters. The right ones depend on
# model and network. **Autotuning** tries them out during the first steps, by Bayesian optimisation:
# `HOROVOD_AUTOTUNE=1`. It looks for the most bytes per second, and keeps what it has found.
#
# ## Adasum
#
# Unit 05 scales the learning rate with the number of ranks. **Adasum** combines gradients in another way instead
# (Maleki et al., *Scaling Distributed Training with Adaptive Summation*, arXiv:2006.02924). Two that point in the same
# direction are averaged. Two that are orthogonal are added. In between, the result is in between, too:
#
# $$\mathrm{Adasum}(g_1, g_2) = \left(1 - \frac{g_1 \cdot g_2}{2\,\|g_1\|^2}\right) g_1 + \left(1 - \frac{g_1 \cdot g_2}{2\,\|g_2\|^2}\right) g_2$$
#
# In Horovod that is `op=hvd.Adasum`. It is built on MPI: with Gloo alone, as here, there is none.
#
# ## Who has left, and what it gave us
#
# Horovod's last release is from June 2023. The first table says who has left it. The second says what it gave us, and
# where you find that today. The third has names that have changed since the lecture's list was written.

# %%
display(legacy.left_table(), legacy.gave_table(), frameworks.then_and_now())

# %% [markdown]
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/07_horovod/lab.ipynb).
