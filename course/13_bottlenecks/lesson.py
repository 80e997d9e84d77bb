# %% [markdown]
# # 13 Bottlenecks
#
# **Where did the time go, and which of it can you get back?**
#
# ![](opening.svg)
#
# Every unit had something in the way. Here are slow loops. You count what they do, see what they wait for, and compare
# each with its cure. In the lab, nobody tells you what is wrong.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | {minutes} | sections 1 to 8 |
# | Short path | {minutes} | sections 1, 2 and 7, the wrap-up; then `name_the_bottleneck` in the lab |
# | [Lab](../../labs/13_bottlenecks/lab.ipynb) | 120 | five exercises, and seven more for those who want them |
#
# From unit 02 you need the roofline, from unit 04 α and the ring, from unit 05 gradients in buckets.

# %%
import torch
import torch.distributed as dist
from IPython.display import display

from lockstep import predict, quiz, reconcile, show, your_turn
from lockstep.bottlenecks import lengths, streams, unequal
from lockstep.experiments.bottlenecks import copies, failing, lecture_notes
from lockstep.experiments.bottlenecks import loading, roofs, tools
from lockstep.experiments.bottlenecks import tables_of_loops as loops

# %% [markdown]
# ## 1. Where the time goes · {minutes} minutes · short path
#
# A loop decodes its batches, trains, and reads the loss at every step. **torch.profiler** records which operations ran,
# and when. Below is its table, and the same recording as a timeline. Look at the longest bars: what are they called?
#
# This runs here, in **real** time. What only a GPU or a cluster can show is simulated, in **virtual** time. The text or
# the table says which.

# %%
table, recorded = tools.profiled()
display(table)
show.trace_file(recorded)

# %% [markdown]
# The longest is the DataLoader's `__next__`: the loop waits for a batch. The profiler sees nothing inside: it records
# only what torch does, and Python's `lzma` and NumPy decode.
#
# `export_chrome_trace` writes such a recording to a file. `lockstep show trace.json` draws it, and so do
# [Perfetto](https://ui.perfetto.dev) and TensorBoard's plugin. A sampling profiler, such as `py-spy` or `perf`, also sees
# Python's own functions, even in a loader's workers; the course runs none.

# %% [markdown]
# ## 2. Counters, not seconds · {minutes} minutes · short path
#
# You change something, and the loop takes half as long. Was it your change, or did another program end? On a busy
# machine, seconds can't say. A **counter** can: it counts what the loop *does*. Below, each loop runs in real time, *sick*
# and then *cured*. Run the cell twice. Which column changes most?

# %%
loops.loops_table("counters")

# %% [markdown]
# - **Small files**: an open for each sample. Packed into a **shard**, many samples share one. A Python audit hook counts
#   opens; Linux counts write calls (`/proc/thread-self/io`).
# - A **seek** is a read that does not begin where the last read of that file ended.
# - `.item()`, `float(x)` and `print(x)` need a tensor's value now. On a CPU that costs little. Section 5 shows what it
#   costs on a GPU.
# - **Light work**: handing a task over takes longer than the task itself. The cure: don't hand it over.

# %% lesson="quiz opens"
quiz(
    "opens",
    "10,000 images are in files of their own. Packed, a shard holds 300 of them, and has one file beside it with its index. "
    "How many files does an epoch open?",
    unit="files",
    answer=68,
    because="10,000 / 300, rounded up, are 34 shards, each with an index: 68 opens instead of 10,000.",
    wrong={
        34: "Those are the shards. And what says where in a shard an image begins?",
        66: "The last 100 images are in a shard, too.",
        10000: "That is without shards.",
    },
)

# %% [markdown]
# ## 3. A fed GPU · {minutes} minutes
#
# A GPU takes 8 ms for a step. Its batch takes 4 ms to arrive, from storage across the network. (Here both only wait, in
# real time.) Without workers, loading and computing take turns. With **workers**, batches are loaded ahead
# (**prefetch**) while the GPU computes. In `torch.utils.data.DataLoader` these are `num_workers` and `prefetch_factor`.

# %% lesson="predict workers"
predict(
    "workers",
    "With 8 workers instead of none, how many times as many steps a second?",
    unit="times",
    answer=1.5,
)

# %% lesson="after workers"
alone, eight = loading.step_seconds(0), loading.step_seconds(8)
simulated = loading.predicted_step(0) / loading.predicted_step(8)
display(reconcile("workers", simulated=simulated, measured=alone / eight))
loading.workers_table()

# %% [markdown] lesson="reason workers"
# **Our reason.** Without workers, a step takes 4 + 8 ms. One worker hides loading behind the GPU's 8 ms, so a step takes
# 8: 1.5 times as many steps a second. Further workers add nothing: now the GPU is the bottleneck. On a busy machine,
# sleeps end late in both loops, so the measured ratio may be off. A loader needs as many workers as keep up, and no more.

# %% [markdown]
# These loads only wait. Decoding *computes*, so each worker needs a core of its own. A loader's **budget** is the number
# of samples that the GPU takes a second, times the seconds of a core that each sample takes.
#
# **Your turn.** How many workers, a core each, does the loader need? The table below asks your line for faster and faster
# GPUs on a host with 16 cores.


# %% lesson="turn workers_needed"
def workers_needed(samples_per_second, seconds_per_sample):
    """A GPU takes samples_per_second. A worker prepares a sample in
    seconds_per_sample. How many workers, an integer, keep up, at the least?"""
    ### BEGIN SOLUTION
    whole = int(samples_per_second * seconds_per_sample)
    return whole + (whole < samples_per_second * seconds_per_sample)
    ### END SOLUTION


# %% lesson="behind workers_needed"
cases = [
    (1000, 0.5),
    (1001, 0.5),
    (3, 0.25),
    (1, 1.0),
    (1, 3.0),
    (64, 0.125),
    (65, 0.125),
    (2500, 0.00390625),
    (1000000, 0.5),
]
wrong = {
    lambda g, t: int(g * t): "That almost keeps up: a part of a worker is missing. Round up.",
    lambda g, t: round(g * t): "That rounds to the nearest. If there is work for 1.4 workers, does 1 keep up?",
    lambda g, t: (
        int(g / t) + (int(g / t) < g / t)
    ): "That divides. The GPU takes g samples a second, and each costs t seconds of a core.",
    lambda g, t: int(g * t) + 1: "Where 500 workers are enough, that takes 501. Round up only if something is left.",
}
well = "Right: the seconds of a core that the samples of one second need, rounded up."

# %% lesson="after workers_needed"
display(loading.budget_table(workers_needed))
loading.storage_chart()

# %% [markdown]
# In the last row, 40 workers share 16 cores. The cure is less work for them: decode once, *before* training, or on the
# GPU (section 5); or use smaller samples. In the chart, **storage** starves a GPU: from how many MB/s on is it always fed
# with samples of 110 kB?
#
# **Lengths.** Each text in a batch is padded to the longest, and the padding is computed, too. These lengths are drawn at
# random: their mean is 73 tokens, the longest 512. Padding is counted, not timed.

# %% lesson="predict padding"
predict(
    "padding",
    "480 texts go in a random order into batches of 16. What percentage of all computed tokens is padding?",
    unit="%",
    answer=68,
)

# %% lesson="after padding"
texts = loading.lengths()
random, windows, sorted_ = loading.ways(texts, batch=16).values()
display(reconcile("padding", simulated=100 * lengths.padding(texts, random)))
print(f"bucketed over all: {100 * lengths.padding(texts, sorted_):.0f} %")
show.padding(texts[:48], loading.ways(texts[:48], batch=8))

# %% [markdown] lesson="reason padding"
# **Our reason.** Nearly every batch of 16 has a long text, and all 16 are padded to its length. Here the longest of 16
# has some three times the mean, so about a third of the computed tokens is text. **Bucketing** puts texts of similar
# length together. That costs randomness: the texts of a batch are alike in length. So it sorts only within windows of
# some batches, and shuffles the batches. Move the figure's slider: how much pale area is left?

# %% [markdown]
# ## 4. Failures · {minutes} minutes
#
# A job fails, and restarts from a checkpoint. A loader without a **state** begins its epoch anew, and the training sees
# some samples twice. So the loader's position goes into the checkpoint, too. A training that waits until a checkpoint is
# written does nothing meanwhile: copy the weights, and write the copy in the background. Last, a chip may flip a bit, and
# no program fails. A **checksum** of each replica shows it. (Real time, except for the last: its replicas are virtual ranks.)

# %%
loops.loops_table("failures")

# %% lesson="quiz position"
quiz(
    "position",
    "Four ranks take batches of 8. Each rank's loader has loaded 6 batches, and the training has taken 4 of them. Which "
    "position, in samples of all ranks, belongs in the checkpoint?",
    unit="samples",
    answer=128,
    because="4 steps of 4 · 8 samples. What was loaded ahead is lost with the process, and is loaded again.",
    wrong={
        192: "That counts what workers have loaded ahead. Who has seen those samples?",
        32: "That is one rank's. Which position do all ranks go on from, maybe with another number of ranks?",
        48: "That is what one rank has loaded. How many has the training taken, on all ranks?",
        4: "Those are steps. How many samples is a step?",
    },
)

# %% [markdown]
# How often to checkpoint? Each write costs d seconds; a failure costs the work since the last write. The share of its
# time that a job keeps is its **goodput**. With M seconds between failures, the best interval is about √(2·d·M) (Young,
# CACM 1974). Virtual time: a write takes a minute, a restart ten, and failures come every four hours on average. Which
# side of the best interval costs more? On the right the formula is too optimistic: repeated work can fail, too.

# %%
failing.goodput_chart()

# %% lesson="quiz interval"
quiz(
    "interval",
    "16 times as many GPUs fail 16 times as often. A write still takes as long. How many times as long is the best interval "
    "between two checkpoints?",
    unit="times",
    answer=0.25,
    because="√(2·d·M) with M/16: a quarter, from 22 minutes to 5.5.",
    wrong={
        0.0625: "The interval goes with the root of M.",
        4: "They fail more often. So should you write more often, or less often?",
        1: "M is under the root, and it changes.",
    },
)

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 5. Host and GPU · {minutes} minutes
#
# **Virtual time.** A host **launches** kernels, the GPU's programs, into a **stream** and goes on; they run in order.
# Before each 10 ms step, a 150 MB batch is copied at 25 GB/s. From **pageable** memory, which the system may move, the
# driver copies twice, at half the rate, and the host waits. **Pinned** memory stays in place: the host goes on, and copies
# in their own stream run beside kernels.

# %% lesson="predict copies"
predict(
    "copies",
    "From pageable copies before each step, to pinned copies in a stream of their own: how many times as many steps a second, "
    "in a long training?",
    unit="times",
    answer=2.2,
)

# %% lesson="after copies"
before = streams.train(copies.STEP, steps=100)
after = streams.train(copies.STEP, steps=100, pinned=True, overlapped=True)
display(reconcile("copies", simulated=before.time / after.time))
show.streams(copies.ways())

# %% [markdown] lesson="reason copies"
# **Our reason.** A pageable copy takes 12 ms, and the step waits for it: 22 ms. A pinned copy takes 6 ms. In its own
# stream, it is hidden behind the 10 ms of the step before. So a step takes 10 ms: 2.2 times as many a second. Pinning
# alone gives 16 ms. Only the first copy has nothing to hide behind.

# %% [markdown] lesson="after copies"
# Move the slider to each way, and step through it. Where does the host wait, and where is the GPU idle? In the last way,
# Python works for 4 ms before each step. Without `.item()` that is hidden: the host runs ahead of the GPU. With it, they
# take turns.

# %% lesson="quiz item"
quiz(
    "item",
    "A step computes for 10 ms, and Python prepares it for 4 ms. The loss is read after every step. You now read it after "
    "every tenth. How many ms does a step take on average? Copies are hidden; ignore launches.",
    unit="ms",
    answer=10.4,
    within=0.01,
    because="Ten steps take 4 + 10 · 10 = 104 ms: only the first preparation after a read is not hidden.",
    wrong={
        14: "That is with a read after each step.",
        10: "That is without any read. What does the host do after one?",
        11.4: "That has Python's 4 ms once, and the GPU's once more.",
    },
)

# %%
loops.loops_table("host and GPU")

# %% [markdown]
# ## 6. The others · {minutes} minutes
#
# All ranks wait for the slowest. **Tiny all-reduces** pay α for each gradient; buckets pay it once for many (real time,
# two processes). A **straggler** computes for longer; over a **slow link**, messages take longer (virtual time). Both
# slow *every* rank's step. To tell them apart, look at computing by rank, and at bytes a second by link.

# %%
loops.loops_table("ranks")

# %% [markdown]
# Eight ranks all-reduce 16 MB by a ring: 14 rounds, in each of which every rank sends 2 MB. Over good links that takes
# 0.23 ms (virtual time). Now *one* link, from rank 2 to rank 3, has only 5 GB/s.

# %% lesson="predict link"
predict("link", "How many ms does the all-reduce take now?", unit="ms", answer=5.7)

# %% lesson="after link"
slow = unequal.over_slow_link(bandwidth=5e9, rows=1)
display(reconcile("link", simulated=1e3 * slow.time))
both = {"a straggler": unequal.straggling(), "a slow link": unequal.over_slow_link()}
show.compared(both)

# %% [markdown] lesson="reason link"
# **Our reason.** In each of the 14 rounds, 2 MB cross the slow link in 0.4 ms: 5.6 ms, and 0.1 ms of latency. The other seven messages of
# a round take 10 µs. Then their ranks wait: a rank can't pass on what it hasn't received. One slow link of eight slows
# the whole ring to its own speed.

# %% [markdown] lesson="after link"
# The figure above has both illnesses, in a step that also computes. In which one does a rank compute for longer than the
# others? Who waits for whom?

# %% [markdown]
# **A hang** is the longest wait. Below, rank 2 returns early, as it would after an exception that somebody caught. Each
# rank's **flight recorder** keeps its last collectives, and dumps them to a file. torch's own `fr_trace` compares the
# dumps:


# %%
def training():
    gradient = torch.ones(4)
    dist.all_reduce(gradient)
    if dist.get_rank() == 2:
        return
    dist.all_reduce(gradient)


print(tools.flight_records(training))
print(f"gloo's watchdog:\n{tools.words_of_gloo()}")

# %% [markdown]
# It names the missing rank, and where the others wait. It can't know why rank 2 left: that is in rank 2's own log. (Here
# virtual ranks wrote the dumps. The watchdog's words are from two real processes, one of which never came to a
# `monitored_barrier`.) With GPUs, NCCL's log (`NCCL_DEBUG=INFO`) says more about a hang, and torch's memory snapshot shows
# what fills the memory; nothing here can make them.

# %% [markdown]
# ## 7. Three roofs · {minutes} minutes · short path
#
# A step computes, moves bytes to and from memory, and sends bytes. It takes at least as long as each of these alone. The
# longest is its **roof**; the others fit beneath it, if they overlap. Time beyond the roof is what you can get back.
#
# **Your turn.** Which roof bounds a step? Your line then names it for four steps on an A100, by its data sheet and with
# a network of 25 GB/s.


# %% lesson="turn bound"
def bound(compute, memory, network):
    """Seconds that a step takes under each roof alone. Returns "compute", "memory"
    or "network"; of equal ones, the first."""
    ### BEGIN SOLUTION
    seconds = {"compute": compute, "memory": memory, "network": network}
    return max(seconds, key=seconds.get)
    ### END SOLUTION


# %% lesson="behind bound"
cases = [
    (1.0, 2.0, 3.0),
    (3.0, 2.0, 1.0),
    (1.0, 3.0, 2.0),
    (1.0, 1.0, 1.0),
    (0.0, 2.0, 2.0),
    (2.0, 0.0, 2.0),
    (0.0, 0.0, 1e-9),
    (5e3, 4e3, 6e3),
    (0.3, 0.2, 0.1),
]
wrong = {
    lambda c, m, n: min({"compute": c, "memory": m, "network": n}, key={"compute": c, "memory": m, "network": n}.get): (
        "That is the roof with the most room. Which one is met first?"
    ),
    lambda c, m, n: "network" if n >= max(c, m) else "memory" if m >= c else "compute": (
        "Of equal ones, yours names the last. The first is asked for."
    ),
    lambda c, m, n: "compute" if c >= m else "memory": "There is a third roof.",
    lambda c, m, n: "network" if n > c + m else "memory" if m > c else "compute": (
        "That adds computing and memory. They overlap, so compare each by itself."
    ),
}
well = "Right: the longest of the three."

# %% lesson="after bound"
display(roofs.steps_table(bound))
loops.loops_table("memory")

# %% [markdown]
# The last table's formula is GELU. Written out in nine operations, it moves the array 22 times. **Fused** into one, it
# reads its input once and writes its result once. `torch.compile` fuses such chains. Where the program needs a tensor's
# value, it cuts the chain: a **graph break** (counted in [more](more.ipynb)).

# %% [markdown]
# **Inference.** **Prefill** reads a prompt in one pass. **Decode** then writes token by token. Each pass reads *all*
# weights, 16 GB in Llama 3 8B, and does 2 FLOP with each. Attention keeps the keys and values of earlier tokens in the
# **KV cache**: here 131,072 bytes a token. One sequence with 2,048 tokens takes 8 ms a token on an A100 (2.04 TB/s).

# %% lesson="predict decode"
predict(
    "decode",
    "32 such sequences are decoded together, a token for each. How many ms does that take?",
    unit="ms",
    answer=12.1,
)

# %% lesson="after decode"
display(reconcile("decode", simulated=1e3 * roofs.decode_seconds(32)))
roofs.figure_of_inference(at=1)

# %% [markdown] lesson="reason decode"
# **Our reason.** The weights are read once for all 32: 16.1 GB. The caches are 32 · 2,048 · 131,072 bytes: 8.6 GB. At
# 2.04 TB/s, 24.7 GB take 12.1 ms. So 32 times the tokens take 1.5 times as long. Computing takes 32 times as long as
# before, and still far less than reading. That is why serving wants many sequences at once, until their caches fill the
# memory.

# %% [markdown] lesson="after decode"
# Move the slider. Which roof bounds prefill, and which decode, at each size here? The chart below shows **deployment**:
# with more sequences at once, the GPU writes more tokens a second, but each sequence waits longer for its next one. At
# how many sequences does a context of 8,192 tokens end the curve?

# %% lesson="after decode"
roofs.service_chart()

# %% [markdown]
# **Your turn.** How large is a KV cache? In models with **grouped** heads, several heads share their keys and values.


# %% lesson="turn kv_bytes"
def kv_bytes(layers, kv_heads, head_size, tokens):
    """Bytes of keys and values, in 16 bits, that one sequence of so many tokens
    keeps. Each KV head has head_size numbers for a key, and as many for a value."""
    ### BEGIN SOLUTION
    return 2 * layers * kv_heads * head_size * tokens * 2
    ### END SOLUTION


# %% lesson="behind kv_bytes"
cases = [
    (1, 1, 1, 1),
    (32, 8, 128, 1),
    (32, 8, 128, 8192),
    (80, 64, 128, 2048),
    (80, 8, 128, 131072),
    (3, 1, 64, 10),
    (12, 12, 64, 1024),
    (1, 7, 5, 3),
]
wrong = {
    lambda L, k, e, s: 2 * L * k * e * s: (
        "That is half. Have you counted keys and values, and the 2 bytes of each number?"
    ),
    lambda L, k, e, s: 2 * k * e * s * 2: "That is one layer's.",
    lambda L, k, e, s: 4 * L * k * e * s * 2: "That is twice as much: a key and a value, of 2 bytes a number.",
}
well = "Right: 2 · layers · heads · size · tokens · 2 bytes."

# %% lesson="after kv_bytes"
roofs.cache_table(kv_bytes)

# %% lesson="quiz batch"
quiz(
    "batch",
    "Leave out the caches. An A100 has 312 TFLOP/s and 2.04 TB/s. A weight has 2 bytes; for each sequence, decoding does 2 FLOP "
    "with it. From how many sequences at once does computing take longer than reading the weights?",
    unit="sequences",
    answer=153,
    within=0.01,
    because="Reading takes 2 / 2.04e12 s a weight, computing 2·B / 312e12: equal at B = 312 / 2.04 = 153.",
    wrong={
        306: "A weight has 2 bytes, and takes 2 FLOP a sequence. They cancel.",
        76: "A weight has 2 bytes, and takes 2 FLOP a sequence. They cancel.",
        1: "With one sequence it is 1 FLOP a byte. The GPU could do how many?",
    },
)

# %% [markdown]
# ## 8. Two lists · {minutes} minutes
#
# Two sets of lecture notes list bottlenecks. The first table gives each a loop, a counter and a cure, in real or in
# virtual time; [more](more.ipynb) measures all of them. The second sets common claims beside our counts. All are right
# somewhere; *why* says where. Look at “Usually the key bottleneck”: what decides it?

# %%
display(loops.lists_table())
lecture_notes.corrections_table()

# %% [markdown]
# ## Wrap-up
#
# You can now say:
#
# - which counter tells a sick loop from a healthy one, on a busy machine;
# - how many workers a GPU needs, and when more don't help;
# - what pinned memory and `.item()` change;
# - how to tell a straggler from a slow link;
# - which roof bounds a step, and why decode wants many sequences.
#
# In practice: `torch.profiler`, NVIDIA's Nsight Systems, `py-spy`, torch's flight recorder.
#
# **Go on**: [the lab](../../labs/13_bottlenecks/lab.ipynb). Then [your report](more.ipynb): predict, simulate, measure and
# reconcile your own training run. **Or stop here**, and begin with the lab.
