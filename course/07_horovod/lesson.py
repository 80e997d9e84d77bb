# %% [markdown]
# # 07 Horovod
#
# **What must ranks agree on before they can add?**
#
# **Horovod** (Uber, 2017) is the library with which many people first averaged gradients. Here it is the real one:
# version 0.28.1, on processes of this machine.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | 50 | sections 1 to 8 |
# | Short path | 15 | sections 1, 2 and 8, the wrap-up; then `distribute` in the lab |
# | [Lab](../../labs/07_horovod/lab.ipynb) | 110 | four exercises, and one for those who want more |
#
# From units 04 and 05 you need the all-reduce, DDP's buckets, and the learning rate of large batches.
#
# Horovod must be compiled. The cell below says whether it is here, and offers to build it. Without it, cells show what
# was recorded elsewhere, and say so.

# %%
import torch
import torch.distributed as dist
from IPython.display import display

from lockstep import predict, quiz, reconcile, run, show, your_turn
from lockstep.experiments.horovod import commits, dialects, legacy, scaling, six_steps
from lockstep.experiments.horovod import tell, tf_distribute, your_line
from lockstep.experiments.horovod.recorded import or_recorded
from lockstep.lessons import horovod_ready
from lockstep.with_horovod import frameworks

horovod_ready()

# %% [markdown]
# ## 1. Six small steps · 6 minutes · short path
#
# The notes say of Horovod: “serial => distributed with minimal code changes”. Here is a serial script. Started on four
# ranks, it trains four models that never meet.

# %%
print(six_steps.steps()[0].source)

# %% [markdown]
# Six small steps make a Horovod script of it:
#
# 1. **init**: `hvd.init()`. From then on there are `hvd.rank()` and `hvd.size()`.
# 2. **shard**: a `DistributedSampler` gives each rank its share: in a new order each epoch, if `set_epoch` tells it.
# 3. **rate**: K ranks take K times the rate (unit 05).
# 4. **average**: `hvd.DistributedOptimizer` starts an all-reduce of each gradient during the backward pass.
# 5. **broadcast**: all begin with rank 0's weights and momentum.
# 6. **save**: only rank 0 does.

# %% lesson="predict alike"
predict(
    "alike",
    "You forget one of these: the sampler, set_epoch, the rate, the average, the broadcast, the save. In how many of the "
    "six cases do the ranks end with different weights?",
)

# %% lesson="after alike"
forgotten = or_recorded("forgotten")
different = sum(row["spread"] > 0 for row in forgotten["rows"])
display(reconcile("alike", measured=different), tell.forgotten_table(forgotten))

# %% [markdown] lesson="reason alike"
# **Our reason.** Two. Without the average, each rank trains alone. Without the broadcast, all make the same steps from
# different places. Nothing tells you so. If one of the other four is missing, the ranks agree, but on a training that
# you did not want. Only a forgotten `hvd.init()` is reported. In the lab you put all six into the script.

# %% lesson="quiz steps"
quiz(
    "steps",
    "One rank makes 128 steps an epoch, with 32 examples each. How many steps does each of 8 ranks make in an epoch, with 32 "
    "examples each?",
    answer=16,
    because="4,096 examples, of which a step of all ranks uses 8 · 32 = 256.",
    wrong={
        128: "Then each rank would go through all examples. Which step did you leave out?",
        4: "Do the ranks share the 32 examples? Each has a batch of its own.",
        1024: "That is what all ranks together do in an epoch without sharding.",
        8: "That is the number of ranks. How many examples does a step of all of them use?",
    },
)

# %% [markdown]
# ## 2. Who goes first? · 8 minutes · short path
#
# In `torch.distributed` a call has no name: a rank's first all-reduce meets the others' first. But in which order do
# gradients become ready? In a model with branches, the order may differ from rank to rank, and from step to step.
#
# Below, a is 1 on rank 0 and 2 on rank 1; b is 10 and 20. Rank 0 sums a first, rank 1 sums b first.


# %%
def either_way():
    mine = 1.0 + dist.get_rank()
    a, b = torch.tensor([mine]), torch.tensor([10 * mine])
    for x in (a, b) if dist.get_rank() == 0 else (b, a):
        dist.all_reduce(x)
    return a.item(), b.item()


# %% lesson="predict order"
predict("order", "What does rank 0 have in a at the end?")

# %% lesson="after order"
simulated = run(either_way, ranks=2, on="virtual").values
measured = run(either_way, ranks=2, on="processes").values
print("a and b, on rank 0 and on rank 1:", *simulated)
reconcile("order", simulated=simulated[0][0], measured=measured[0][0])

# %% [markdown] lesson="reason order"
# **Our reason.** Rank 0's first all-reduce carries a, rank 1's carries b: 1 + 20. Nothing reports an error. With
# tensors of different sizes, you may get an error, a wrong sum, or a wait without end. Training on such sums goes on,
# and learns something else.

# %% [markdown]
# DDP therefore fixes one order for its buckets. Horovod's tensors have *names*: `a` meets `a`.
#
# Below, Horovod runs the same program in two ways. First each rank starts both all-reduces, and then waits for both.
# Then each rank waits for its first one before it starts its second.

# %%
orders = or_recorded("orders")
print("started, then awaited: a and b on each rank:", *orders["sums"])
print("awaited at once:", orders["told"])

# %% [markdown]
# So names help only if no rank waits too early. Rank 0 waits for a. Rank 1 never starts a, because it waits for b. The
# report is Lockstep's. Horovod itself would warn after a minute, and go on waiting. `DistributedOptimizer` starts its
# all-reduces during the backward pass, and waits for all of them in `step()`.

# %% lesson="quiz blocking"
quiz(
    "blocking",
    "Three ranks start all-reduces of a and b with allreduce_async, rank 2 in the other order, and then wait for both. Rank 1 "
    "leaves out b. Which all-reduces are done?",
    choices=["both", "only a", "only b", "none"],
    answer="only a",
    because="All three have started a. For b the others wait until rank 1 starts it, or ends.",
    wrong={
        "both": "Who adds rank 1's share of b?",
        "only b": "Rank 1 has not started b.",
        "none": "The order does not matter: a is ready on all three.",
    },
)

# %% [markdown]
# ## 3. The coordinator · 10 minutes
#
# How do ranks find out what is ready everywhere? Each could ask all others. Horovod has a **coordinator**: rank 0. It
# works in **cycles**: by default, one begins each millisecond. In each, every rank tells rank 0 the names of the
# tensors that have become ready. Rank 0 counts, and sends back one list: what all sum now, in this order.
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
display(your_line.negotiated_table(ready_now), tell.negotiation_table())

# %% [markdown] lesson="after ready_now"
# The second table counts what that costs beside the all-reduces. Most of the bytes are names.

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
)

# %% lesson="after bits"
display(reconcile("bits", simulated=tell.told_by_bits(gradients=161)))
tell.negotiation_table(cached=True)

# %% [markdown] lesson="reason bits"
# **Our reason.** One *bit* for each gradient: all ranks know which one is number 0, 1, …. Two more (in Horovod four)
# say, for example, “all of mine are known”. That is 163 bits, in words of 8 bytes: three words. A bitwise *and* leaves
# what is ready on all ranks. Names would take thousands of bytes, from each rank to rank 0. On 6,000 GPUs that held
# Horovod back. With this cache and with grouped gradients it was twice as fast (Romero et al., 2022).

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
# ## 4. A timeline, and what is fused · 10 minutes
#
# Horovod writes its own timeline, on rank 0. Here is one: two steps of a model with three layers, on three ranks. Each
# gradient has a lane. A tick is one rank that has it ready, as rank 0 hears it. In the first step, look at the first
# tick, and at the right end of the grey bar: that is how long all wait for the late rank. The second step has no
# ticks: its names are in the cache.

# %%
step = or_recorded("a_step")
show.horovod(step["timeline"])

# %% [markdown]
# One all-reduce of many small gradients is cheaper than many all-reduces: each one costs the latency of a whole ring.
# So Horovod copies the gradients of a cycle into one **fusion buffer** of 128 MiB, sums it, and copies the sums back.
# DDP's buckets do the same, but are fixed in advance.
#
# All gradients in one buffer have the same type. No gradient is cut in two.

# %% lesson="predict fused"
predict(
    "fused",
    "20 gradients of 9,000 bytes each become ready in one cycle. The buffer has 16,000 bytes. How many all-reduces "
    "are carried out?",
)

# %% lesson="after fused"
fused = or_recorded("fused")
display(reconcile("fused", measured=len(fused["rows"][0]["carries"])))
tell.fused_table(fused)

# %% [markdown] lesson="reason fused"
# **Our reason.** A second gradient does not fit beside the first: 18,000 bytes. So each goes alone, and nothing is
# fused. If gradients could be cut, 20 · 9,000 bytes would fit into twelve buffers. Two types that come by turns become
# two operations, not twenty: Horovod looks further down the list for gradients of the same type.

# %% [markdown]
# **Your turn.** A timeline shows which gradients went together: those whose spans in `GLOO_ALLREDUCE` overlap. Below,
# your line reads the timeline from above.


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
your_line.operations_table(together, step["timeline"])

# %% lesson="quiz thirty"
quiz(
    "thirty",
    "The same 20 gradients of 9,000 bytes; the buffer has 30,000. How many all-reduces?",
    answer=7,
    because="Three fit: 27,000 bytes. Six buffers of three, and one of two.",
    wrong={
        6: "20 · 9,000 / 30,000 is 6. But none is cut in two: how many fit into one?",
        20: "Two fit together now. Three?",
        10: "A third one still fits beside two.",
        3: "That is how many fit into one buffer.",
    },
)

# %% [markdown]
# Two more things that Horovod does. **fp16 compression** sends float32 gradients as float16: half the bytes. A
# **process set** is a group with a negotiation of its own: below, each pair of four ranks sums its own numbers beside
# the sum of all.

# %%
display(tell.half_precision_table(or_recorded("half_precision")))
tell.process_sets_table(or_recorded("process_sets"))

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 5. Does it scale? · 5 minutes
#
# Horovod's documentation says: on 128 servers with 4 GPUs each, ResNet-101 reached 90 % of 512 times one GPU's speed.
# VGG-16 reached less. VGG-16 has 13 convolutions. Then come 3 dense layers. The first one takes 25,088 numbers to
# 4,096: it has 74 % of all parameters.

# %% lesson="predict vgg"
predict(
    "vgg",
    "That one layer has 74 % of VGG-16's gradient. What percentage of the multiplications of a forward pass does it do?",
    unit="%",
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
# ## 6. Elastic · 9 minutes
#
# 512 GPUs, and one dies. All others wait for it in the next all-reduce: unit 04's hang, or an error. **Elastic**
# Horovod goes on with those that are left, and with those that come.
#
# What changes from step to step is kept in a **state**. When a rank dies or comes, Horovod calls `train` again, with the
# state of the last commit:
#
# ```python
# state = hvd.elastic.TorchState(...)  # what must survive
#
# @hvd.elastic.run
# def train(state): ...
#
# state.commit()  # keep a copy, in memory
# ```

# %% [markdown]
# **Your turn.** Below, real workers are killed, by SIGKILL. Your line's answer stands beside what the others did.


# %% lesson="turn goes_on"
def goes_on(killed, every):
    """Steps are 0, 1, 2, ... After every `every` steps all ranks commit. One dies in
    step number `killed`. With which step do the others go on?"""
    ### BEGIN SOLUTION
    return killed // every * every
    ### END SOLUTION


# %% lesson="behind goes_on"
cases = [(7, 3), (5, 3), (6, 3), (0, 3), (2, 3), (3, 3), (9, 1), (10, 10), (9, 10), (1234, 100), (1, 2), (99, 50)]
wrong = {
    lambda killed, every: killed: "In that step they have lost a rank. Their weights go back to the last commit.",
    lambda killed, every: killed - every: "If the last commit was `every` steps ago. When was it?",
    lambda killed, every: killed // every: "That counts the commits. How many steps were done then?",
    lambda killed, every: (killed // every + 1) * every: "That is the next commit. It has not come yet.",
    lambda killed, every: (killed - 1) // every * every: "If three steps are done and committed, number 3 is next.",
}
well = "Right: the number of the step is in the state, as it was at the last commit."

# %% lesson="after goes_on"
elastic = or_recorded("elastic")
display(your_line.goes_on_table(goes_on, elastic["runs"]))
tell.elastic_table(elastic)

# %% [markdown] lesson="after goes_on"
# In the second table, follow a row: the step numbers go back once, and the number of ranks changes. Yet the weights at
# the end are those of serial training. The ranks that are there share the whole batch of each step.

# %% lesson="predict often"
predict(
    "often",
    "A commit takes half as long as a step, and a rank fails once in 400 steps. With how many steps between two commits do "
    "you lose the least time?",
    unit="steps",
)

# %% lesson="after often"
display(reconcile("often", simulated=commits.cheapest(commit=0.5, between=400)))
commits.commits_table(commit=0.5, between=400)

# %% [markdown] lesson="reason often"
# **Our reason.** With n steps between two commits, each step pays 0.5/n for commits. A failure costs n/2 steps on
# average, once in 400. The sum is smallest where both are equal: n = √(2 · 0.5 · 400) = 20 (Young, 1974). With a tenth
# of the failures, a third of the commits is enough.

# %% lesson="quiz elastic"
quiz(
    "elastic",
    "A training has 20 steps, with a commit after every 5. A rank dies in step number 13. How many steps do the others "
    "complete in all?",
    answer=23,
    because="0 to 12 are 13 steps. They go on with 10: 10 more.",
    wrong={
        20: "Some are made twice: those since the last commit.",
        25: "Only the steps since the last commit are made twice. How many had been completed?",
        24: "In step 13 a rank died: that one was not completed.",
        33: "That would be without commits.",
        22: "They go back to step 10, and had completed 10, 11 and 12.",
    },
)

# %% [markdown]
# ## 7. The same script today · 3 minutes
#
# DDP does inside torch what Horovod does beside it. Lightning hides DDP in a `Trainer`. The table shows what the six
# steps become. Its first row counts lines that the serial script does not have. (Lightning is not installed: ours is a
# small trainer in its style.)
#
# TensorFlow's way is a **strategy**. The listing is not run: TensorFlow is not installed. Look for `workers * rate`: the
# rate is still yours. The strategy and `fit` do the rest; `TF_CONFIG` says who takes part.

# %%
display(dialects.dialects_table())
print(tf_distribute.LISTING)

# %% [markdown]
# ## 8. What remains · 3 minutes · short path
#
# Horovod is **legacy**. Its last release, 0.28.1, is from June 2023. The first table says who has left it. The second
# says what it gave, and where you find that today. For a new script, take DDP. But you will meet Horovod in old scripts,
# and its ideas everywhere.

# %%
display(legacy.left_table(), legacy.gave_table())

# %% [markdown]
# Here is the notes' list of frameworks, in their words, beside what we count. Look at the first row: what has changed?
# The second table has names that have moved since.

# %%
display(legacy.notes_table(), frameworks.then_and_now())

# %% [markdown]
# The rows on Horovod and Lightning agree with what we count. DDP needs one line more than Horovod here.

# %% [markdown]
# ## Wrap-up
#
# You can now say:
#
# - six steps from a serial script to a distributed one;
# - why ranks may add what does not belong together, and when names help;
# - what a coordinator hears and answers, and why a bit is enough later;
# - how many all-reduces a list of gradients becomes;
# - what must be kept so that ranks can die.
#
# In practice: DDP, and `torchrun`.
#
# **Go on**: [the lab](../../labs/07_horovod/lab.ipynb). Your lines are steps of it. [More](more.ipynb): three ways to
# start, `join`, autotuning. **Or stop here**, and begin with the lab.
