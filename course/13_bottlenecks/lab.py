# %% [markdown] lab="readonly title"
# # Lab 13: Bottlenecks
#
# You find out what a training run waits for, from its profile, and where a hang began, from the dumps of the run. You mend
# a loader, and a step that sends too many messages. You place five steps under three roofs.
#
# [The lesson](../../course/13_bottlenecks/lesson.ipynb) explains what you need.

# %% [markdown] lab="readonly how"
# ## How to work
#
# Write each function in its cell, in place of `raise NotImplementedError()`. Run the cell below it: it runs your
# function, looks at the results *and* at what was read, sent and computed, and says what it saw. Try as often as you
# like. Each of the first five exercises has three folded hints. A program that hangs is stopped.
#
# No check looks at a clock. What your function costs is counted: files opened, calls, messages, bytes.
#
# **Your arguments stay as they are**, unless the text says otherwise. What you return is new.

# %% lab="readonly imports"
import json
import queue
import random
import threading
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.distributed as dist
from IPython.display import display

from lockstep import check
from lockstep.experiments.bottlenecks import incidents, recorded_profiles

# %% [markdown] lab="readonly about-name_the_bottleneck"
# ## 1. Name the bottleneck ({minutes} minutes, {points} points)
#
# How much time does a training loop lose, and to what? You get the profile of all its ranks. Find how much of the time
# each of four cures would give back.
#
# - **You get** `spans`, a list of tuples `(rank, step, name, begin, end)`, with times in microseconds, in no order; and
#   `call_cost`, the microseconds of an all-reduce without bytes.
# - **You return** a tuple of four numbers, the shares of `"loader"`, `"synchronisation"`, `"straggler"` and
#   `"small messages"`, in this order. A share is the part of the whole time that the loop would save without this cause
#   *alone*. Less than 0.05 counts as nothing: return 0.0 for it. For a healthy loop, all four are 0.
# - **You may use** anything.
# - **It may cost** nothing worth counting: there are some hundred spans.
#
# A step begins on all ranks at the same time, when the sums of the step before are there. Then each rank does these things
# one after another, without gaps, and each of them any number of times:
#
# | name | kind |
# |---|---|
# | `"next(loader)"` | it waits for its batch |
# | `"forward"`, `"backward"`, `"optimizer.step"` | it computes |
# | `".item()"`, `"print"` | it reads a number back, and does nothing else |
# | `"all_reduce"`, always at the end | from the call until the sum is there. All ranks make the same calls, which end on all of them at the same time |
#
# The rank that comes last to the all-reduces waits for nobody. So a step takes as long as the slowest rank waits for its
# batch, computes and reads back, and then as long as *its* all-reduces take, the shortest of all ranks'. Without one cause:
#
# - loader: no rank waits for its batch;
# - synchronisation: no rank reads a number back;
# - straggler: in each step, every rank computes for the mean time of all ranks in that step, idle ones too;
# - small messages: of n calls in a step, one carries everything, and `call_cost` is saved n − 1 times.
#
# A cure may make a step longer: this counts against what it saves in the others, and a negative share is less than 0.05
# too. There may be only one rank, and it may have no all-reduces. Shares may be off by 0.005.

# %%
for letter in recorded_profiles.LOOPS:
    display(recorded_profiles.shares_table(letter))

# %% [markdown] lab="hint name_the_bottleneck"
# Look at the table of loop A: every rank spends about half of its time in `all_reduce`, or more. Is the network slow? Take
# one step of A, and draw the four ranks as bars. Which rank spends the least in `all_reduce`, and what does it do meanwhile?
#
# ---
#
# Sort the spans into a dict by step and rank: microseconds of waiting, computing, reading and reducing, and the number of
# calls. From these sums you get the length of the step, and its length without each cause. Add up all steps, and divide.
# The traps: the spans of ranks that nobody waits for cost nothing; and in each step another rank may be slow.
#
# ---
#
# ```python
# steps = {}  # step -> rank -> [waiting, computing, reading, reducing, calls]
# for rank, step, name, begin, end in spans:
#     ...
# whole, without = 0, [0, 0, 0, 0]
# for ranks in steps.values():
#     tail = min(...)  # the all-reduces of the rank that comes last
#     mean = ...
#     whole += max(w + c + r for w, c, r, ... in ranks.values()) + tail
#     without[0] += max(...) + tail
#     ...
# shares = [1 - one / whole for one in without]
# return ...
# ```
#
# The check tells you the first loop for which a share differs; and after that, all four shares.


# %% lab="answer name_the_bottleneck"
def name_the_bottleneck(spans, call_cost):
    """The shares of loader, synchronisation, straggler and small messages in the time of a loop."""
    ### BEGIN SOLUTION
    kinds = {
        "next(loader)": 0,
        "forward": 1,
        "backward": 1,
        "optimizer.step": 1,
        ".item()": 2,
        "print": 2,
        "all_reduce": 3,
    }
    steps = {}
    for rank, step, name, begin, end in spans:
        own = steps.setdefault(step, {}).setdefault(rank, [0, 0, 0, 0, 0])
        own[kinds[name]] += end - begin
        own[4] += name == "all_reduce"
    whole, without = 0, [0, 0, 0, 0]
    for ranks in steps.values():
        own = list(ranks.values())
        tail = min(reducing for *_, reducing, _ in own)
        mean = sum(computing for _, computing, *_ in own) / len(own)
        length = max(w + c + r for w, c, r, *_ in own) + tail
        whole += length
        without[0] += max(c + r for w, c, r, *_ in own) + tail
        without[1] += max(w + c for w, c, r, *_ in own) + tail
        without[2] += max(w + mean + r for w, c, r, *_ in own) + tail
        without[3] += length - call_cost * max(0, own[0][4] - 1)
    shares = [1 - one / whole for one in without]
    return tuple(share if share >= 0.05 else 0.0 for share in shares)
    ### END SOLUTION


# %% lab="tests name_the_bottleneck"
check("bottlenecks.name_the_bottleneck", name_the_bottleneck)

# %% [markdown] lab="readonly about-mend_loader"
# ## 2. Mend the loader ({minutes} minutes, {points} points)
#
# This loader returns the right batches, but its consumer, the training, waits for each of them. Mend it: open less, read
# less, and prepare the next batches while the consumer works.
#
# - **You get** `store`; `order`, a list of samples, each of them once; `size`, the samples of a batch; `decode`, a function;
#   and `ahead`, 1 or more. `store.index[sample]` is `(shard, offset, length)`: where the sample's bytes are.
#   `store.open(shard)` opens a file, with `seek(offset)`, `read(length)` and `close()`, or in a `with` block. `decode(data)`
#   makes a sample from its bytes.
# - **You return** an iterator of batches, lists of `size` decoded samples in this `order`; the last batch may be
#   smaller. A function with `yield` returns one.
# - **You may use** threads, `queue`, `concurrent.futures`. No processes: what they do isn't counted.
# - **It may cost** one opening of each shard, the bytes of the samples, and one call of `decode` for each sample.
#
# While the consumer has batch i, batch i + 1 is begun before anybody asks for it; but no batch after i + `ahead` is begun,
# since finished batches take memory. A batch that is asked for counts as the one that the consumer has. A batch is begun when
# `decode` is called for one of its samples.
#
# If `decode` raises an error, the consumer gets the batches before, and the error when it asks for that batch; then it asks
# for nothing more. At the end, also after an error, and if the consumer stops early (`close()` on a generator runs what
# stands in `finally`), all shards are closed and your threads have ended. What they had begun may be finished or dropped.
# `order` may be empty. Leave it as it was.


# %% lab="given mend_loader"
def mend_loader(store, order, size, decode, ahead):
    """The batches of an epoch, in this order."""
    for first in range(0, len(order), size):
        batch = []
        for sample in order[first : first + size]:
            shard, offset, length = store.index[sample]
            with store.open(shard) as file:
                data = file.read()
            batch.append(decode(data[offset : offset + length]))
        yield batch


# %% [markdown] lab="hint mend_loader"
# Count for one batch of four samples: how many files are opened, and how many bytes are read? Then write down who does what
# while the consumer works on batch 0.
#
# ---
#
# Keep the open shards in a dict. To be ahead, let a `ThreadPoolExecutor` with one thread load batches: `submit` them in
# order, keep the futures in a deque, and hand out the first one as soon as `ahead` are behind it. `result()` waits,
# and raises what the thread has raised. The traps: a pool that is given all batches at once runs far ahead; and a generator
# that is closed early has to clean up in `finally`.
#
# ---
#
# ```python
# files, under_way = {}, deque()
# def load(first):
#     ...  # opens a shard if it isn't open, seeks, reads, decodes
# try:
#     with ThreadPoolExecutor(1) as pool:  # at its end it waits for what it was given
#         for first in range(0, len(order), size):
#             under_way.append(pool.submit(...))
#             if len(under_way) > ...:
#                 yield ...
#         ...  # the rest
# finally:
#     ...
# ```
#
# The check tells you what is opened, read and decoded, and which batch is begun too late or too early.


# %% lab="answer mend_loader"
### BEGIN SOLUTION
def mend_loader(store, order, size, decode, ahead):
    """The batches of an epoch, in this order."""
    files, under_way = {}, deque()

    def load(first):
        batch = []
        for sample in order[first : first + size]:
            shard, offset, length = store.index[sample]
            if shard not in files:
                files[shard] = store.open(shard)
            files[shard].seek(offset)
            batch.append(decode(files[shard].read(length)))
        return batch

    try:
        with ThreadPoolExecutor(1) as pool:
            for first in range(0, len(order), size):
                under_way.append(pool.submit(load, first))
                if len(under_way) > ahead:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
    finally:
        for file in files.values():
            file.close()


### END SOLUTION


# %% lab="tests mend_loader"
check("bottlenecks.mend_loader", mend_loader)

# %% [markdown] lab="readonly about-mend_tiny_collectives"
# ## 3. Mend the tiny all-reduces ({minutes} minutes, {points} points)
#
# Each call of a collective costs its latency, however little it carries. This step makes a call for each tensor. Mend it.
#
# - **You get**, on each rank: `gradients`, a list of at least one tensor, float32 or float64, of any shapes; some have no
#   elements, and some are not contiguous. `loss` is a float32 tensor of shape (); `samples` is an int, 0 or more. Gradients
#   and loss are *sums* over this rank's samples. `group` is the process group of the ranks that take part; None means
#   all of them. Give it to each collective: `group=group`.
# - **You return** a list: for each gradient its mean over the samples of *all* ranks, in the same order, of the same shape
#   and dtype; and at the end the mean loss, float32. All ranks return the same.
# - **You may use** torch and `dist.all_reduce`.
# - **It may cost** as many all-reduces as there are different dtypes among the gradients and the loss, and 16 bytes more
#   than the gradients have. So no float32 gradient may travel as float64. The 16 bytes are for the loss and the number of
#   samples, which may travel as float64 where gradients do.
#
# A rank may have no samples: its sums are 0, and it takes part. All ranks together have at least one sample and at most a
# million. Shapes and dtypes are the same on all ranks. Leave the gradients and the loss as they were.
#
# The program as given returns the right means, and makes two calls more than there are gradients.


# %% lab="given mend_tiny_collectives"
def mend_tiny_collectives(gradients, loss, samples, group=None):
    """The mean gradients of all ranks' samples, and at the end the mean loss."""
    count = torch.tensor(float(samples), device=loss.device)
    dist.all_reduce(count, group=group)
    means = []
    for tensor in [*gradients, loss]:
        total = tensor.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        means.append(total / count.item())
    return means


# %% [markdown] lab="hint mend_tiny_collectives"
# How many bytes does `count` have? And what does its call cost compared with that of the largest gradient? Take paper:
# write the numbers of two gradients, of shapes (2, 3) and (4,), into one row. What do you need to cut it up again?
#
# ---
#
# One buffer for each dtype: flatten all tensors of that dtype, `torch.cat` them, all-reduce, `split` by their numbers of
# elements, give each part its shape. The loss and the number of samples are two more float32 tensors. The traps: the
# results come in the order of the gradients, whatever their dtypes; and every rank makes the calls in the same order.
#
# ---
#
# ```python
# tensors = [*gradients, loss, torch.tensor(float(samples), device=loss.device)]
# sums = [None] * len(tensors)
# for dtype in ...:  # in an order that all ranks share: a set has none
#     own = [n for n, tensor in enumerate(tensors) if tensor.dtype == dtype]
#     buffer = ...
#     dist.all_reduce(buffer, group=group)
#     for n, part in zip(own, buffer.split(...)):
#         sums[n] = ...
# return ...
# ```
#
# The check tells you which tensor differs, how many calls a rank makes, and how many bytes travel.


# %% lab="answer mend_tiny_collectives"
### BEGIN SOLUTION
def mend_tiny_collectives(gradients, loss, samples, group=None):
    """The mean gradients of all ranks' samples, and at the end the mean loss."""
    tensors = [*gradients, loss, torch.tensor(float(samples), device=loss.device)]
    sums = [None] * len(tensors)
    for dtype in (torch.float32, torch.float64):
        own = [n for n, tensor in enumerate(tensors) if tensor.dtype == dtype]
        if own:
            buffer = torch.cat([tensors[n].flatten() for n in own])
            dist.all_reduce(buffer, group=group)
            for n, part in zip(own, buffer.split([tensors[n].numel() for n in own])):
                sums[n] = part.view(tensors[n].shape)
    return [total / sums[-1] for total in sums[:-1]]


### END SOLUTION


# %% lab="tests mend_tiny_collectives"
check("bottlenecks.mend_tiny_collectives", mend_tiny_collectives)

# %% [markdown] lab="readonly about-post_mortem"
# ## 4. Post-mortem ({minutes} minutes, {points} points)
#
# A run of 64 ranks hangs, and nobody printed anything. What is left are the dumps of torch's *flight recorder*. Find the
# one rank where the hang began.
#
# - **You get** `dumps`, a list: item r is the dump of rank r, a dict, or `None` if its process ended without one.
# - **You return** a tuple `(rank, line, cause)`. The cause is one of these four:
#   - `"absent"`: others wait for this rank, and it waits in no operation; so it is with each rank that left no dump. Its
#     line is that of the others, which wait in the operation that lacks only this rank.
#   - `"other collective"`: all ranks of a group have posted its n-th operation, and this rank's is a different collective
#     from the others'. Its line is its own.
#   - `"other size"`: the same collective, but this rank's input has a different size. Its line is its own.
#   - `"other order"`: ranks wait in a circle, because this rank posted two operations the other way round. A
#     rank is in the circle if it waits in one of the circle's operations and another one lacks it. This rank waits in
#     the operation in which the fewest of them wait. Its line is its own.
# - **You may use** anything.
# - **It may cost** nothing worth counting: there are at most 64 dumps.
#
# **A dump** has two parts. `dump["pg_config"]` has the process groups of its rank: for the group named `"3"`,
# `dump["pg_config"]["3"]["ranks"]` holds the ranks as text: `"[0, 8, 16]"`. `dump["entries"]` holds the operations that the
# rank has posted, the oldest first. The recorder keeps only the latest ones, not equally many on each rank; there may be
# none. Of an `entry` you need:
#
# | | |
# |---|---|
# | `entry["process_group"][0]` | the name of its group |
# | `entry["collective_seq_id"]` | n: it is this rank's n-th operation of the group, and meets the others' n-th |
# | `entry["profiling_name"]` | the collective, such as `"nccl:all_reduce"` |
# | `entry["input_sizes"]` | the size of its input |
# | `entry["state"]` | `"completed"`, or `"scheduled"`: posted, and not completed |
# | `entry["frames"][0]["filename"]` | the line |
#
# A rank whose last entry isn't completed waits in it; all its earlier entries are completed. A message is an operation of a
# group of two. Most ranks that an operation lacks are victims: they wait in another one.

# %%
for day in incidents.INCIDENTS:
    waits = Counter()
    for dump in incidents.recorded(day):
        last = dump["entries"][-1] if dump else None
        waits[f"{last['profiling_name']}, {last['state']}" if last else "no dump"] += 1
    print(f"{day}: {dict(waits)}")

# %% [markdown] lab="hint post_mortem"
# Take paper and one incident, Saturday's. In which operation does rank 0 wait? Which ranks of its group haven't posted
# that one? In which operations do *they* wait?
#
# ---
#
# Start at any operation in which ranks wait. If it lacks a rank that waits in another operation, go on there. If the only
# rank that it lacks waits nowhere, you have it. If nobody is missing, compare what the ranks posted. If you come to an
# operation where you have been, it's a circle. The traps: the rank that you look for may have more entries than any
# other; and an operation may lack victims, too.
#
# ---
#
# ```python
# groups, waits = {}, {}  # name -> ranks; rank -> the entry that it waits in
# ...
# posted = {}  # (group, n) -> the ranks that wait in it
# ...
# way = []
# here = ...  # any operation
# while here not in way:
#     way.append(here)
#     missing = ...
#     ...  # nobody? only one that waits nowhere? else go on
# circle = way[way.index(here):]
# ...
# ```
#
# The check tells you in which operation the rank that you name waits.


# %% lab="answer post_mortem"
def post_mortem(dumps):
    """The rank at which the hang began, the line, and the cause."""
    ### BEGIN SOLUTION
    groups, waits = {}, {}
    for rank, dump in enumerate(dumps):
        if dump:
            for name, group in dump["pg_config"].items():
                groups[name] = json.loads(group["ranks"])
            if dump["entries"] and dump["entries"][-1]["state"] != "completed":
                waits[rank] = dump["entries"][-1]
    posted = {}
    for rank, entry in waits.items():
        posted.setdefault((entry["process_group"][0], entry["collective_seq_id"]), []).append(rank)

    def line(rank):
        return waits[rank]["frames"][0]["filename"]

    way, here = [], next(iter(posted))
    while here not in way:
        way.append(here)
        missing = [rank for rank in groups[here[0]] if rank not in posted[here]]
        if not missing:
            for cause, key in (("other collective", "profiling_name"), ("other size", "input_sizes")):
                values = [str(waits[rank][key]) for rank in posted[here]]
                for rank, value in zip(posted[here], values):
                    if len(set(values)) > 1 and values.count(value) == 1:
                        return rank, line(rank), cause
        victims = [rank for rank in missing if rank in waits]
        if missing and not victims:
            return missing[0], line(posted[here][0]), "absent"
        entry = waits[victims[0]]
        here = (entry["process_group"][0], entry["collective_seq_id"])
    circle = way[way.index(here) :]
    lacked = {rank for one in circle for rank in groups[one[0]] if rank not in posted[one]}
    rank = min(([rank for rank in posted[one] if rank in lacked] for one in circle), key=len)[0]
    return rank, line(rank), "other order"
    ### END SOLUTION


# %% lab="tests post_mortem"
check("bottlenecks.post_mortem", post_mortem)

# %% [markdown] lab="readonly about-five_steps_on_three_roofs"
# ## 5. Five steps, three roofs ({minutes} minutes, {points} points)
#
# A step computes, moves bytes through its device's memory, and sends bytes to other devices. If the three overlap
# perfectly, the step takes as long as the slowest of them: that is the **roof** that it hits. Which one is it?
#
# - **You get** `N`, the number of parameters; `T`, tokens (1 or more); `K`, devices (1 or more); `cache`, the bytes of the
#   keys and values of *one* sequence; and for each device `peak` in FLOP/s, `memory` in bytes/s (reading and writing alike)
#   and `network`, the bytes/s that it can send.
# - **You return** a dict. For each of the five names below, it has a pair: seconds, and the roof, `"compute"`, `"memory"` or
#   `"network"`. If two are equal, either will do.
# - **You may use** anything.
# - **It may cost** nothing.
#
# A weight has 2 bytes, and so has its gradient. What each device does in a step:
#
# | name | FLOPs | through the memory | sent |
# |---|---|---|---|
# | `"prefill"` | 2 for each parameter and each of T tokens | it reads all weights once | nothing |
# | `"decode"`: one token for each of T sequences | 2 for each parameter and token | it reads all weights once, and the cache of each sequence | nothing |
# | `"data parallel"`: forward and backward | 6 for each parameter and each of T tokens | it reads all weights twice, and writes all gradients | an all-reduce of all gradients, as a ring: 2·(K − 1)/K of their bytes |
# | `"fully sharded"`: forward and backward | the same | the same | two all-gathers of all weights and one reduce-scatter of all gradients: (K − 1)/K of the bytes each |
# | `"optimizer"`: Adam, of all N parameters | 12 for each parameter | for each parameter it reads the gradient and three float32, writes these three, and writes the weight | nothing |
#
# T counts the tokens of one device. All else (activations, say) is left out.

# %% [markdown] lab="hint five_steps_on_three_roofs"
# Take decode with N = 7·10⁹, T = 1, and a device with 10¹⁵ FLOP/s and 3.35·10¹² bytes/s. How long does it compute? How
# long does it read? What changes with T = 1,000?
#
# ---
#
# Write down three numbers for each step: FLOPs, bytes moved, bytes sent. Divide each by its rate. The largest result is
# the time, and its place names the roof. The traps: bytes, not numbers of parameters; and with K = 1 nothing is sent.
#
# ---
#
# ```python
# work = {
#     "prefill": (2 * N * T, ..., 0),
#     "decode": (..., ..., 0),
#     "data parallel": (6 * N * T, ..., 2 * (K - 1) / K * ...),
#     "fully sharded": (..., ..., ...),
#     "optimizer": (..., ..., 0),
# }
# ...  # of each: three times, the largest, and its name
# ```
#
# The check tells you the first step and machine for which your answer differs; and after that, the three numbers.


# %% lab="answer five_steps_on_three_roofs"
def five_steps_on_three_roofs(N, T, K, cache, peak, memory, network):
    """For each of the five steps, by name: (seconds, the roof)."""
    ### BEGIN SOLUTION
    work = {
        "prefill": (2 * N * T, 2 * N, 0),
        "decode": (2 * N * T, 2 * N + cache * T, 0),
        "data parallel": (6 * N * T, 6 * N, 2 * (K - 1) / K * 2 * N),
        "fully sharded": (6 * N * T, 6 * N, 3 * (K - 1) / K * 2 * N),
        "optimizer": (12 * N, 28 * N, 0),
    }
    found = {}
    for name, (flops, moved, sent) in work.items():
        times = {"compute": flops / peak, "memory": moved / memory, "network": sent / network}
        roof = max(times, key=times.get)
        found[name] = (times[roof], roof)
    return found
    ### END SOLUTION


# %% lab="tests five_steps_on_three_roofs"
check("bottlenecks.five_steps_on_three_roofs", five_steps_on_three_roofs)

# %% [markdown] lab="readonly extra"
# # More, for those who want it
#
# These exercises are extra.

# %% [markdown] lab="readonly about-kv_cache_bytes"
# ## 6. The bytes of a KV cache ({minutes} minutes, {points} points)
#
# Decoding reads the keys and values of all earlier tokens. How much memory do they take?
#
# - **You get** `layers`; `heads`, the attention heads of a layer; `kv_heads`, the number of different pairs of keys and values
#   (heads share them in groups of equal size); `width`, the numbers of a token, a multiple of `heads`;
#   `lengths`, a list of the tokens of each sequence, 0 or more; `nbytes`, the bytes of a number; and `block`, the tokens of
#   a block, 1 or more.
# - **You return** the bytes of the whole cache, an integer.
# - **You may use** anything.
# - **It may cost** nothing.
#
# In each layer, each token has a key and a value for each of the `kv_heads`; each key and each value has `width/heads`
# numbers. A sequence takes whole blocks: the last one may not be full, and a sequence without tokens has none. Sequences
# share no blocks.


# %% lab="answer kv_cache_bytes"
def kv_cache_bytes(layers, heads, kv_heads, width, lengths, nbytes, block):
    """The bytes of the keys and values of all sequences."""
    ### BEGIN SOLUTION
    tokens = sum((length + block - 1) // block * block for length in lengths)
    return 2 * layers * kv_heads * (width // heads) * nbytes * tokens
    ### END SOLUTION


# %% lab="tests kv_cache_bytes"
check("bottlenecks.kv_cache_bytes", kv_cache_bytes)

# %% [markdown] lab="readonly about-bucket_by_length"
# ## 7. Bucket by length ({minutes} minutes, {points} points)
#
# Each text of a step is padded to the longest of that step, on all ranks, since they wait for each other. Put texts of
# like length together, and let an epoch stay random. (Section 3 of the lesson.)
#
# - **You get** `lengths`, a list with the tokens of each sample, 1 or more; `size`, the samples of a batch; `ranks`; and
#   `window`, in steps: all three are 1 or more; and `seed` and `epoch`, integers from 0 on.
# - **You return** the steps of the epoch, a list. A step is a list of `ranks` batches, one for each rank. A batch is a list
#   of exactly `size` numbers of samples, counted from 0.
# - **You may use** anything.
# - **It may cost**, in each window, the least padding: no other way to make steps of the same samples computes fewer
#   tokens. A step computes `ranks·size` times the tokens of its longest sample.
#
# An epoch is made in this way. Draw a random order of all samples. Its first `window·ranks·size` samples are the first
# window, the next ones are the second, and so on. The last window may have fewer steps. Samples at the end that fill no
# step are left out, before anything is sorted: each sample is as likely to be left out as any other. In each window, sort
# the samples by length, cut them into steps, and shuffle the steps. Return the steps window by window.
#
# So no sample comes twice. How the samples of a step are dealt to its batches doesn't matter.
#
# Each rank calls your function itself, with the same arguments, and must get the same steps, whatever random numbers it
# has drawn before. Every other pair of seed and epoch draws another order: (1, 2) and (2, 1), too. So where there is more than
# one window, or samples are left out, other samples stand in them.
#
# An example: with `lengths` [3, 9, 4, 8, 5, 5], `size` 1, `ranks` 2 and `window` 3, there is one window, and
# `[[[4], [5]], [[2], [0]], [[1], [3]]]` is right. It computes 2·5 + 2·4 + 2·9 = 36 tokens.


# %% lab="answer bucket_by_length"
def bucket_by_length(lengths, size, ranks, window, seed, epoch):
    """The steps of an epoch: for each, a batch of each rank."""
    ### BEGIN SOLUTION
    dice, step = random.Random(f"{seed} {epoch}"), ranks * size
    order = dice.sample(range(len(lengths)), len(lengths))
    order = order[: len(order) // step * step]
    epoch_steps = []
    for first in range(0, len(order), window * step):
        near = sorted(order[first : first + window * step], key=lambda sample: lengths[sample])
        own = [near[n : n + step] for n in range(0, len(near), step)]
        dice.shuffle(own)
        epoch_steps += [[one[n : n + size] for n in range(0, step, size)] for one in own]
    return epoch_steps
    ### END SOLUTION


# %% lab="tests bucket_by_length"
check("bottlenecks.bucket_by_length", bucket_by_length)

# %% [markdown] lab="readonly about-pack_shards"
# ## 8. Pack shards ({minutes} minutes, {points} points)
#
# Many small files take an open each, in each epoch. Pack them into a few shards, once, and read them from there. (Section
# 2 of the lesson.)
#
# - **You get** `store`; `names`, a list of different strings, the small files; and `limit`, 1 or more: the bytes of a shard.
#   `store.open(name)` opens a small file. `store.create()` makes a new shard and opens it for `write(data)`; the shards are
#   numbered 0, 1, 2 … as they are made. `store.open_shard(number)` opens one of them for reading. What is open for reading
#   has `seek(offset)` and `read(length)`; `read()` gives all that is left. All have `close()`, and go into a `with` block.
# - **You return** a function `read`. Called as `read(some)`, with some of the names, it gives the bytes of these files, in
#   the order of `some`: as an iterator or a list. A function with `yield` inside of yours is one.
# - **You may use** anything.
# - **It may cost**, for packing, one opening of each small file; for each call of `read`, one opening of each shard that
#   has any of these files, and their bytes.
#
# In the shards the files stand in the order of `names`, with nothing between them. A shard has at most `limit` bytes; only
# a file that is larger has more, and a shard of its own. A new shard is made only if the next file doesn't fit into the
# last one, and no shard is empty. A file may be empty: it fits everywhere, also behind a
# file that is larger than a shard. Where all files are empty, one empty shard may be made.
#
# `some` has each of its names once, in any order; it may be empty. `read` may be called many times. It gets what it gives
# from the shards: no content stays in memory, and the small files are not opened again.
#
# When you return, all is closed; so it is when a `read` has come to its end, or is stopped early, even before its first file
# (`close()` on a generator runs what stands in `finally`, if the generator has begun).
#
# An example: files `"a/1"`, `"b/1"` and `"c"`, of 3, 4 and 2 bytes, and a limit of 8. Shard 0 has 7 bytes, the first two
# files, and shard 1 has 2. `read(["c", "a/1"])` opens both, and gives 2 bytes and then 3.


# %% lab="answer pack_shards"
def pack_shards(store, names, limit):
    """Packs the small files into shards. Returns a function that reads some of them."""
    ### BEGIN SOLUTION
    index, shard, number, used = {}, None, -1, 0
    for name in names:
        with store.open(name) as file:
            data = file.read()
        if shard is None or (used and data and used + len(data) > limit):
            if shard is not None:
                shard.close()
            shard, number, used = store.create(), number + 1, 0
        shard.write(data)
        index[name] = (number, used, len(data))
        used += len(data)
    if shard is not None:
        shard.close()

    def read(some):
        files = {}
        try:
            for name in some:
                number, offset, length = index[name]
                if number not in files:
                    files[number] = store.open_shard(number)
                files[number].seek(offset)
                yield files[number].read(length)
        finally:
            for file in files.values():
                file.close()

    return read
    ### END SOLUTION


# %% lab="tests pack_shards"
check("bottlenecks.pack_shards", pack_shards)

# %% [markdown] lab="readonly about-resume_exactly"
# ## 9. Resume exactly ({minutes} minutes, {points} points)
#
# A job is killed in the middle of an epoch, and starts again from a checkpoint, maybe on fewer ranks. Write a loader that
# goes on where the training was. (Section 4 of the lesson.)
#
# - **You get** `samples`, the number of samples; `batch`, the samples of a batch; `rank` and `ranks`; and `seed`.
# - **You return** the loader of this rank: an object of a class of yours, with three methods:
#   - `__iter__()`: `for numbers in loader` gives what is left of the epoch, batch by batch: lists of exactly `batch` numbers
#     of samples, counted from 0. When it has ended, the epoch is over, and the next `for` gives the next epoch.
#   - `state_dict()`: where the training is, as a dict. `json.dumps` of it has at most 200 characters. At the same moment it
#     is the same on all ranks, and what happens later doesn't change it.
#   - `load_state_dict(state)`: from now on this loader goes on from there, wherever it was. The seed and the samples are
#     the same as before. The state has been through `json.dumps` and `json.loads`: keys are then text, and tuples lists.
#     This dict stays as it is, whatever happens later.
# - **You may use** anything. Ranks send each other nothing.
# - **It may cost** nothing worth counting.
#
# All ranks take their batches at the same time: a step is `ranks·batch` samples. Each epoch has a random order of all
# samples, another one for each epoch and each seed. In an epoch no sample is seen twice, on whatever rank; and all are
# seen, but for those that fill no whole step.
#
# A batch counts as seen when the `for` has got it. So a state may be taken inside of the loop, after any batch; or before
# the loop, or after it. After a `break`, or from a state that was loaded, the next `for` goes on with what is left. If that
# fills no whole step, the `for` ends at once, and the epoch with it.
#
# A loader that loads a state may have other `ranks` and another `batch` than the one that wrote it. What is left of the
# epoch is then dealt to these: again no sample twice, and none missing but for those that fill no step of the new size.
# With the same `ranks` and `batch`, it gives exactly what the old one would have given, in this epoch and in the next.
#
# An example: 10 samples, 2 ranks, batches of 2. After the first step the job stops; 4 samples are seen. It goes on with one
# rank and batches of 3: two batches, with the other 6 samples.


# %% lab="answer resume_exactly"
def resume_exactly(samples, batch, rank, ranks, seed):
    """A loader of this rank, which can say where it is, and go on from there."""

    ### BEGIN SOLUTION
    class Loader:
        epoch, taken = 0, 0

        def __iter__(self):
            order = list(range(samples))
            random.Random(f"{seed} {self.epoch}").shuffle(order)
            while self.taken + ranks * batch <= samples:
                first = self.taken + rank * batch
                self.taken += ranks * batch
                yield order[first : first + batch]
            self.epoch, self.taken = self.epoch + 1, 0

        def state_dict(self):
            return {"epoch": self.epoch, "taken": self.taken}

        def load_state_dict(self, state):
            self.epoch, self.taken = state["epoch"], state["taken"]

    return Loader()
    ### END SOLUTION


# %% lab="tests resume_exactly"
check("bottlenecks.resume_exactly", resume_exactly)

# %% [markdown] lab="readonly about-overlap_copies"
# ## 10. Overlap copies ({minutes} minutes, {points} points)
#
# Each batch is copied to the GPU, and then computed. Do both at the same time: while a batch is computed, the next ones
# are copied into other buffers. With two buffers this is called *double buffering*. The GPU is a virtual one, and so is its
# time. (Section 5 of the lesson.)
#
# - **You get** `gpu`; `batches`, their number, 0 or more; and `buffers`, 1 or more: the places in the GPU's memory that hold
#   a batch each.
# - **You return** nothing.
# - **You may use** four methods of `gpu`:
#   - `gpu.copy(batch, buffer, after=[])` puts the copy of a batch into a buffer in the copy stream, and returns its event;
#   - `gpu.compute(batch, buffer, after=[])` puts the step of a batch, which reads this buffer from its beginning to its end,
#     in the compute stream, and returns its event;
#   - `gpu.wait(event)`: the host waits until this is done;
#   - `gpu.synchronize()`: the host waits until all is done.
# - **It may cost** the time of the best way to do it, and 1 % more. You need not wait for the end: what is in the streams
#   when you return is run.
#
# Batches and buffers are counted from 0. The host goes on as soon as it has launched something. What is in a stream runs in
# the order of its launches, and begins when what was launched in the same stream before is done, and all events in `after`
# are. The two streams wait for each other only where you say so. A launch takes the host little time, and no copy or
# step is so short that this counts.
#
# Each batch is copied once and computed once, in the order of their numbers. A step may begin only when its batch is in its
# buffer; and nothing may be copied into a buffer while a step that was launched before still has to read it. That must hold
# however long each copy and each step takes: you don't know, and they differ. More buffers let copies run further ahead.
#
# An example: 3 batches, 2 buffers, copies of 2 ms and steps of 5 ms. The copies of batches 0 and 1 end after 2 and 4 ms. The
# steps run from 2 to 7, 7 to 12 and 12 to 17 ms. Batch 2 goes into the buffer of batch 0, at 7 ms: before, its step is not
# done. All takes 17 ms; one after the other it would be 21.


# %% lab="answer overlap_copies"
def overlap_copies(gpu, batches, buffers):
    """Copies and computes all batches, both at the same time where buffers allow it."""
    ### BEGIN SOLUTION
    copied, computed = {}, {}

    def copy(batch):
        read = [computed[batch - buffers]] if batch >= buffers else []
        copied[batch] = gpu.copy(batch, batch % buffers, after=read)

    for batch in range(min(buffers, batches)):
        copy(batch)
    for batch in range(batches):
        computed[batch] = gpu.compute(batch, batch % buffers, after=[copied[batch]])
        if batch + buffers < batches:
            copy(batch + buffers)
    ### END SOLUTION


# %% lab="tests overlap_copies"
check("bottlenecks.overlap_copies", overlap_copies)

# %% [markdown] lab="readonly about-is_starved"
# ## 11. Catch a starved loop ({minutes} minutes, {points} points)
#
# Now you write the test. Somebody hands you a training loop of one host and one GPU. Say `True` if its loader starves the
# GPU, and `False` if not. (Sections 3 and 5 of the lesson.)
#
# - **You get** `fn`. `fn(steps)` runs the loop for so many steps, 1 or more, in virtual time, and returns what was recorded:
#   a list of tuples `(lane, step, name, begin, end)`, in no order, with times in microseconds. Steps are counted from 0. No
#   two runs take exactly as long.
# - **You return** `True` or `False`.
# - **You may use** anything.
# - **It may cost** at most 1,000 steps in all.
#
# | lane | name | |
# |---|---|---|
# | `"host"` | `"next(loader)"` | the host waits for the step's batch |
# | | `"python"`, `"launch"`, `".item()"`, `"copy"` | it does something else, or waits for the GPU |
# | `"copy"` | `"copy"` | the batch is copied to the GPU |
# | `"compute"` | `"kernel"` | the GPU computes |
#
# The loader **starves** the GPU if, in a run of 400 steps, the GPU computes nothing *while the host is in `next(loader)`* for
# 5 % of the time or more. The time, and all in it, begins when step 10 begins on the host: loaders need a few
# steps to get going. Kernels of earlier steps that run then count as computing. It ends with the last span. No loop is near
# the bound: it is less than 2 %, or more than 8 %.
#
# A host runs ahead of its GPU: it may wait for a batch while kernels of earlier steps run, and that costs nothing. A GPU may
# be idle for other reasons. A loader may be late only now and then, or only from some step on.
#
# An example: the host is in `next(loader)` from 0 to 60 µs, and a kernel runs from 20 to 50. So for 30 µs the GPU computes
# nothing meanwhile. If the time is 100 µs, that is 30 %: `True`.


# %% lab="answer is_starved"
def is_starved(fn):
    """Whether the GPU waits for the loader in 5 % of the time or more."""
    ### BEGIN SOLUTION
    spans = fn(400)
    begins = min(begin for lane, step, _, begin, _ in spans if lane == "host" and step == 10)
    ends = max(end for *_, end in spans)
    kernels = sorted((begin, end) for lane, _, _, begin, end in spans if lane == "compute")
    idle, free = [], begins
    for begin, end in kernels:
        if begin > free:
            idle.append((free, begin))
        free = max(free, end)
    idle.append((free, ends))
    starved = 0
    for _, _, name, begin, end in spans:
        if name == "next(loader)" and end > begins:
            starved += sum(max(0, min(end, b) - max(begin, a)) for a, b in idle)
    return starved >= 0.05 * (ends - begins)
    ### END SOLUTION


# %% lab="tests is_starved"
check("bottlenecks.is_starved", is_starved)

# %% [markdown] lab="readonly about-checkpoint_without_stopping"
# ## 12. Checkpoint without stopping ({minutes} minutes, {points} points)
#
# A training that waits until its checkpoint is written does nothing meanwhile. Write in the background: what is written is
# the state of that step, though the training goes on. (Section 4 of the lesson.)
#
# - **You get** `train_step`, a function without arguments that makes a step; `state`, a dict of tensors by name, which each
#   step changes in place; `steps`, 0 or more; `every`, 1 or more; and `disk`.
# - **You return** a list of the steps whose checkpoint could not be written, in their order.
# - **You may use** threads, `queue`, `concurrent.futures`. Processes don't see this disk.
# - **It may cost** one copy of the state in memory. A copy that is written may stay until the next one is made.
#
# Call `train_step()` `steps` times, in the thread that calls you. After step `every`, 2·`every`, … (the first step is 1) make
# a checkpoint of what the state is *then*.
#
# `disk.write(name, copy)` writes a dict of tensors to the file of that name, which takes long. It reads them until it
# returns, and not later. If it fails, it raises `OSError`, and leaves a part of the file behind; no other error comes.
# `disk.rename(old, new)` gives a file another name at once; a file that had this name before is gone. It does not fail.
#
# - The training goes on while a checkpoint is written.
# - From the first good checkpoint on, the file `"checkpoint"` is whole at every moment. It has what the last good checkpoint
#   wrote: rename at once when its write is done, and don't wait for the training. Other files may be left, whole or not.
# - Only one checkpoint is written at a time, and no second copy waits: if the one before is still being written when the
#   next one is due, wait for it, and only then copy.
# - A write that fails stops nothing: the training goes on, the next checkpoint is made as always, and nothing is tried again.
# - When you return, all is written, and your threads have ended.
#
# An example: with 7 steps and `every` 3, there are checkpoints after steps 3 and 6. While the first one is written, steps 4
# to 6 are made. If its write fails, `[3]` is returned, and `"checkpoint"` has the state after step 6.


# %% lab="answer checkpoint_without_stopping"
def checkpoint_without_stopping(train_step, state, steps, every, disk):
    """Trains, and writes checkpoints meanwhile. Returns the steps whose checkpoint failed."""
    ### BEGIN SOLUTION
    failed = []

    def write(step, copy):
        try:
            disk.write("checkpoint.part", copy)
        except OSError:
            failed.append(step)
        else:
            disk.rename("checkpoint.part", "checkpoint")

    with ThreadPoolExecutor(1) as pool:
        last = None
        for step in range(1, steps + 1):
            train_step()
            if step % every == 0:
                if last:
                    last.result()
                last = pool.submit(write, step, {name: tensor.clone() for name, tensor in state.items()})
    return failed
    ### END SOLUTION


# %% lab="tests checkpoint_without_stopping"
check("bottlenecks.checkpoint_without_stopping", checkpoint_without_stopping)

# %% [markdown] lab="readonly where-next"
# ## Where to go from here
#
# Record a training run of your own with `torch.profiler`, and draw it: `lockstep show trace.json`. Keep the flight recorder
# on in long runs: the dumps cost little, and torch's `fr_trace` reads them as you did. At the end of the lesson's
# [more](../../course/13_bottlenecks/more.ipynb) you write a report on your own training run.
