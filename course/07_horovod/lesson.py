# %% [markdown]
# # 07 Horovod
#
# **What must ranks agree on before they can add?**
#
# ![](opening.svg)
#
# **Horovod** came from Uber in 2017 (Sergeev & Del Balso, *Horovod*, arXiv:1802.05799). Here you use the real thing,
# version 0.28.1.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | {minutes} | sections 1 to 8 |
# | Short path | {minutes} | sections 1, 2 and 8, the wrap-up; then `distribute` in the lab |
# | [Lab](../../labs/07_horovod/lab.ipynb) | 55 | two exercises, and more for those who want them |
#
# From units 04 and 05 you need the all-reduce, DDP's buckets, and the learning rate of large batches.
#
# The cell below says whether Horovod is installed. If it is not, the cell can build it; without it, cells show
# recordings.

# %%
import torch
import torch.distributed as dist
from IPython.display import display

from lockstep import predict, quiz, reconcile, run, show, your_turn
from lockstep.experiments.horovod import commits, dialects, legacy, recovery, six_steps
from lockstep.experiments.horovod import demo_tables, real_programs, your_line
from lockstep.experiments.horovod.recorded import or_recorded
from lockstep.lessons import horovod_ready

# %% lesson="fold"
horovod_ready()

# %% lesson="fold"
show.ring(ranks=3)

# %% [markdown]
# ## 1. Six small steps · {minutes} minutes · short path
#
# A common claim: “serial => distributed with minimal code changes”. Here is a serial script. Started on four ranks, it
# trains four models that never meet.

# %% lesson="fold"
print(six_steps.steps()[0].source)

# %% [markdown]
# Six small steps turn it into a Horovod script:
#
# 1. **init**: `hvd.init()`. From then on there are `hvd.rank()` and `hvd.size()`.
# 2. **shard**: a `DistributedSampler` gives each rank its share: in a new order each epoch, if you call `set_epoch`.
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

# %% lesson="after alike fold"
forgotten = or_recorded("forgotten")
different = sum(row["spread"] > 0 for row in forgotten["rows"])
display(reconcile("alike", measured=different), demo_tables.forgotten_table(forgotten))

# %% [markdown] lesson="reason alike"
# **Our reason.** Two. Without the average, each rank trains alone. Without the broadcast, all make the same steps from
# different places. Nothing warns you. If one of the other four is missing, the ranks agree, but the training is not the
# one that you wanted.

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
# ## 2. Who goes first? · {minutes} minutes · short path
#
# In `torch.distributed` a call has no name: a rank's first all-reduce meets the others' first. In a model with branches,
# gradients may become ready in a different order on each rank.
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
predict("order", "What does rank 0 have in a at the end?", answer=21)

# %% lesson="after order fold"
met = run(either_way, ranks=2, on="virtual")
measured = run(either_way, ranks=2, on="processes").values
print("a and b, on rank 0 and on rank 1:", *met.values)
display(reconcile("order", simulated=met.values[0][0], measured=measured[0][0]))
met.show()

# %% [markdown] lesson="reason order"
# **Our reason.** Rank 0's first all-reduce carries a, rank 1's carries b: 1 + 20. Nothing reports an error. Training on
# such sums goes on, and learns something else.

# %% [markdown]
# DDP therefore fixes one order for its buckets. Horovod's tensors have *names*: `a` meets `a`.
#
# Below, Horovod runs the same program in two ways. First each rank starts both all-reduces, and then waits for both.
# Then each rank waits for its first one before it starts its second.

# %% lesson="fold"
orders = or_recorded("orders")
print("started, then awaited: a and b on each rank:", *orders["sums"])
print("awaited at once:", orders["told"])

# %% [markdown]
# So names help only if no rank waits too early. Rank 0 waits for a. Rank 1 never starts a, because it waits for b.
# (The message comes from Lockstep.) `DistributedOptimizer` waits for all of them in `step()`.

# %% lesson="quiz blocking"
quiz(
    "blocking",
    "Three ranks start all-reduces of a and b with allreduce_async, rank 2 in the other order, and then wait for both. Rank 1 "
    "leaves out b. Which all-reduces finish?",
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
# ## 3. The coordinator · {minutes} minutes
#
# How do ranks find out what is ready everywhere? Horovod has a **coordinator**: rank 0. It works in **cycles**: by
# default, one begins each millisecond. In each, every rank tells rank 0 the names of the tensors that have become ready.
# Rank 0 sends back one list: the names that *all* ranks have reported. These are summed now, in that order.

# %% [markdown]
# ## 4. A timeline, and what is fused · {minutes} minutes
#
# Horovod writes its own timeline, on rank 0. Here are two steps of a model with three layers, on three ranks. Each
# gradient has a lane. A tick marks when rank 0 hears that a rank has it ready. In the first step, look at the first
# tick, and at the right end of the grey bar: all wait that long for the late rank.

# %% lesson="fold"
step = or_recorded("a_step")
show.horovod(step["timeline"])

# %% [markdown]
# Each all-reduce costs the latency of a whole ring. So Horovod copies the gradients of a cycle into one **fusion
# buffer** of 128 MiB, and sums that. No gradient is cut in two. DDP's buckets do the same, but are fixed in advance.

# %% lesson="quiz thirty"
quiz(
    "thirty",
    "20 gradients of 9,000 bytes become ready in one cycle; the buffer has 30,000 bytes. How many all-reduces?",
    answer=7,
    because="Three fit: 27,000 bytes. Six buffers of three, and one of two.",
    wrong={
        6: "20 · 9,000 / 30,000 is 6. But none is cut in two: how many fit into one?",
        20: "Two fit together. Would three?",
        10: "A third one still fits beside two.",
        3: "That is how many fit into one buffer.",
    },
)

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 5. Elastic · {minutes} minutes
#
# 512 GPUs, and one dies. In the next all-reduce all the others hang, or fail. **Elastic** Horovod goes on with those
# that are left. What must survive is kept in a **state**; `state.commit()` copies it, in memory. When a rank dies,
# the others go back to the last commit, form a new group, and get the state of worker 0. Then the function `train`
# begins again (Horovod's `docs/elastic.rst`).

# %% [markdown]
# **Your turn.** Below, real workers are killed, by SIGKILL. Compare your line with what the others did. In the second
# table, the step numbers of a row go back once.


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
    lambda killed, every: killed - every: "Only if the last commit was `every` steps ago. When was it?",
    lambda killed, every: killed // every: "That counts the commits. How many steps were done then?",
    lambda killed, every: (killed // every + 1) * every: "That is the next commit. It has not come yet.",
    lambda killed, every: (killed - 1) // every * every: "If three steps are done and committed, number 3 is next.",
}
well = "Right: the number of the step is in the state, as it was at the last commit."

# %% lesson="after goes_on fold"
elastic = or_recorded("elastic")
display(your_line.goes_on_table(goes_on, elastic["runs"]))
demo_tables.elastic_table(elastic)

# %% lesson="predict often"
predict(
    "often",
    "A commit takes half as long as a step, and a rank fails once in 400 steps. With how many steps between two commits do "
    "you lose the least time?",
    unit="steps",
    answer=20,
)

# %% lesson="after often fold"
display(reconcile("often", simulated=commits.cheapest(commit=0.5, between=400)))
commits.commits_table(commit=0.5, between=400)

# %% [markdown] lesson="reason often"
# **Our reason.** With n steps between two commits, each step pays 0.5/n for commits. A failure costs n/2 steps on
# average, once in 400. The sum is smallest where both are equal: n = √(2 · 0.5 · 400) = 20 (Young, *A First Order
# Approximation to the Optimum Checkpoint Interval*, Communications of the ACM, 1974).

# %% lesson="quiz elastic"
quiz(
    "elastic",
    "A training has 18 steps, with a commit after every 5. A rank dies in step number 13. How many steps do the others "
    "complete in all?",
    answer=21,
    because="0 to 12 are 13 steps. They go on with 10: 8 more.",
    wrong={
        18: "Some are done twice: those since the last commit.",
        23: "Only the steps since the last commit are done twice. How many had been completed?",
        22: "In step 13 a rank died: that one was not completed.",
        31: "That would be without commits.",
        20: "They go back to step 10, and had completed 10, 11 and 12.",
    },
)

# %% [markdown]
# ## 6. A step that survives · {minutes} minutes
#
# **torchft** does not go back to a copy: it has “per-step fault tolerance” (github.com/pytorch/torchft). Each copy of
# the model belongs to a **replica group**, of one rank or of several (unit 08). At each step a server, the
# *lighthouse*, says which groups are there: the **quorum** (`src/lighthouse.rs`). A step then has four parts
# (`torchft/manager.py`):

# %% [markdown]
# 1. **Heal.** Groups with the most steps are *up to date*. A group that comes back is *behind*: one of those sends it
#    weights and number of steps.
# 2. **Add.** Gradients are summed. A group that heals in this step adds zeros: its gradient is of old weights.
# 3. **Average.** All divide by how many are up to date.
# 4. **Vote.** A group commits the step if none of its ranks has seen an error, and otherwise discards it. If others
#    have kept it, this group heals in the next.

# %% [markdown]
# **Your turn.** Below, group 2 dies in step 7, and comes back later. Your line decides who adds what.


# %% lesson="turn factor"
def factor(steps, me):
    """Group r's weights hold steps[r] steps. What multiplies group me's gradient?"""
    ### BEGIN SOLUTION
    return (steps[me] == max(steps)) / steps.count(max(steps))
    ### END SOLUTION


# %% lesson="behind factor"
cases = [([7, 7, 7, 7], 1), ([7, 7, 7], 0), ([5, 7, 7, 1], 0), ([5, 7, 7, 1], 1), ([5, 7, 7, 1], 3), ([9], 0)]
cases += [([4, 4, 6, 4], 2), ([4, 4, 6, 4], 0), ([0, 3], 1), ([0, 3], 0), ([100] * 63 + [99], 5), ([8, 9, 8], 1)]
wrong = {
    lambda steps, me: 1 / len(steps): "That is all of the quorum. Which of them add a gradient that counts?",
    lambda steps, me: (
        (steps[me] == max(steps)) / len(steps)
    ): "Those that are behind add nothing. Are they in the mean?",
    lambda steps, me: 1 / steps.count(max(steps)): "And if group `me` is behind?",
    lambda steps, me: (steps[me] == steps[0]) / steps.count(steps[0]): "Group 0 may be behind itself.",
    lambda steps, me: float(steps[me] == max(steps)): "That is the sum. How many add to it?",
}
well = "Right. In the lab you write the whole step."

# %% lesson="after factor fold"
display(recovery.quorums_table(factor), recovery.compared_table())

# %% [markdown] lesson="after factor"
# Look at the row with a 0: group 2 adds nothing, and still takes the step. Elastic Horovod loses all steps since its
# last commit. torchft loses only the step that failed.

# %% lesson="quiz survives"
quiz(
    "survives",
    "Four groups make 12 steps, numbered 0 to 11. Group 2 dies in step 7; the others make that step without it. In step 9 it "
    "is back, and heals. How many gradients are in the weights at the end?",
    answer=45,
    because="Four in each of the steps 0 to 6, three in 7, 8 and 9, four in 10 and 11: 28 + 9 + 8.",
    wrong={
        48: "That would be all four groups in all 12 steps.",
        46: "In step 9 group 2 is there. What does it add while it heals?",
        44: "Who makes step 7? Three are left, and they make it.",
        42: "Three in each of the last five steps? In 10 and 11 group 2 is up to date.",
    },
)

# %% [markdown]
# ## 7. The same script today · {minutes} minutes
#
# DDP does inside torch what Horovod does beside it. Lightning hides DDP in a `Trainer`. The table shows what the six
# steps become. Below it is Lightning's program, with what its two ranks print.

# %% lesson="fold"
display(dialects.dialects_table())
real_programs.show_program(real_programs.LIGHTNING_DDP)

# %% [markdown]
# TensorFlow's way is a **strategy**. `TF_CONFIG` lists the workers. In both programs, look for the rate: it is still
# up to you. In TensorFlow's, look for the line about shuffling. Each worker shuffles all rows, then takes its share. If
# they shuffle differently, the shares overlap.

# %% lesson="fold"
real_programs.show_program(real_programs.TF_DISTRIBUTE)

# %% [markdown]
# ## 8. What remains · {minutes} minutes · short path
#
# Horovod is **legacy**. Its last release, 0.28.1, is from June 2023. For a new script, use DDP. But you will meet Horovod
# in old scripts, and its ideas everywhere ([More](more.ipynb): what it gave us, and who has left it).
#
# Here is a lecture's list of frameworks, in its words, beside what we count. Look at the first row: what has changed?

# %% lesson="fold"
display(legacy.notes_table())

# %% [markdown]
# ## Wrap-up
#
# You can now say:
#
# - which six steps turn a serial script into a distributed one;
# - why ranks may add what does not belong together, and when names help;
# - what a failure costs with commits, and what it costs when only the failed step is lost.
#
# In practice: DDP and `torchrun`.
#
# **Go on**: [the lab](../../labs/07_horovod/lab.ipynb). [More](more.ipynb): the coordinator's line, does it scale, three
# ways to start, what Horovod gave us. **Or stop here**, and begin with the lab.
