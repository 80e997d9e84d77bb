# %% [markdown]
# # 10 Tensor parallelism
#
# **Along which side do you cut a matrix?**
#
# ![](opening.svg)
#
# In unit 09 a rank had whole layers. Here each rank has a part of every layer, and all ranks work on the same tokens at the
# same time. You count what they have to send each other, and how long they wait for it.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | {minutes} | sections 1 to 9 |
# | Short path | {minutes} | sections 1, 2 and 6, the wrap-up; then `parallel_mlp` in the lab |
# | [Lab](../../labs/10_tensor_parallel/lab.ipynb) | 120 | five exercises, and more for those who want them |
#
# From units 04 and 05 you need collectives and the ring all-reduce. One name is in use for three things:
# [“model parallelism”](model_parallelism.md).

# %%
import inspect

from IPython.display import display

from lockstep import predict, quiz, reconcile, show, your_turn
from lockstep.experiments.tensor_parallel import collectives_of_a_block, lecture_notes
from lockstep.experiments.tensor_parallel import table, trainings, your_line
from lockstep.tensor_parallel import across_nodes, f_and_g, overlapped, published
from lockstep.tensor_parallel import recorded

# %% [markdown]
# ## 1. Two ways to cut · {minutes} minutes · short path
#
# A layer computes Y = GeLU(X·A). X has a row for each token, A has a column for each output. Two ranks share A. Look at Y
# below: which of its numbers does a rank have, and are they finished? Then set K to 4.

# %%
show.matrix_cuts()

# %% [markdown]
# **By columns**, each rank has finished numbers, in some columns. **By rows**, each rank has a summand of every number.
# A slide writes that sum as Y = σ(X1A1 + X1A2). Below, compare it with another sum. And what happens if GeLU comes
# before the sum?

# %%
display(your_line.halves_table())
your_line.gelu_table()

# %% [markdown]
# The second half of X meets the second half of A: X1·A1 + X2·A2. And GeLU of a sum is not the sum of GeLUs. So by rows the
# ranks have to talk before the nonlinearity; by columns they don't.
#
# **Your turn.** K, the number of ranks, needn't divide the number of columns. If it doesn't, parts differ by one, and
# the first ranks have more. The lab's exercises all cut like this.


# %% lesson="turn own_part"
def own_part(n, ranks, rank):
    """n columns are split in order, as evenly as possible; the first ranks have more.
    Which ones does `rank` have? (its first one, and the one after its last)"""
    ### BEGIN SOLUTION
    each, more = divmod(n, ranks)
    first = rank * each + min(rank, more)
    return first, first + each + (rank < more)
    ### END SOLUTION


# %% lesson="behind own_part"
cases = [(10, 4, rank) for rank in (0, 1, 2, 3)] + [
    (6, 3, 2),
    (7, 3, 0),
    (7, 3, 1),
    (2, 3, 2),
    (5, 1, 0),
    (51200, 7, 6),
]
wrong = {
    lambda n, ranks, rank: (
        rank * (n // ranks),
        (rank + 1) * (n // ranks),
    ): "That leaves n % ranks columns to nobody. Who gets them?",
    lambda n, ranks, rank: (
        rank * (n // ranks),
        n if rank == ranks - 1 else (rank + 1) * (n // ranks),
    ): "That gives all that is left to the last rank. Then it has the most work.",
    lambda n, ranks, rank: (
        min(n, rank * -(-n // ranks)),
        min(n, (rank + 1) * -(-n // ranks)),
    ): "That is `torch.chunk`: all have as many as the first, and the last have what is left.",
    lambda n, ranks, rank: (
        rank * (n // ranks) + min(rank, n % ranks),
        rank * (n // ranks) + min(rank, n % ranks) + n // ranks,
    ): "Your parts begin in the right places. How long is one of the first?",
}
well = "Right: `torch.tensor_split` cuts like this, too."

# %% lesson="after own_part"
your_line.parts_table(own_part)

# %% [markdown]
# ## 2. f and g · {minutes} minutes · short path
#
# Cut by columns, a layer gives Y in parts. Cut by rows, it takes X in parts. So put one after the other. A
# Transformer's **MLP** is just that: GeLU(X·A)·B, with 4h numbers inside for each token, and h outside.

# %% lesson="predict mlp"
predict(
    "mlp",
    "Both matrices of an MLP are cut, on 2 ranks. X, and the gradient that the next layer sends back, are whole on both. How "
    "many all-reduces are there in one training step, forward and backward together?",
    unit="all-reduces",
    answer=2,
)

# %% lesson="after mlp"
mlp = your_line.an_mlp()
sums = [event for event in mlp.trace.of_rank(0) if event.kind == "all_reduce"]
display(reconcile("mlp", simulated=len(sums)))
show.timeline(mlp)

# %% [markdown] lesson="reason mlp"
# **Our reason.** Cut by columns, A needs no message, and neither does GeLU. Cut by rows, B gives each rank a summand: one
# all-reduce forward. Backward, the gradient of the output passes through B and A without a message. But both ranks used
# X, each in its own way. So the gradient of X is a sum: one all-reduce backward. Each comes at the end of a pass, when
# nothing is left to compute in the meantime.

# %% [markdown] lesson="after mlp"
# Shoeybi et al. (“Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism”,
# [arXiv:1909.08053](https://arxiv.org/abs/1909.08053)) call these two places **f** and **g**. f copies forward and adds up
# backward; g adds up forward and copies backward.
#
# Autograd derives the backward pass of operations that it knows. `dist.all_reduce` isn't one of them. For such cases,
# PyTorch lets you write both passes yourself, as a class: an **`autograd.Function`**. Here is f. You write both in the
# lab.

# %% lesson="after mlp"
print(inspect.getsource(f_and_g.Copy))

# %% lesson="quiz rows-first"
quiz(
    "rows-first",
    "Cut the other way round, A by rows and B by columns, each pass of an MLP all-reduces 4h numbers for each token, and "
    "all-gathers h. With rings, how many times as much does this send as columns first?",
    unit="times",
    answer=4.5,
    within=0.01,
    because="An all-reduce sends what two all-gathers send. So it is 2·4 + 2·4 + 1 + 1 = 18, against 2 + 2.",
    wrong={
        4: "Those are the all-reduces. What do the all-gathers send?",
        5: "That counts an all-gather like an all-reduce. Which is half of the other?",
        9: "That is against one all-reduce. Columns first has two.",
        2.5: "That counts one all-reduce of 4h. There is one in each pass.",
    },
)

# %% [markdown]
# ## 3. A block · {minutes} minutes
#
# **Attention** is cut by heads: they never talk to each other. A rank has its heads' columns of queries, keys and values,
# and their rows of the output layer. With **grouped queries**, several heads share one head of keys and values: below,
# 8 share 2, on 4 ranks. Which keys are there twice? Then set G to 8.
#
# So a block is the same thing twice: f, columns, rows, g. Between g and the next f come norms and residual sums, equal
# on all ranks.

# %%
show.heads()

# %% lesson="predict block"
predict(
    "block",
    "A layer of GPT-3 is 12,288 wide. One text of 2,048 tokens goes through it on 8 ranks, 2 bytes a number. How many MB does "
    "a rank all-reduce for this layer in a training step?",
    unit="MB",
    answer=201.3,
)

# %% lesson="after block"
nbytes = across_nodes.spent(8).nbytes
display(reconcile("block", simulated=nbytes / 1e6))
print(f"96 layers: {96 * nbytes / 1e9:.1f} GB a step")

# %% [markdown] lesson="reason block"
# **Our reason.** Attention and the MLP have one all-reduce each, in each pass: four. Each is of 2,048 · 12,288 numbers with 2
# bytes: 50 MB. Neither the weights nor the number of ranks matters. And the next product needs the sum, so nobody can
# go on without it.

# %% [markdown]
# **Your turn.** Below, your line is compared with the traces of three layers.


# %% lesson="turn all_reduced"
def all_reduced(examples, positions, width):
    """A block, one training step, in tensor parallelism: how many numbers does a rank
    all-reduce? (Count an all-reduce of n numbers as n.)"""
    ### BEGIN SOLUTION
    return 4 * examples * positions * width
    ### END SOLUTION


# %% lesson="behind all_reduced"
cases = [
    (1, 2048, 12288),
    (4, 512, 1024),
    (1, 1, 8),
    (3, 7, 20),
    (8, 1024, 4096),
    (1, 4096, 64),
    (2, 3, 5),
    (64, 128, 768),
]
wrong = {
    lambda examples, positions, width: 2 * examples * positions * width: "That is one pass. What about the other?",
    lambda examples, positions, width: 8 * examples * positions * width: (
        "A ring sends about twice what is all-reduced. Here an all-reduce of n counts as n."
    ),
    lambda examples, positions, width: 12 * width * width: "Those are the weights: data parallelism reduces these.",
    lambda examples, positions, width: 4 * positions * width: "That is for one example.",
    lambda examples, positions, width: 16 * examples * positions * width: (
        "Inside an MLP there are 4h numbers for each token. Do they travel?"
    ),
}
well = "Right: two in each pass, of all tokens' h numbers."

# %% lesson="after all_reduced"
your_line.block_table(all_reduced)

# %% lesson="quiz tokens"
quiz(
    "tokens",
    "Data parallelism all-reduces the gradients of a layer: 12·h² numbers, whatever the batch is. Tensor parallelism "
    "all-reduces 4·h for each token. With h = 12,288, beyond how many tokens in the batch does data parallelism send less?",
    unit="tokens",
    answer=36864,
    because="4·h·n = 12·h² when n is 3·h: then both send the same.",
    wrong={
        12288: "That is h. What is 12·h² divided by 4·h?",
        3072: "That is h/4. How many times does 4·h go into 12·h²?",
        147456: "That is 12·h, as if a token had h numbers to reduce.",
        49152: "That is 4·h. What is 12·h² divided by 4·h?",
    },
)

# %% [markdown]
# ## 4. The vocabulary · {minutes} minutes
#
# The first and the last matrix of a language model have a row for each token of the vocabulary. Cut both by tokens. To embed,
# a rank looks up the tokens that it has, and gives zeros for the others; g adds up. At the end each rank has its columns of
# the **scores** z. The loss of a token is log Σ exp(z) − z_target, and the sum is over all columns.

# %% lesson="predict scores"
predict(
    "scores",
    "2,048 tokens, a vocabulary of 51,200, 8 ranks, 4 bytes a number. All scores together are 419 MB. How many kB does a "
    "rank have to all-reduce, so that each has the loss, and the gradient of its own scores?",
    unit="kB",
    answer=24.6,
)

# %% lesson="after scores"
whole, sent = your_line.loss_bytes()
display(reconcile("scores", simulated=sent / 1e3))
print(f"all scores: {whole / 1e6:.0f} MB, {whole / sent:,.0f} times as much")

# %% [markdown] lesson="reason scores"
# **Our reason.** Three numbers for each token: the largest score of all ranks, so that no exp gets too large; the sum of
# exp(z − largest); and the target's score, which one rank has. 3 · 2,048 · 4 bytes. Then exp(z − largest)/sum is each rank's
# part of the softmax, and backward nothing is sent. No rank ever holds more than an eighth of the scores.

# %% [markdown]
# ## 5. Is it the same model? · {minutes} minutes
#
# All layers, on 3 ranks, with sizes that 3 does not divide: how far is any gradient or weight from those of one rank? A
# convolution is among them: its **filters** are to it what columns are to a matrix. Then a small GPT learns from
# Python's own source. Compare the losses first, then the parameters on a rank, then what our way and torch's send.

# %%
display(table.gradients_table((3,)))
trainings.trainings_table(("data parallel", "tensor parallel", "torch’s"))

# %% [markdown]
# torch's way, for your own models, is a plan by name ([its trace](more.ipynb)):
#
# ```python
# plan = {"*.up": ColwiseParallel(), "*.down": RowwiseParallel()}
# parallelize_module(model, mesh, plan)
# ```
#
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 6. Inside a node · {minutes} minutes · short path
#
# A Transformer's layer has two pairs of columns and rows, attention and the MLP: four all-reduces in a step, and
# everybody waits for each. In a DGX A100 a GPU has 300 GB/s to the others in its node, and 25 GB/s to those in other
# nodes.

# %% lesson="predict across"
predict(
    "across",
    "A layer of GPT-3 on 8 simulated A100s: all in one node, or each in a node of its own. How many times as long does a "
    "step take across nodes?",
    unit="times",
    answer=2.13,
)

# %% lesson="after across"
inside, across = across_nodes.spent(8), across_nodes.spent(1)
display(reconcile("across", simulated=across.seconds / inside.seconds))
for name, step in (("in a node", inside), ("a node each", across)):
    share = step.waiting / step.seconds
    print(f"{name}: {1e3 * step.seconds:.1f} ms, {share:.0%} waiting")
show.inside_and_across()

# %% [markdown] lesson="reason across"
# **Our reason.** Computing takes as long as before, about 10 ms. Only the waiting grows, from 1.3 to 14.4 ms: eleven times,
# nearly as much as the links differ. Most of this waiting can't be hidden. Data parallelism hides its all-reduce behind a
# backward pass. So it gets the slow links, and tensor parallelism the fast ones.

# %% [markdown]
# Narayanan et al. (“Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM”,
# [arXiv:2104.04473](https://arxiv.org/abs/2104.04473)) measured it on 64 A100s in nodes of 8: K of them
# share a layer, in a pipeline of 64/K stages. For each size of batch, which K is best?

# %%
across_nodes.figure_13()

# %% [markdown]
# A part of the waiting can be hidden. **Asynchronous** tensor parallelism cuts a product into chunks: while one chunk
# is all-reduced, the next is computed. Backward, the gradient of X travels while that of A is computed. And where
# section 7 gathers X, one **shard** is multiplied while the next travels: in a node, GPT-3's first product in an MLP
# takes 1.02 ms that way, not 1.15 ([more](more.ipynb), and an exercise).
#
# Look at the forward pass in a node: how many chunks are best?

# %% lesson="after across"
overlapped.chunk_table(counts=(0, 1, 8, 32), across=False)

# %% lesson="quiz chunks"
quiz(
    "chunks",
    "Why does the forward pass take longer with 32 chunks than with 8?",
    choices=["more bytes travel", "each all-reduce has its alpha", "less is hidden", "the sums are different"],
    answer="each all-reduce has its alpha",
    because="The bytes are the same, in four times as many all-reduces, and each has a start-up time.",
    wrong={
        "more bytes travel": "A chunk is a part of the same numbers. How many bytes are all chunks together?",
        "less is hidden": "Only the last chunk has nothing to hide behind. Is it longer with 32 chunks?",
        "the sums are different": "Each number is added up once, in whichever chunk it is.",
    },
)

# %% [markdown]
# ## 7. The same numbers, K times · {minutes} minutes
#
# Between g and the next f, all ranks hold the same numbers. What does that cost? Korthikanti et al. (“Reducing Activation
# Recomputation in Large Transformer Models”, [arXiv:2205.05198](https://arxiv.org/abs/2205.05198)) counted what a layer
# keeps for its backward pass.

# %% lesson="predict kept"
predict(
    "kept",
    "A layer of a model with 22 billion parameters keeps 7,080 MB of activations on one rank. How many MB does each of "
    "8 ranks keep in tensor parallelism?",
    unit="MB",
    answer=1330,
)

# %% lesson="after kept"
simulated = published.a_layer(published.GPT_22B, published.PLAIN) / 1e6
reconcile("kept", simulated=simulated)

# %% [markdown] lesson="reason kept"
# **Our reason.** An eighth would be 885. But the inputs and the outputs of both norms, and two masks of dropout, are
# the same on all ranks: 503 MB. Only the rest is divided. The more ranks, the larger the share that all of them keep.
# The run has 5 MB more than the paper's formula, 1,325, which leaves out what norms remember, and attention's causal
# mask.

# %% [markdown]
# Between g and the next f, **sequence parallelism** gives each rank some of the positions. f becomes an all-gather
# forward and a reduce-scatter backward, g the other way round. These two are the halves of an all-reduce, so just as
# many bytes travel.
#
# **Your turn.** For each number of X, a rank alone keeps 34 bytes, not counting the scores of attention. Of these, 24
# belong to what lies between f and g. In the picture that follows, look at the orange part: what happens to it with
# more ranks?


# %% lesson="turn kept_bytes"
def kept_bytes(ranks, sequence):
    """Of 34 bytes for each number of X, 24 lie between f and g. How many does each
    rank keep in tensor parallelism, and how many if the `sequence` is cut, too?"""
    ### BEGIN SOLUTION
    return 34 / ranks if sequence else 10 + 24 / ranks
    ### END SOLUTION


# %% lesson="behind kept_bytes"
cases = [(ranks, sequence) for ranks in (1, 2, 3, 8, 1000) for sequence in (False, True)]
wrong = {
    lambda ranks, sequence: 34 / ranks: "That divides everything. What does every rank hold whole?",
    lambda ranks, sequence: 10 + 24 / ranks: "What becomes of the 10 with sequence parallelism?",
    lambda ranks, sequence: 24 / ranks if sequence else 10 + 24 / ranks: "Are the 10 gone, or cut, too?",
    lambda ranks, sequence: (
        34 / ranks if sequence else 24 + 10 / ranks
    ): "Which of them are cut: those between f and g?",
}
well = "Right: 10 + 24/K, and 34/K."

# %% lesson="after kept_bytes"
display(your_line.kept_table(kept_bytes))
show.kept_by_ranks()

# %% [markdown]
# What does it cost? Below are the collectives of a block, from traces. Forward, the bytes are the same. Backward, gathered
# inputs are gathered again, since nobody kept them. And there are six short all-reduces, for the parameters in the last line:
# weight and bias of both norms, and two biases that are added after g. None of these six parameters is cut, but each
# meets only the rank's own positions now: its gradient is a summand. Forget to add up, and you train K models that
# drift apart.

# %% lesson="after kept_bytes"
display(collectives_of_a_block.counted_table(("tensor", "sequence")))
print("whole on each rank:", *collectives_of_a_block.whole_on_each())

# %% [markdown]
# ## 8. Dropout · {minutes} minutes
#
# Dropout draws a **mask** of random numbers. Where ranks hold the same numbers, all need the same mask. Otherwise their
# numbers differ from there on. Where each has its own part, masks have to differ, or else all parts drop the same
# places. So a rank has two random streams. Below, dropout draws from one stream or the other, and a weight that is the
# same on all ranks comes after it.

# %%
your_line.masks_table()

# %% lesson="quiz masks"
quiz(
    "masks",
    "A block has dropout in three places: on attention's scores, after attention, after the MLP. Without sequence "
    "parallelism, where does each rank need a mask of its own?",
    choices=["on the scores", "after attention and the MLP", "in all three", "nowhere"],
    answer="on the scores",
    because="Each rank has heads of its own. After g all ranks hold the same numbers, and have to keep them the same.",
    wrong={
        "after attention and the MLP": "There g has just given all ranks the same numbers. What would different masks do to them?",
        "in all three": "Two of the three places come after g. Does each rank have a part of its own there?",
        "nowhere": "Which of the three places lies between f and g?",
    },
)

# %% [markdown]
# ## 9. A loss that falls proves nothing · {minutes} minutes
#
# Twelve programs train the same small GPT on 4 ranks. Two are right, and differ in how they compute. Ten have a bug each: f
# is missing, a bias is added K times, and so on. All twelve losses fall, from about 4.75 to about 3.4.

# %% lesson="predict lower"
predict(
    "lower",
    "How many of the ten wrong programs have a lower loss than both right ones, after 20 steps?",
    unit="programs",
    answer=3,
)

# %% lesson="after lower"
rows = recorded.losses()
best = min(row.last for row in rows if row.right)
lower = [row for row in rows if not row.right and row.last < best]
display(reconcile("lower", simulated=len(lower)))
show.losses_of_twelve()

# %% [markdown] lesson="reason lower"
# **Our reason.** A wrong gradient may well make the loss fall faster, for a while. Without f, a rank follows a part of
# the gradient of whatever comes before it; why that helps here, we can only guess. Three other programs have exactly
# the same losses as the right ones. One of their bugs shows only in sizes that 4 does not divide, one only in a group
# that is not all ranks. The third makes a gradient wrong by about a ten-thousandth.

# %% lesson="quiz first-loss"
quiz(
    "first-loss",
    "Look at where the losses begin. How many of the ten bugs would a test find that compares a new model's first loss "
    "with one rank's, on these 4 ranks?",
    unit="bugs",
    answer=3,
    because="The right ones begin at 4.751, and three begin elsewhere. Seven wrong ones have the right loss at first.",
    wrong={
        10: "Seven of them begin with 4.751, like the right ones.",
        7: "Seven begin with the right loss. Would this test find them?",
        2: "Two begin higher than the right ones. Does one begin lower?",
        4: "One loss too many. The right ones begin at 4.751: which others don't?",
    },
)

# %% [markdown]
# So a good test compares all numbers of all gradients, up to rounding: on each rank, for several K and sizes that K
# does not divide, with biases that aren't zero, in a group that isn't the world. You write it in the lab:
# `catch_the_bug`.
#
# Now a lecture: all its slides on tensor parallelism, and what else is said about it. Most rows agree. Look at the sum
# of halves, at what is divided, at “after each layer”, and at the sample for Megatron.

# %% lesson="after lower"
display(lecture_notes.slides_table())
lecture_notes.corrections_table()

# %% [markdown]
# ## Wrap-up
#
# You can now say:
#
# - which side of a matrix you cut, before a nonlinearity and after it;
# - what f and g do in each pass, and what a block all-reduces;
# - why a loss over 51,200 tokens needs three numbers;
# - why tensor parallelism stays inside a node;
# - what every rank keeps a copy of, and what sequence parallelism does to it.
#
# In practice: `parallelize_module`, or Megatron Core.
#
# **Go on**: [the lab](../../labs/10_tensor_parallel/lab.ipynb). **[More](more.ipynb)**: torch's trace, Megatron Core's names, BERT,
# ViT and ResNet. **Or stop here**, and begin with the lab.
