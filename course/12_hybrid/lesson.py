# %% [markdown]
# # 12 Hybrid parallelism and planning
#
# **Which plan fits this model on that cluster?**
#
# ![](opening.svg)
#
# Units 05 and 08 to 11 each cut training in one way. Here the cuts are combined. You say who talks to whom, put each cut
# on a link, work out a plan for GPT-3 by hand, and see how far off a planner is.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | {minutes} | sections 1 to 9 |
# | Short path | {minutes} | sections 1, 2 and 7, the wrap-up; then `make_grid` in the lab |
# | [Lab](../../labs/12_hybrid/lab.ipynb) | 120 | four exercises, and more for those who want them |
#
# You need gradient sums (unit 05), shards (08), micro-batches and the bubble (09), and a layer's four all-reduces (10).

# %%
from IPython.display import display

from lockstep import predict, quiz, reconcile, show, your_turn
from lockstep.experiments.hybrid import axes, by_hand, context, equality, lasting
from lockstep.experiments.hybrid import lecture_notes, pipeline_and_fsdp, placed
from lockstep.experiments.hybrid import precision, torchs_own, two_kinds

# %% [markdown]
# ## 1. Axes · {minutes} minutes · short path
#
# A **plan** gives each rank a seat on a **grid of ranks**, with an **axis** for each cut:
#
# | axis | cuts | its group shares |
# |---|---|---|
# | tp | matrices (unit 10) | the batch |
# | cp | sequences (section 4) | the weights |
# | dp | the batch (unit 05) | the weights |
# | pp | the layers (unit 09) | nothing: it passes activations on |
#
# There are tp · cp · dp · pp ranks. Ranks whose seats differ on one axis only form a **group** of that axis. Ranks are
# numbered along tp first, then along cp, dp and pp.

# %% [markdown]
# Experts add no axis. Expert parallelism, **ep**, is *folded* into dp and tp: ranks that follow each other within a stage
# share out the experts. Attention is cut one way, the experts another.
#
# **Your turn.** Without cp, which seat does a rank have? Your line then finds the groups of rank 5, beside ours and those
# of torch's DeviceMesh.


# %% lesson="turn seat"
def seat(rank, tp, dp):
    """The numbers of a rank in its tp, dp and pp group, as a tuple. Numbers run along
    tp first, then dp, then pp. Which seat has rank 5 for tp = 2 and dp = 2?"""
    ### BEGIN SOLUTION
    return rank % tp, rank // tp % dp, rank // (tp * dp)
    ### END SOLUTION


# %% lesson="behind seat"
cases = [
    (5, 2, 2),
    (0, 1, 1),
    (7, 2, 2),
    (3, 4, 2),
    (11, 2, 3),
    (6, 1, 4),
    (9, 3, 1),
    (1023, 8, 16),
    (517, 8, 4),
]
wrong = {
    lambda rank, tp, dp: (rank // (tp * dp), rank // tp % dp, rank % tp): (
        "Those are the right numbers, in the order pp, dp, tp. The question asks for tp first."
    ),
    lambda rank, tp, dp: (rank % tp, rank % dp, rank // (tp * dp)): (
        "Along dp the number changes only after all of tp. With tp = 2 and dp = 2, what is rank 1's number along dp?"
    ),
    lambda rank, tp, dp: (
        rank // dp % tp,
        rank % dp,
        rank // (tp * dp),
    ): "There dp is the fastest axis, as if neighbours shared weights.",
    lambda rank, tp, dp: (rank % tp, rank // tp, rank // (tp * dp)): (
        "The second number goes on beyond dp. What happens where the next stage begins?"
    ),
}
well = "Right: a seat is the rank's digits, in a number system with the bases tp, dp and pp."

# %% lesson="after seat"
axes.groups_table(seat)

# %% lesson="quiz groups"
quiz(
    "groups",
    "1,024 ranks: tp = 8, dp = 16, pp = 8. How many process groups of more than one rank are there, on all three axes?",
    answer=320,
    because="128 groups of tp with 8 ranks each, 64 of dp with 16, and 128 of pp with 8. Each rank is in one of each.",
    wrong={
        32: "Those are the ranks of three groups, 8 + 16 + 8. How many such groups does each axis have?",
        3: "Those are the axes. How many ranks does one tp group have, and how many such groups make 1,024?",
        3072: "Each rank is in three groups, but a group has 8 or 16 ranks.",
    },
)

# %% [markdown]
# ## 2. Which axis on which link · {minutes} minutes · short path
#
# Two nodes of 4 GPUs form a 2 × 2 × 2 grid. Two axes fit inside the nodes, on NVLink. The third runs over the network,
# which is 12 times as slow here.

# %% [markdown]
# A rank has half of each of its layers, which are h wide. A micro-batch has T tokens. What does a rank send in a step?
#
# - dp: each gradient once, after the last micro-batch;
# - tp: T · h numbers, four times for each layer and micro-batch;
# - pp: T · h/2 numbers to one neighbour for each micro-batch. The two ranks of tp send half of the message each.
#
# A layer has 12 · h² weights. In a group of two, a rank sends each number of an all-reduce once.

# %% lesson="predict heavier"
predict(
    "heavier",
    "A GPT is 8,192 wide. A stage has two layers, cut in two by tp. A step has four micro-batches of 256 tokens. "
    "How many times as many bytes does a rank send for dp as for tp?",
    unit="times",
    answer=10.2,
)

# %% lesson="after heavier"
many_weights = placed.find_recorded(placed.JOBS[-1], "pp").sent
display(reconcile("heavier", simulated=many_weights["dp"] / many_weights["tp"]))
show.axes_on_links(placed.on_links())

# %% [markdown] lesson="reason heavier"
# **Our reason.** dp sends half of 2 · 12 · h² gradients, tp sends 4 · 4 · 2 · T · h numbers.
# That is 12 · h / (32 · T), so 12 times. In the run it is somewhat less: tp also gathers the halves that arrive from the
# other stage, and adds up for the embedding and the loss. The batch does not change what dp sends. With 16 times as many
# tokens and an eighth of the width, tp sends more.

# %% [markdown] lesson="after heavier"
# Drag an axis between the nodes, or press its button. The slider chooses another GPT; the question's is the one of many
# weights, at its right end. (All nine steps were recorded:
# `placed.all_placed(full=True)` runs them anew.) For which GPT is dp on the network nearly as fast as pp, and for which
# is it slower than tp?

# %% [markdown] lesson="after heavier"
# “Data parallelism is applied across machines, while pipeline parallelism is used within each machine”, says a lecture.
# Unit 09 has shown that it depends on the model. Here, with three axes, pp across nodes is the fastest for each of the
# three GPTs: it sends least.

# %% [markdown]
# ## 3. One GPT on eight ranks · {minutes} minutes
#
# Does it still train the same model? Below, one GPT trains for two steps, in float64 and without dropout: on eight
# ranks, and on one. Row three shards each stage's weights over dp; in row four experts are folded in. Every weight is
# put together from its parts. How far from zero are the largest differences?

# %%
equality.equality_table()

# %% [markdown]
# Heads, words, layers and positions need not divide evenly ([more](more.ipynb)). What must, `hybrid.grid` says.
#
# torch calls such a grid a mesh. Its own program, `parallelize_module` along tp, then `fully_shard` along dp, runs here
# unchanged, on two MLPs. Look at dp: which two collectives replace one all-reduce, and how many times as many bytes do
# they send?

# %%
torchs_own.torchs_own_table()

# %% [markdown]
# That is unit 08's price: weights are gathered forward and backward, and gradients are reduce-scattered, together 1.5
# times an all-reduce. Over tp, both programs send the same.
#
# Two axes were enough here. A slide combines four cuts, experts among them, “for massive models”. **Hybrid is not all
# four at once**: PaLM used two of them, and GPT-3's plan below has dp = 1 and no experts. Section 9 has the papers.

# %% lesson="predict sharded"
predict(
    "sharded",
    "With ZeRO's stage 3 (FSDP), a layer is whole only while it computes: weights are gathered for each pass, gradients "
    "reduce-scattered after it. In a pipeline with four micro-batches, how many times the bytes of one all-reduce a step "
    "go over dp?",
    unit="times",
    answer=5.9,
)

# %% lesson="after sharded"
display(pipeline_and_fsdp.sharded_table())
reconcile("sharded", simulated=pipeline_and_fsdp.times_as_many())

# %% [markdown] lesson="reason sharded"
# **Our reason.** Each of the four micro-batches sends 1.5 times an all-reduce. (Only the embedding isn't gathered
# twice.) So FSDP2 can keep a stage's weights gathered for the whole step, which takes their memory; ZeRO's stage 1
# sends no more than an all-reduce.

# %% lesson="quiz states"
quiz(
    "states",
    "A GPU has 5 billion parameters of a model. Weights are in bf16, gradients in float32. The optimizer's 12 bytes a "
    "parameter are divided among dp = 8 ranks (ZeRO's stage 1). How many GB are these states?",
    unit="GB",
    answer=37.5,
    because="5 billion times 2 + 4 + 12/8 bytes.",
    wrong={
        90: "That is 2 + 4 + 12 bytes. How many of the 12 does one GPU keep?",
        27.5: "There gradients take 2 bytes.",
        11.25: "That divides everything. ZeRO's stage 1 divides the optimizer's state.",
    },
)

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 4. Cutting the sequence · {minutes} minutes
#
# A sequence may be too long for one rank, however small the model is. **Context parallelism** gives each rank some of
# its positions, in all layers. MLPs and norms need no others. Attention does: a query meets all earlier keys.

# %% [markdown]
# In **ring attention** ([arXiv:2310.01889](https://arxiv.org/abs/2310.01889)), queries stay. Keys and values go round the
# ring of K ranks, in K − 1 messages, and each rank attends to those that it has at the moment. **Online softmax**
# ([arXiv:1805.02867](https://arxiv.org/abs/1805.02867)) merges the results: each comes with the logarithm of its
# softmax's denominator.

# %% lesson="predict pairs"
predict(
    "pairs",
    "Causal attention: position t, from 0 on, attends to t + 1 positions. 4,096 positions are on 8 ranks, one stretch "
    "each. How many times as many pairs of a query and a key does the last rank have as the first?",
    unit="times",
    answer=15,
)

# %% lesson="after pairs"
display(reconcile("pairs", simulated=context.unevenness()))
show.attention_ring(ranks=4)

# %% [markdown] lesson="reason pairs"
# **Our reason.** Think of a triangle, cut into 8 strips of equal height. The lowest strip has 15 times the area of the
# top one: 8² − 7² to 1². Rank 0 is idle after its own keys, and everybody waits for the last rank. So the sum of all
# pairs says little. What counts is the busiest rank in each round.

# %% [markdown] lesson="after pairs"
# Go through the rounds, then set the layout to **zig-zag**. Which rank waits now?
#
# **Your turn.** Cut the sequence into 2K chunks. Each rank gets a cheap one and a dear one, so that all ranks have the
# same number of pairs. Your line deals the chunks out below. A second table asks whether a ring, and section 5's
# Ulysses, still compute attention at lengths that K does not divide.


# %% lesson="turn zigzag"
def zigzag(r, K):
    """A sequence is cut in 2K chunks, numbered 0 to 2K - 1. Which two does rank r of K
    get, as a list in rising order, so that each rank has the same work?"""
    ### BEGIN SOLUTION
    return [r, 2 * K - 1 - r]
    ### END SOLUTION


# %% lesson="behind zigzag"
cases = [(0, 1), (0, 3), (1, 3), (2, 3), (0, 4), (3, 4), (5, 8), (7, 8), (100, 512)]
wrong = {
    lambda r, K: [2 * r, 2 * r + 1]: "That is one stretch. Which rank then has the last chunk, the dearest?",
    lambda r, K: [r, r + K]: "Chunk K + r is not the opposite of r. Rank K − 1 gets the dearest chunk of both halves.",
    lambda r, K: [r, 2 * K - r]: "Chunks are counted from 0, so the last one is 2K − 1.",
    lambda r, K: [2 * K - 1 - r, r]: "Those are the right chunks. In rising order, r comes first.",
}
well = "Right: r and 2K − 1 − r always add up to the same."

# %% lesson="after zigzag"
display(context.pairs_table(zigzag))
context.context_equality_table()

# %% [markdown]
# ## 5. A ring, or Ulysses · {minutes} minutes
#
# **Ulysses** ([arXiv:2309.14509](https://arxiv.org/abs/2309.14509)) uses two all-to-alls instead. Before attention,
# each rank gets all positions of some *heads*; after it, results go back. With H heads of queries, G of keys and values
# (**KV heads**), and K ranks, a ring sends, forward, K · G / (H + G) times as much.
#
# But a ring computes meanwhile, and here nothing hides an all-to-all. Ulysses needs K to divide G. In which row is the
# ring faster, though it sends more? Where on the network is it slower?

# %%
context.ring_or_ulysses_table()

# %% [markdown]
# In a node, Ulysses is faster for the short sequence, and hardly for the long one. On the network, long sequences hide
# the ring's messages, and few KV heads make them small. A short sequence with many KV heads goes faster by Ulysses. The
# sweep was recorded; `full=True` runs it anew.

# %% lesson="quiz ring"
quiz(
    "ring",
    "64 heads of queries, 16 of keys and values, 16 ranks. How many times as many bytes as Ulysses does a ring send, "
    "forward?",
    unit="times",
    answer=3.2,
    within=0.01,
    because="16 · 16 / (64 + 16). A ring passes each KV head on 15 times; in an all-to-all each number crosses once.",
    wrong={
        0.3125: "That is the other way round.",
        4: "Ulysses sends queries and results, H heads each, and keys and values, G heads each.",
        8: "K/2 holds where all heads have keys of their own. Here four share one.",
    },
)

# %% [markdown]
# ## 6. Precision is an axis, too · {minutes} minutes
#
# The bytes of a number change three things separately: what memory holds, what messages carry, and how fast products
# are. Compare rows two and three with the first. Which plan does not fit into the 86 GB of a DGX H100's GPU?

# %%
display(precision.planned_table(), precision.pieces_table())
precision.dispatch_table()

# %% [markdown]
# Gradients in float32 are safer to add up; here they cost memory rather than time. In the simulation, FP8 makes products
# twice as fast. The planned step is not: attention, norms and messages stay at 16 bits or more. So its MFU *falls*,
# because the peak that it is measured against has doubled. **FP8 dispatch** sends tokens to experts in 8 bits; results
# return in bf16, backward too (DeepSeek-V3, [arXiv:2412.19437](https://arxiv.org/abs/2412.19437)).

# %% [markdown]
# ## 7. A plan by hand · {minutes} minutes · short path
#
# GPT-3 has L = 96 layers that are h = 12,288 wide. Its states, 16 bytes for each of 175 billion parameters, need many
# GPUs. A published plan ([arXiv:2104.04473](https://arxiv.org/abs/2104.04473), figure 12) has 96 A100s: tp = 8 inside
# each node, pp = 12 across nodes. All layers are recomputed, so a step of B sequences of s tokens takes
# 96 · B · s · L · h² FLOP, and a bit more for attention and logits.

# %% lesson="predict step"
predict(
    "step",
    "An A100 has 312 TFLOP/s on its data sheet. How many seconds does a step of B = 24 sequences of s = 2,048 tokens "
    "take, one sequence a micro-batch?",
    unit="s",
    answer=6.16,
)

# %% lesson="after step"
display(reconcile("step", simulated=by_hand.simulated().time))
by_hand.hand_table()

# %% [markdown] lesson="reason step"
# **Our reason.** At the data sheet's rate, computing takes 2.4 s, and tp 0.3 s. The bubble adds 11/24 of both, since the
# last stage waits for 11 others. Our sum by hand comes to 3.9 s; the paper measured 6.7. Compare the columns: most of
# what is missing is in computing. Products don't reach the peak, and in 2021 attention wrote its scores to memory. The
# bytes nearly agree.

# %% [markdown] lesson="after step"
# By hand, each number is one line (V: vocabulary, p: stages, m: micro-batches). Parameters: (12 · L · h² + V · h) / 96.
# tp: 6 all-reduces of s · h numbers for each layer and sequence; a rank sends 2 · 7/8 of them. pp: an eighth of s · h
# to each neighbour for each sequence. Bubble: (p − 1)/m of computing and tp.
#
# By how much is each method off? The **best constant** takes one MFU for all dense models on A100s, and costs nothing.

# %% lesson="after step"
by_hand.batches_table()

# %% lesson="quiz bubble"
quiz(
    "bubble",
    "The same plan with 24 sequences, but each stage has four chunks of two layers instead of one of eight. How large "
    "is the bubble, as a percentage of the time without it?",
    unit="%",
    answer=11.5,
    within=0.02,
    because="11 / (4 · 24). Interleaving divides the bubble by the number of chunks, and sends four times as many messages.",
    wrong={
        45.8: "That is with one chunk a stage.",
        12.5: "How many other stages does the last one wait for?",
        183: "More chunks make the bubble smaller: each stage begins sooner.",
    },
)

# %% [markdown]
# In a terminal, `lockstep plan --model gpt3 --cluster "dgx-a100 x 12" --batch 24 --stack megatron-2022` gives the best
# plans. Below are all, for GPT-3 on 96 A100s with that software, a year later; the best recomputes nothing. Move *recompute*
# to full: what does that cost, and what does it save?

# %%
show.plan("gpt3", "dgx-a100 x 12", batch=24, stack="megatron-2022")

# %% [markdown]
# How far can you trust it? Here is every published table that we have, whole. Calibration rows set its constants. It
# loses to a constant where all rows are alike. It misses badly in ZeRO's figures, which were read by eye, and where one
# release of software ran a model at half its speed ([plan](../../docs/plan.md)).

# %%
by_hand.errors_table()

# %% [markdown]
# ## 8. GPUs fail, and differ · {minutes} minutes
#
# So far, all GPUs were equal and never failed.

# %% lesson="predict slow"
predict(
    "slow",
    "One of GPT-3's 96 GPUs computes at half speed, in the sixth stage. How many times as long does the step of 24 "
    "sequences take?",
    unit="times",
    answer=1.49,
)

# %% lesson="after slow"
display(reconcile("slow", simulated=lasting.slower()))
two_kinds.two_kinds_table()

# %% [markdown] lesson="reason slow"
# **Our reason.** Its tensor group waits for it, so its stage computes at half speed: 2 · 3.7 s, and 0.5 s of tp
# (section 7, simulated). The five stages before it fill and empty in 5/24 of 4.2 s. Together 8.8 s of 6.2, or 1.4 times;
# the rest it waits for its first gradient. The table has two kinds of GPU. With equal layers the fast ones wait; layers
# by speed mend most of that.

# %% [markdown]
# Llama 3 ([arXiv:2407.21783](https://arxiv.org/abs/2407.21783)) had 466 interruptions in 54 days on 16,384 GPUs. Let M
# seconds pass between two failures. A **checkpoint** saves the training in d seconds, once every t seconds. Each second
# of training then loses d/t to writing, and a failure loses t/2 on average. Together: d/t + t/(2M).
#
# **Your turn.** Which t makes that least? Your line then lives through 4,000 random failures. (The table also counts ten
# minutes for each restart.)


# %% lesson="turn interval"
def interval(d, M):
    """A checkpoint takes d seconds; a failure comes every M seconds. Which t makes
    d / t + t / (2 * M) least?"""
    ### BEGIN SOLUTION
    return (2 * d * M) ** 0.5
    ### END SOLUTION


# %% lesson="behind interval"
cases = [
    (8.0, 1.0),
    (2.0, 100.0),
    (1.0, 2.0),
    (0.5, 4.0),
    (60.0, 10000.0),
    (3.0, 10000.0),
    (18.0, 160000.0),
    (14.0, 2563000.0),
]
wrong = {
    lambda d, M: (d * M) ** 0.5: "There a failure costs t, not t/2. How much work is lost on average?",
    lambda d, M: 2 * (d * M) ** 0.5: "Set the derivative to zero: −d/t² + 1/(2M). Is the 2 under the root?",
    lambda d, M: 2 * d * M: "That is t². And its unit is s².",
    lambda d, M: M / 2: "Does it not matter how long a checkpoint takes?",
}
well = "Right. That is Young's formula (CACM, 1974)."

# %% lesson="after interval"
lasting.interval_table(interval)

# %% lesson="quiz storage"
quiz(
    "storage",
    "The storage becomes four times as fast. By which factor does the best interval change?",
    answer=0.5,
    because="d is a quarter, and t grows with the root of d. The loss, d/t + t/(2M), halves, too.",
    wrong={
        0.25: "That is how d changes. And its root?",
        2: "A checkpoint that costs less is taken more often.",
        4: "A checkpoint that costs less is taken more often.",
    },
)

# %% [markdown]
# ## 9. Common claims · {minutes} minutes
#
# Each row quotes a lecture or a slide. FourCastNet forecasts the weather on a grid of cells, and was trained on
# thousands of GPUs. Such a field can be cut in *space*: **domain decomposition**, with a **halo exchange** between
# neighbours. [More](more.ipynb) has it. We could not open the part of the paper on its model parallelism.

# %%
lecture_notes.corrections_table()

# %% [markdown]
# ## Wrap-up
#
# You can now say:
#
# - which ranks share a group on each axis;
# - what each axis sends, and which one belongs on the slow link;
# - how a ring attends to other ranks' keys, and why zig-zag;
# - each number of a plan, and which of them a sum by hand misses;
# - what a slow GPU and failures cost.
#
# In practice: Megatron Core, torchtitan, DeepSpeed; and `lockstep plan` before you rent.
#
# **Go on**: [the lab](../../labs/12_hybrid/lab.ipynb). **[More](more.ipynb)**: another grid, interleaving, halos. **Or
# stop here**, and begin with the lab.
