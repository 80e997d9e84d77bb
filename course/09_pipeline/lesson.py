# %% [markdown]
# # 09 Pipelines
#
# **How large is the bubble?**
#
# ![](opening.svg)
#
# In unit 08 every rank had a part of each layer, and borrowed the rest. Here a rank has whole layers, but not all of them.
# What one layer hands to the next is all that travels. You work out who waits for whom, and what waiting costs.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | {minutes} | sections 1 to 9 |
# | Short path | {minutes} | sections 1, 2 and 5, the wrap-up; then `one_f_one_b` in the lab |
# | [Lab](../../labs/09_pipeline/lab.ipynb) | 125 | five exercises, and more for those who want them |
#
# From units 04 and 05 you need messages, deadlocks, and the ring all-reduce.

# %%
from IPython.display import display

from lockstep import predict, quiz, reconcile, run, show, your_turn
from lockstep.errors import Deadlock
from lockstep.experiments.pipeline import equality, lecture_notes, notes_sample
from lockstep.experiments.pipeline import placement, published, training, your_line
from lockstep.experiments.pipeline import zero_bubbles
from lockstep.pipeline import blocking_messages, pipedream_staleness
from lockstep.pipeline.instructions import SendActivation
from lockstep.pipeline.schedule_costs import bubble, peak_activations, weight_versions
from lockstep.pipeline.schedules import stream, streams
from lockstep.pipeline.simulate import Times
from lockstep.pipeline.stage_partition import partition_layers
from lockstep.pipeline.validate import faults

show.pipeline("gpipe", 3, 6, among=("gpipe",))

# %% [markdown]
# ## 1. Layers on two devices · {minutes} minutes · short path
#
# A slide calls this sample “Pipeline Parallelism”. Its layers are on two GPUs:
#
# ```python
# x = x.to('cuda:0')    # Send input to GPU 0
# x = self.layer1(x)
# x = x.to('cuda:1')    # Move output to GPU 1
# x = self.layer2(x)
# x = self.layer3(x)
# ```
#
# The layers on one device are a **stage**. A training step goes forward through all stages, and back. Then each stage
# updates its own weights. Commit to a number first. Then look at the sample's layers in a step with 16,384 examples: when
# do both ranks compute?

# %% lesson="predict naive"
predict(
    "naive",
    "A model of 8 equal layers is cut into 4 stages, on 4 GPUs. The batch goes through them in one piece. How many times as "
    "fast as on one GPU is a training step?",
    unit="times",
    answer=1,
)

# %% lesson="after naive"
faster = training.speedup("naive", ranks=4, micro_batches=1)
display(reconcile("naive", simulated=faster))
serial = run(notes_sample.trained, "naive", 1, 16384, ranks=2, on="dgx-a100", fake=True)
both = notes_sample.at_once(serial.trace)
print(f"after building the layers, both compute for {both:g} s")
serial.show()

# %% [markdown] lesson="reason naive"
# **Our reason.** While one stage computes, three wait: those after it for their input, those before it for a gradient.
# So four GPUs are only as fast as one. The difference of 1 % comes from building and updating the model, which all
# stages do at once. You gain memory, not time: each GPU holds a quarter of the model.

# %% [markdown]
# ## 2. Micro-batches · {minutes} minutes · short path
#
# Cut the batch into m **micro-batches**. Then stage 0 begins the second one while stage 1 works on the first: that is a
# pipeline. **GPipe** runs all forward passes, then all backward passes, and makes one update at the end (Huang et al.,
# *GPipe: Easy Scaling with Micro-Batch Pipeline Parallelism*, arXiv:1811.06965). So the gradients are those of the
# whole batch on one device. Play it below. The numbers are micro-batches; the empty slots are idle time: the
# **bubble**.

# %%
show.pipeline("gpipe", 3, 3, times=Times.equal(), among=("gpipe",))

# %% lesson="predict bubble"
predict(
    "bubble",
    "GPipe on 8 stages, with 8 micro-batches. A forward pass and a backward pass take equally long, and a message takes no "
    "time. What percentage of the time is a stage idle?",
    unit="%",
    answer=46.7,
)

# %% lesson="after bubble"
idle = bubble(streams("gpipe", 8, 8), Times.equal())
reconcile("bubble", simulated=100 * idle)

# %% [markdown] lesson="reason bubble"
# **Our reason.** The last stage waits 7 slots for its first input. Then it has 8 forward and 8 backward passes. After these
# it takes 7 more slots until the last gradient is back at stage 0. So the step has 30 slots, and each stage is idle in 14. If
# backward passes take longer, so does the bubble, but its share stays the same.

# %% [markdown]
# **Your turn.** Write that share for any number p of stages and m of micro-batches. Your line is drawn below.


# %% lesson="turn bubble_share"
def bubble_share(p, m):
    """GPipe with p stages and m micro-batches: for what share of the step, 0 to 1,
    is a stage idle?"""
    ### BEGIN SOLUTION
    return (p - 1) / (m + p - 1)
    ### END SOLUTION


# %% lesson="behind bubble_share"
cases = [(p, m) for p in (1, 2, 3, 8) for m in (1, 3, 8)] + [(4, 64), (16, 2), (100, 1000)]
wrong = {
    lambda p, m: (p - 1) / m: "That is idle time divided by working time. What is the whole step?",
    lambda p, m: (p - 1) / p: "That is without micro-batches: one stage works, the others wait. What does m change?",
    lambda p, m: p / (m + p): "With one stage nobody waits. What does your line say for p = 1?",
    lambda p, m: (p - 1) / (m + p): "For how many slots does a stage wait, for how many does it work? Add these up.",
    lambda p, m: m / (m + p - 1): "That is the share for which it works.",
}
well = "Right: p − 1 of m + p − 1 slots, forward and backward."

# %% lesson="after bubble_share"
display(your_line.bubble_chart(bubble_share))
your_line.bubble_table(bubble_share).folded()

# %% [markdown] lesson="after bubble_share"
# Compare the lines. By the bubble alone, more micro-batches are always better. On these simulated A100s, 16 are
# better than 32. A micro-batch of 64 examples takes more than half as long as one of 128: each pass reads all weights of
# the stage, however few examples there are. And each sends its own messages.

# %% lesson="quiz enough"
quiz(
    "enough",
    "With 8 stages, how many micro-batches does it take for the bubble to be 10 % of the step, or less?",
    unit="micro-batches",
    answer=63,
    because="7/(m + 7) is 0.1 when m + 7 is 70.",
    wrong={
        70: "That is 7/m: idle time divided by working time. What does the question divide by?",
        72: "That is 8/(m + 8). On the way forward, for how many slots is a stage idle?",
        64: "That is enough. Is one fewer enough, too?",
        10: "How many slots does the step have then, and in how many is a stage idle?",
    },
)

# %% [markdown]
# ## 3. GPipe's tables · {minutes} minutes
#
# You may know GPipe's figure. Its paper (arXiv:1811.06965, Tables 2 and 3) also has numbers, from TPUs and GPUs. If only
# the bubble counts, K stages and M micro-batches are K·M/(M + K − 1) times as fast as one stage. Below, you see that
# prediction beside what was published for Transformers, whose layers are equal. Look at the error with M = 32 first,
# then with M = 4.

# %%
display(published.throughput_table("Transformer"))
for way in ("gpipe", "gpipe, re-materialised"):
    faster = training.speedup(way, ranks=8)
    print(f"{way}: {faster:.2f} times one GPU, on 8 stages with 16 micro-batches")

# %% [markdown]
# With M = 32, the formula is 3 to 8 % too high: messages and unequal stages cost something. With M = 4 and K = 8, GPipe is
# *faster* than the formula: 4.8, not 2.9. The paper adjusted batches to memory. So more stages may have had larger batches:
# that is our inference, not the paper's statement.
#
# The last two lines: GPipe can keep only the inputs of its stages, and compute each forward pass again. This
# **re-materialisation** is unit 08's checkpointing, and costs time here, too.

# %% [markdown]
# ## 4. A schedule is a program · {minutes} minutes
#
# What a stage does, in order, is its **stream**. `Forward(0)` and `Backward(0)` compute micro-batch 0's two
# passes. Its **activation** goes to the next stage, and the activation's **gradient** comes back: `SendActivation(0)`,
# `ReceiveGradient(0)`. `Update()` is the optimizer's step. One **worker** executes any schedule's streams.
#
# Streams can be checked before you pay for a GPU. Below: stage 1's stream, of 3 stages; a check for what a stage
# forgot; then each schedule trains on 3 ranks. How far is any number from one rank's?

# %%
print(*stream("gpipe", stage=1, stages=3, micro_batches=2), sep=", ")
forgetful = streams("gpipe", 2, 2)
forgetful[0].remove(SendActivation(1))
print(*faults(forgetful, 2), sep="\n")
equality.gradients_table((3,))

# %% [markdown]
# Now draw a schedule yourself: 3 stages, 3 micro-batches. GPipe keeps the activations of all 3 and takes 10 slots. Here a
# stage has memory for 2 at once. Put F and B into slots. The board says what is not possible, and keeps count. Can you
# finish in 12 slots?

# %%
show.board(3, 3, 2)

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 5. One forward, one backward · {minutes} minutes · short path
#
# In GPipe, each stage holds all m micro-batches before the first backward pass. So memory limits m. **1F1B** begins a backward
# pass as soon as it can: the last stage runs F0 B0 F1 B1, and so on. Each other stage begins with just enough forward passes
# that nobody waits for it. Then it, too, alternates. (With a flush: Narayanan et al., *Memory-Efficient Pipeline-Parallel
# DNN Training*, arXiv:2006.09503.)

# %% lesson="predict stage-0"
predict(
    "stage-0",
    "1F1B on 8 stages, with 64 micro-batches. For how many of them does stage 0 keep activations at once, at most?",
    unit="micro-batches",
    answer=8,
)

# %% lesson="after stage-0"
simulated = peak_activations(stream("one_f_one_b", 0, 8, 64))
reconcile("stage-0", simulated=simulated)

# %% [markdown] lesson="reason stage-0"
# **Our reason.** The first gradient comes back to stage 0 when micro-batch 0 has been through all 8 stages. By then
# stage 0 has begun 8 forward passes: one for each stage. From there on, each forward pass waits for a backward pass.
# GPipe keeps 64. The other stages keep fewer: the nearer to the end, the fewer.

# %% [markdown] lesson="after stage-0"
# Switch the schedule below to GPipe, and back to 1F1B. What changes in the column *kept*? What happens to the idle share?

# %% lesson="after stage-0"
show.pipeline("one_f_one_b", among=("gpipe", "one_f_one_b"))

# %% [markdown]
# **Your turn.** Stage s is one of p; there are m micro-batches. The table below compares your line with the streams,
# and with the bytes that ranks held in a run. The bytes are proportional to the count, except on the first and the last
# stage: these also hold all inputs, and all targets, from the beginning.


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
    lambda s, p, m: p - s: "That is right if there are enough micro-batches. And with m = 1?",
    lambda s, p, m: min(m, p): "That is stage 0. Does the last stage keep as many?",
    lambda s, p, m: min(m, p - s - 1): "Those are the forward passes before the first pair. Then one more begins.",
    lambda s, p, m: min(m, s + 1): "That counts from the other end. Which stage waits longest for a gradient?",
    lambda s, p, m: m: "That is GPipe.",
}
well = "Right: one for each stage from here to the end, or m if there are fewer."

# %% lesson="after kept"
your_line.kept_table(kept)

# %% lesson="quiz share"
quiz(
    "share",
    "On 4 stages, GPipe's memory is full with m = 4: its bubble is 42.9 %. In the same memory 1F1B can have m = 32. What "
    "percentage is its bubble?",
    unit="%",
    answer=8.57,
    within=0.02,
    because="3/(32 + 3): with the same m it would be GPipe's, but m can grow.",
    wrong={
        42.9: "That is with m = 4. 1F1B keeps 4 of how many?",
        9.38: "That is 3/32: idle time divided by working time.",
        0: "Stages still fill at the beginning, and empty at the end.",
        12.5: "That is 4/32. On the way forward, for how many slots is a stage idle? And how long is the whole step?",
    },
)

# %% [markdown]
# ## 6. Who sends first? · {minutes} minutes
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
# Look at ranks 1 and 2 below: who waits for whom? And in the table: with which messages does the exchange finish?

# %%
try:
    your_line.exchanged(blocking_messages.one_f_one_b_exchange, numbers=1_000_000)
except Deadlock as deadlock:
    print(deadlock)
    display(show.timeline(deadlock))
your_line.exchange_table()

# %% [markdown]
# Two neighbours both send, and neither receives. A short message gets through anyway: NCCL has a buffer for it. So a
# small test passes, and the large model hangs. Messages that cross belong in *one* batch: `dist.batch_isend_irecv` posts
# both at once, and nobody has to be first.

# %% [markdown]
# ## 7. Thinner slices · {minutes} minutes
#
# The more layers a stage has, the longer a slot of the bubble is. **Interleaved** 1F1B gives each stage v thin slices,
# its **chunks** (Narayanan et al., *Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM*,
# arXiv:2104.04473). With v = 2, a micro-batch goes round twice. A chunk takes a v-th of the time, so the pipeline fills v
# times as fast. It costs about v times the messages.

# %% [markdown]
# **ZB-H1** cuts the backward pass in two (Qi et al., *Zero Bubble Pipeline Parallelism*, arXiv:2401.10241): I, the
# gradient of the input, which the stage before waits for, and W, those of the weights, which nobody waits for. W fills
# a part of the bubble. Switch to both schedules: what happens to the idle share?
#
# The table adds torch's schedules. Its one zero is ZBV's, and only in a stage's *own time*, from its first pass to its
# last: if no stage waits before its next step, and F = I = W.

# %%
display(show.pipeline("one_f_one_b", among=("one_f_one_b", "interleaved", "zb_h1")))
zero_bubbles.left_table()

# %% lesson="quiz thinner"
quiz(
    "thinner",
    "8 stages, 16 micro-batches: 1F1B's bubble is 7/23 = 30.4 % of the step. What percentage is it with 4 chunks on each "
    "stage?",
    unit="%",
    answer=9.86,
    within=0.02,
    because="The work takes 64 slots of a chunk, each way, and 7 more are idle: 7/(64 + 7).",
    wrong={
        7.6: "That is 30.4/4. The idle time is a quarter of what it was. And the whole step?",
        10.9: "That is 7/64: idle time divided by working time.",
        66: "That is 31/(16 + 31), as if there were 32 stages. How many ranks have to fill?",
        30.4: "Filling takes 7 slots. How long is a slot now?",
    },
)

# %% [markdown]
# ## 8. Never flush · {minutes} minutes
#
# All these schedules empty the pipeline before the update: they **flush**. **PipeDream** does not (Narayanan et al.,
# *PipeDream: Generalized Pipeline Parallelism for DNN Training*, SOSP 2019, after arXiv:1806.03377). On each stage, each
# minibatch has its own update, right after its backward pass. The next ones are under way by then. So weights change between
# a forward pass and its backward pass.
#
# A gradient makes sense only with the weights of its forward pass. So a stage stores old **versions** until their
# backward pass: **weight stashing**.

# %% lesson="predict versions"
predict(
    "versions",
    "PipeDream on 8 stages. How many versions of its weights must stage 0 hold at once, counting the newest one?",
    unit="versions",
    answer=8,
)

# %% lesson="after versions"
simulated = weight_versions(stream("pipedream", 0, 8, 64))
display(reconcile("versions", simulated=simulated))
show.pipeline("pipedream", 4, 8, times=Times.equal(), among=("pipedream",))

# %% [markdown] lesson="reason versions"
# **Our reason.** Stage 0 has 8 minibatches under way, as with 1F1B. Each began after a different update, so each has
# seen different weights. So stage 0 pays for its weights 8 times over, in memory. The drawing shows what that buys:
# stages are idle at the beginning and at the end of the training, not of each step.

# %% [markdown]
# With stashing, each stage's forward pass uses its newest version. So a minibatch meets different versions on different
# stages.
# **Vertical sync** has all stages use the version number that the minibatch met on stage 0: versions agree, and all are
# as old as stage 0's. ([More](more.ipynb) lists them.)
#
# **Your turn.** How old is a gradient, with stashing alone? Your line is compared with 4 stages' streams.


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
    lambda s, p: 2 * (p - s - 1): "That is how many slots lie between. In how many of them is there an update?",
}
well = "Right: one for each stage after it."

# %% lesson="after delay"
your_line.delay_table(delay)

# %% [markdown]
# What do old weights do to training? Below, 4 stages learn the digits, with momentum 0.9. Blind guessing has a loss of
# ln 10 = 2.3. Which line learns? Then look at smaller rates in the table: does stashing help there?
#
# That is our case, not the paper's: its models reached “high accuracy up to 5.3x faster” than with data parallelism and
# similar techniques. Its successor **PipeDream-2BW** makes one update from several micro-batches' gradients, keeps two
# versions, not p, and reports “similar final model accuracy” (abstracts; arXiv:2006.09503).

# %%
display(show.old_weights())
pipedream_staleness.rates_table()

# %% lesson="quiz stashes"
quiz(
    "stashes",
    "PipeDream on 8 stages with 1 GB of weights each. How many GB of weights do all stages hold together, with old versions?",
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
# ## 9. Balance, and common claims · {minutes} minutes
#
# A full pipeline is as fast as its slowest stage. Here are a language model's layers: an embedding that computes little,
# equal blocks, and a heavy head. Two layers on each stage is not the best cut. Look at the slowest stage of each cut.

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
# its gradients with the same stage of the others. A lecture puts each pipeline inside a machine, where links are fast,
# and data parallelism across machines.

# %% lesson="predict gradients"
predict(
    "gradients",
    "4 pipelines of 4 stages; the model has 1.07 GB of parameters. In a step, a rank sends 17 MB of activations and their "
    "gradients to its neighbours. How many MB does it send to average the weights' gradients, in a ring?",
    unit="MB",
    answer=403,
)

# %% lesson="after gradients"
counted = placement.measured()[0]
display(reconcile("gradients", simulated=counted.gradients / 1e6))
display(placement.placement_table(placement.MANY_WEIGHTS))
placement.placement_table(placement.FEW_WEIGHTS)

# %% [markdown] lesson="reason gradients"
# **Our reason.** A stage has 268 MB. A ring of 4 sends 2 · 3/4 of it: 403 MB, 24 times what the pipeline sends. So here
# data parallelism gets the fast links. The second table has fewer weights and a larger batch: there the lecture's way is
# faster. Whatever sends more belongs inside a machine. It also matters *when*: activations hide behind computing, these
# gradients do not.

# %% [markdown]
# Now a lecture's table, complete, each cell beside our count; and below it what else is said of pipelines. The rows on
# implementation and on use agree with what we count. Look at throughput: in section 1 the batch went through in one piece;
# here naive stages get it in 16 pieces, one after another. Which of the
# [three kinds of model parallelism](../10_tensor_parallel/model_parallelism.md) is meant? Then look at communication:
# for stages it is the other way round.

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
# - why two stages can wait for each other forever;
# - what a rank sends in a pipeline, and what it sends with data parallelism.
#
# In practice: `torch.distributed.pipelining`, or Megatron-LM.
#
# **Go on**: [the lab](../../labs/09_pipeline/lab.ipynb). **[More](more.ipynb)**: torch's pipeline beside ours, a GPT, parallel
# branches, PipeDream's partitioner. **Or stop here**, and begin with the lab.
