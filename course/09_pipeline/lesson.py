# %% [markdown]
# # 09 Pipelines
#
# **How large is the bubble?**
#
# In unit 08 every rank had a part of each layer, and borrowed the rest. Here a rank has whole layers, but not all of them.
# What travels is what goes from layer to layer. You count who waits for whom, and what waiting costs.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | 55 | sections 1 to 9 |
# | Short path | 25 | sections 1, 2 and 5, the wrap-up; then `one_f_one_b` in the lab |
# | [Lab](../../labs/09_pipeline/lab.ipynb) | 125 | five exercises, and more for those who want them |
#
# From units 04 and 05 you need messages, deadlocks, and the ring all-reduce.

# %%
from IPython.display import display

from lockstep import predict, quiz, reconcile, run, show, your_turn
from lockstep.errors import Deadlock
from lockstep.experiments.pipeline import equality, lecture_notes, notes_sample
from lockstep.experiments.pipeline import placement, published, training, your_line
from lockstep.experiments.pipeline.drawn import drawn
from lockstep.pipeline import blocking_messages, pipedream_staleness
from lockstep.pipeline.instructions import SendActivation
from lockstep.pipeline.schedule_costs import bubble, peak_activations, weight_versions
from lockstep.pipeline.schedules import stream, streams
from lockstep.pipeline.simulate import Times
from lockstep.pipeline.stage_partition import partition_layers
from lockstep.pipeline.validate import faults

# %% [markdown]
# ## 1. Two devices, one at work · 5 minutes · short path
#
# The notes head this sample “Pipeline Parallelism”. Its layers stand on two GPUs:
#
# ```python
# x = x.to('cuda:0')    # Send input to GPU 0
# x = self.layer1(x)
# x = x.to('cuda:1')    # Move output to GPU 1
# x = self.layer2(x)
# x = self.layer3(x)
# ```
#
# Layers on one device are a **stage**. A training step goes forward through all stages, and back. Then each stage updates
# its own weights. Commit to a number, then look at the notes' layers in a step with 16,384 examples: when do both ranks
# compute?

# %% lesson="predict naive"
predict(
    "naive",
    "A model of 8 equal layers is cut into 4 stages, on 4 GPUs. The batch goes through them in one piece. How many times as "
    "fast as on one GPU is a training step?",
    unit="times",
)

# %% lesson="after naive"
faster = training.speedup("naive", ranks=4, micro_batches=1)
display(reconcile("naive", simulated=faster))
serial = run(notes_sample.trained, "naive", 1, 16384, ranks=2, on="dgx-a100", fake=True)
both = notes_sample.at_once(serial.trace)
print(f"after building the layers, both compute for {both:g} s")
serial.show()

# %% [markdown] lesson="reason naive"
# **Our reason.** While one stage computes, three wait: those behind it for their input, those before it for a gradient. So
# four GPUs are as fast as one. What is over 1 is the update, and building the model: stages do that at once. The number does
# not show what is gained: each GPU holds a quarter of the model.

# %% [markdown]
# ## 2. Micro-batches · 10 minutes · short path
#
# Cut the batch into m **micro-batches**. Then stage 0 begins the second one while stage 1 is at the first: that is a
# pipeline. **GPipe** (Huang et al., 2019) makes all forward passes, then all backward passes, and one update at the end.
# So the gradients are those of the whole batch on one device. Below, F1 is the forward pass of micro-batch 1, and B1 its
# backward pass. Dots are time in which a stage is idle: the **bubble**.

# %%
print(drawn(streams("gpipe", 3, 3), Times.equal()))

# %% lesson="predict bubble"
predict(
    "bubble",
    "GPipe on 8 stages, with 8 micro-batches. A forward pass and a backward pass take equally long, and a message takes no "
    "time. What percentage of the time is a stage idle?",
    unit="%",
)

# %% lesson="after bubble"
idle = bubble(streams("gpipe", 8, 8), Times.equal())
reconcile("bubble", simulated=100 * idle)

# %% [markdown] lesson="reason bubble"
# **Our reason.** The last stage waits 7 slots for its first input. Then it has 8 forward and 8 backward passes. After these
# it takes 7 more slots until the last gradient is back at stage 0. So the step has 30 slots, and each stage is idle in 14. The
# number does not show that backward passes may be longer: then the bubble is longer, too, and its share stays.

# %% [markdown]
# **Your turn.** Write that share for any number of stages p and of micro-batches m. Your line fills a table below.


# %% lesson="turn bubble_share"
def bubble_share(p, m):
    """GPipe with p stages and m micro-batches: which share of the step, 0 to 1,
    is a stage idle?"""
    ### BEGIN SOLUTION
    return (p - 1) / (m + p - 1)
    ### END SOLUTION


# %% lesson="behind bubble_share"
cases = [(p, m) for p in (1, 2, 3, 8) for m in (1, 3, 8)] + [(4, 64), (16, 2), (100, 1000)]
wrong = {
    lambda p, m: (p - 1) / m: "That is idle time by the time at work. What is the whole step?",
    lambda p, m: (p - 1) / p: "That is without micro-batches: one stage at work, the others wait. What does m change?",
    lambda p, m: p / (m + p): "With one stage nobody waits. What does your line say for p = 1?",
    lambda p, m: (p - 1) / (m + p): "How many slots does a stage wait, and in how many does it work? Add these up.",
    lambda p, m: m / (m + p - 1): "That is the share in which it works.",
}
well = "Right: p − 1 of m + p − 1, forward and backward alike."

# %% lesson="after bubble_share"
your_line.bubble_table(bubble_share)

# %% [markdown] lesson="after bubble_share"
# Compare the last two columns. By the bubble alone, more micro-batches are always better. On these simulated A100s, 16 are
# better than 32. A micro-batch of 64 examples takes more than half as long as one of 128: each pass reads all weights of
# the stage, however few examples there are. And each has its messages.

# %% lesson="quiz enough"
quiz(
    "enough",
    "8 stages. How many micro-batches does it take until the bubble is 10 % of the step, or less?",
    unit="micro-batches",
    answer=63,
    because="7/(m + 7) is 0.1 where m + 7 is 70.",
    wrong={
        70: "That is 7/m: idle time by the time at work. What does the question divide by?",
        72: "That is 8/(m + 8). In how many slots is a stage idle, forward?",
        64: "That is enough. Is one fewer?",
        10: "How many slots does the step have then, and in how many is a stage idle?",
    },
)

# %% [markdown]
# ## 3. GPipe's tables · 3 minutes
#
# The notes show GPipe's figure. Its paper also has numbers, from TPUs and GPUs. If only the bubble counts, K stages and M
# micro-batches are K·M/(M + K − 1) times as fast as one stage. Below, that prediction stands beside what was published for
# Transformers, whose layers are equal. Look at the error with M = 32 first, then with M = 4.

# %%
display(published.throughput_table("Transformer"))
for way in ("gpipe", "gpipe, re-materialised"):
    faster = training.speedup(way, ranks=8)
    print(f"{way}: {faster:.2f} times one GPU, on 8 stages with 16 micro-batches")

# %% [markdown]
# With M = 32, the formula is 3 to 8 % too high: messages and unequal stages cost something. With M = 4 and K = 8, GPipe is
# *faster* than the formula: 4.8, not 2.9. The paper chose each batch as large as memory allowed, so more stages also
# had larger batches.
#
# The last two lines: GPipe can keep the inputs of its stages only, and compute each forward pass again. This
# **re-materialisation** is unit 08's checkpointing, and costs time here, too.

# %% [markdown]
# ## 4. A schedule is a program · 4 minutes
#
# What a stage does, in turn, is its **stream**, messages included. A schedule returns a stream for each stage. One **worker**
# executes all streams, whatever schedule they are from. And streams are data: they can be checked before a GPU is paid
# for. Below is the stream of stage 1 of 3; then a check says what a stage has forgotten. And each schedule trains on 3
# ranks: how far is any gradient or weight from that of one rank?

# %%
print(*stream("gpipe", stage=1, stages=3, micro_batches=2), sep=", ")
forgetful = streams("gpipe", 2, 2)
forgetful[0].remove(SendActivation(1))
print(*faults(forgetful, 2), sep="\n")
equality.gradients_table((3,))

# %% [markdown]
# Now draw a schedule yourself: 3 stages, 3 micro-batches. GPipe keeps the activations of all 3 and takes 10 slots. Here a
# stage has memory for 2 at once. Put F and B into slots. The board says what is not possible, and counts. Can you do with
# 12?

# %%
show.board(3, 3, 2)

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 5. One forward, one backward · 9 minutes · short path
#
# In GPipe, all m micro-batches wait at the turn, on each stage. So m is limited by memory. **1F1B** begins a backward pass as
# soon as it can: the last stage goes F0 B0 F1 B1, and so on. The other stages begin with a few forward passes, just enough
# that nobody waits for them. Then they, too, take one forward and one backward pass by turns.

# %% lesson="predict stage-0"
predict(
    "stage-0",
    "1F1B on 8 stages, with 64 micro-batches. Of how many micro-batches does stage 0 keep activations, at most?",
    unit="micro-batches",
)

# %% lesson="after stage-0"
simulated = peak_activations(stream("one_f_one_b", 0, 8, 64))
reconcile("stage-0", simulated=simulated)

# %% [markdown] lesson="reason stage-0"
# **Our reason.** The first gradient comes back to stage 0 when micro-batch 0 has been at all 8 stages. By then stage 0 has
# begun 8 forward passes: one for each stage. From there on, each forward pass waits for a backward pass. GPipe keeps 64. The
# number does not show the other stages: the nearer to the end, the fewer.

# %% [markdown] lesson="after stage-0"
# Now set the schedule below to GPipe, and back to 1F1B. What changes in the column *kept*? What happens to the idle share?

# %% lesson="after stage-0"
show.pipeline("one_f_one_b", among=("naive", "gpipe", "one_f_one_b"))

# %% [markdown]
# **Your turn.** Stage s is one of p; there are m micro-batches. Your line stands beside streams, and beside the bytes that ranks
# held in a run. Bytes follow the count, but for the ends: stage 0 has all inputs from the beginning, and the last stage
# all targets.


# %% lesson="turn kept"
def kept(s, p, m):
    """1F1B, p stages, m micro-batches: of how many does stage s (0 to p - 1) keep
    the activations at once, at most?"""
    ### BEGIN SOLUTION
    return min(m, p - s)
    ### END SOLUTION


# %% lesson="behind kept"
cases = [(0, 1, 1), (0, 1, 5), (0, 3, 8), (1, 3, 8), (2, 3, 8), (0, 8, 64), (7, 8, 64), (0, 8, 3), (6, 8, 3), (5, 8, 3)]
wrong = {
    lambda s, p, m: p - s: "That is right where there are enough micro-batches. And with m = 1?",
    lambda s, p, m: min(m, p): "That is stage 0. Does the last stage keep as many?",
    lambda s, p, m: min(m, p - s - 1): "Those are the forward passes before the first pair. Then one more begins.",
    lambda s, p, m: min(m, s + 1): "That counts from the other end. Which stage waits longest for a gradient?",
    lambda s, p, m: m: "That is GPipe.",
}
well = "Right: one for each stage from here to the end, as far as there are any."

# %% lesson="after kept"
your_line.kept_table(kept)

# %% lesson="quiz share"
quiz(
    "share",
    "8 stages with memory for 8 micro-batches each. GPipe can then have m = 8: 46.7 % bubble. 1F1B can have m = 64. What "
    "percentage is its bubble?",
    unit="%",
    answer=9.86,
    within=0.02,
    because="7/(64 + 7): for the same m it is GPipe's, but m can grow.",
    wrong={
        46.7: "That is with m = 8. 1F1B keeps 8 of how many?",
        10.9: "That is 7/64, by the time at work.",
        0: "Stages still fill at the beginning, and empty at the end.",
        12.5: "That is 8/64. In how many slots is a stage idle, forward, and how long is the whole step?",
    },
)

# %% [markdown]
# ## 6. Who sends first? · 4 minutes
#
# Between its forward and its backward pass, a stage sends an activation on, and receives a gradient. Here is the heart of
# 1F1B, written with plain sends:
#
# ```python
# send(forward(i, receive(s - 1)), s + 1)
# found.append(backward(i - warm_up, receive(s + 1)))
# send(found[-1], s - 1)
# ```
#
# Look at ranks 1 and 2 below: who waits for whom? And in the table: with which messages does it end well?

# %%
try:
    your_line.exchanged(blocking_messages.one_f_one_b_exchange, numbers=1_000_000)
except Deadlock as deadlock:
    print(deadlock)
    display(show.timeline(deadlock))
your_line.exchange_table()

# %% [markdown]
# Each of two neighbours sends, and neither receives. A short message gets through all the same: NCCL has a buffer for it. So
# a small test passes, and the large model hangs. What crosses belongs in *one* batch: `dist.batch_isend_irecv` posts both,
# and nobody is first.

# %% [markdown]
# ## 7. Thinner slices · 4 minutes
#
# A slot of the bubble is as long as a stage is thick. **Interleaved** 1F1B gives each stage v thin slices, its **chunks**: with
# v = 2, a micro-batch goes round twice. A chunk takes a v-th of the time, so the pipeline fills v times as fast. It costs
# about v times the messages.
#
# Set the slider to interleaved 1F1B. What happens to the idle share? ZB-H1 cuts the backward pass in two. With the half for
# which nobody waits, it fills the bubble.

# %%
show.pipeline("one_f_one_b", among=("one_f_one_b", "interleaved", "zb_h1"))

# %% lesson="quiz thinner"
quiz(
    "thinner",
    "8 stages, 16 micro-batches: 1F1B's bubble is 7/23 = 30.4 % of the step. What percentage is it with 4 chunks on each "
    "stage?",
    unit="%",
    answer=9.86,
    within=0.02,
    because="Work is 64 chunks long, each way, and 7 slots of a chunk are idle: 7/(64 + 7).",
    wrong={
        7.6: "That is 30.4/4. The idle time is a fourth. And the whole step?",
        10.9: "That is 7/64, by the time at work.",
        66: "That is 31/(16 + 31), as if there were 32 stages. How many ranks have to fill?",
        30.4: "Filling takes 7 slots. How long is a slot now?",
    },
)

# %% [markdown]
# ## 8. Never flush · 9 minutes
#
# All these schedules empty the pipeline before the update: they **flush**. **PipeDream** (Narayanan et al., 2019) doesn't.
# A minibatch has an update of its own, right after its backward pass, on each stage. The next minibatches are already under
# way by then. So weights change between a forward pass and its backward pass.
#
# A gradient makes sense only for the weights of its forward pass. So a stage stores old **versions** until their
# backward pass: **weight stashing**.

# %% lesson="predict versions"
predict(
    "versions",
    "PipeDream on 8 stages. How many versions of its weights must stage 0 hold at once, with the newest one?",
    unit="versions",
)

# %% lesson="after versions"
simulated = weight_versions(stream("pipedream", 0, 8, 64))
display(reconcile("versions", simulated=simulated))
print(drawn(streams("pipedream", 4, 6), Times.equal()))

# %% [markdown] lesson="reason versions"
# **Our reason.** Stage 0 has 8 minibatches under way, as with 1F1B. Each began after another update, so each has seen other
# weights. What the number does not show is that PipeDream pays with memory for weights on stage 0, 8 times over. What it buys
# stands in the drawing: stages are idle at the beginning and at the end of the training, not of each step.

# %% [markdown]
# **Your turn.** How old is a gradient? Your line stands beside the streams of 4 stages.


# %% lesson="turn delay"
def delay(s, p):
    """PipeDream, p stages, the pipeline is full. How many updates does stage s
    (0 to p - 1) make between a minibatch's forward pass and its backward pass?"""
    ### BEGIN SOLUTION
    return p - s - 1
    ### END SOLUTION


# %% lesson="behind delay"
cases = [(0, 1), (0, 2), (1, 2), (0, 4), (1, 4), (2, 4), (3, 4), (0, 16), (9, 16), (15, 16)]
wrong = {
    lambda s, p: p - s: "Those are the minibatches under way. One of them is this one itself.",
    lambda s, p: p - 1: "That is stage 0. And the last stage?",
    lambda s, p: s: "That counts from the other end. Which stage waits longest for a gradient?",
    lambda s, p: 2 * (p - s - 1): "So many slots lie between. In how many of them is there an update?",
}
well = "Right: one for each stage behind it."

# %% lesson="after delay"
your_line.delay_table(delay)

# %% [markdown]
# What do old weights do to training? Below, 4 stages learn the digits, with momentum 0.9. The loss of blind guessing is
# ln 10 = 2.3. Which line learns? Then look at the table: with a smaller rate, old weights are nearly the newest ones. Stashing
# makes a gradient exact, but not fresh. Does it help there?

# %%
display(show.old_weights())
pipedream_staleness.rates_table()

# %% lesson="quiz stashes"
quiz(
    "stashes",
    "PipeDream on 8 stages with 1 GB of weights each. How many GB of weights do all stages hold together, old versions too?",
    unit="GB",
    answer=36,
    because="8 + 7 + … + 1: stage s holds 8 − s versions.",
    wrong={
        64: "Does the last stage need old versions? Its backward pass follows at once.",
        8: "That is one version on each stage.",
        28: "Those are the old ones. Where is the newest?",
        15: "That is 8 on stage 0 and one on each other stage. And those between?",
    },
)

# %% [markdown]
# ## 9. Balance, and the notes · 7 minutes
#
# A full pipeline is as fast as its slowest stage. Here are a language model's layers: an embedding that computes little,
# equal blocks, and a heavy head. Two layers for each stage is not the best cut. Look at the slowest stage of each.

# %%
costs = [1, 3, 3, 3, 3, 3, 3, 8]
cuts = {"even cut": [2, 2, 2, 2], "best cut": partition_layers(costs, 4)}
show.balance(costs, cuts)

# %% lesson="quiz balance"
quiz(
    "balance",
    "Layers of 5, 5, 4, 3, 3, 2, 1 and 1 ms, in this order, on 4 stages. How many times as fast as with two layers on each "
    "stage is a full pipeline with the best cut?",
    unit="times",
    answer=1.43,
    within=0.01,
    because="Even: 10, 7, 5, 2. Best: 5, 5, 7, 7, or another cut with 7. 10/7.",
    wrong={
        1.67: "That is 10/6, if layers could be split. Which cut has 6?",
        1.25: "That is a slowest stage of 8. There is a better cut.",
        1.11: "That is a slowest stage of 9. There is a better cut.",
        1: "The first stage has 10 ms. Give it one layer.",
    },
)

# %% [markdown]
# Pipelines and data parallelism go together: several pipelines, each with a share of the batch, and each stage averages
# gradients with its twins. The notes put the pipeline inside a machine, where links are fast, and data parallelism across.

# %% lesson="predict gradients"
predict(
    "gradients",
    "4 pipelines of 4 stages; the model has 1.07 GB of parameters. In a step, a rank sends 17 MB of activations and their "
    "gradients to its neighbours. How many MB does it send to average the weights' gradients, in a ring?",
    unit="MB",
)

# %% lesson="after gradients"
counted = placement.measured()[0]
display(reconcile("gradients", simulated=counted.gradients / 1e6))
display(placement.placement_table(placement.MANY_WEIGHTS))
placement.placement_table(placement.FEW_WEIGHTS)

# %% [markdown] lesson="reason gradients"
# **Our reason.** A stage has 268 MB. A ring of 4 sends 2 · 3/4 of it: 403 MB, 24 times what the pipeline sends. So here
# data parallelism gets the fast links. The second table has fewer weights and a larger batch: there the notes' way is faster.
# What sends more belongs inside. The numbers don't show *when*: activations hide behind computing, these gradients do not.

# %% [markdown]
# Now the notes' table, whole, each cell beside our count; and below it what else they say of pipelines. The rows on
# implementation and on use agree with what we count. Look at throughput: which of the
# [three kinds of model parallelism](../10_tensor_parallel/model_parallelism.md) is meant? And at communication: for stages it is
# the other way round.

# %% lesson="after gradients"
display(lecture_notes.data_or_model_table())
lecture_notes.corrections_table()

# %% [markdown]
# ## Wrap-up
#
# You can now say:
#
# - why stages without micro-batches are as fast as one GPU;
# - what share of a step is bubble, with p stages and m micro-batches;
# - what a stage keeps with GPipe, with 1F1B and with PipeDream;
# - why two stages can wait for each other for ever;
# - what a rank sends in a pipeline, and what with data parallelism.
#
# In practice: `torch.distributed.pipelining`, or Megatron-LM.
#
# **Go on**: [the lab](../../labs/09_pipeline/lab.ipynb). **[More](more.ipynb)**: torch's pipeline beside ours, a GPT, parallel
# branches, PipeDream's partitioner. **Or stop here**, and begin with the lab.
