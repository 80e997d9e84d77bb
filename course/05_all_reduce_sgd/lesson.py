# %% [markdown]
# # 05 All-reduce SGD
#
# **When is SGD on K ranks the same SGD?**
#
# ![](opening.svg)
#
# In unit 04 every rank got the sum. Now you train with it: K ranks, one model, one step at a time. In the course's
# formula $A_t = F(A_{t-1}, \Delta(\text{data}, A_{t-1}))$, each rank computes $\Delta$ on examples of its own. $F$ is an
# all-reduce and a step.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | {minutes} | sections 1 to 8 |
# | Short path | {minutes} | sections 1, 2 and 8, the wrap-up; then `all_reduce_sgd` in the lab |
# | [Lab](../../labs/05_all_reduce_sgd/lab.ipynb) | 125 | five exercises, and more for those who want them |
#
# From unit 04 you need `run`, and what an all-reduce is.

# %%
import inspect
import math

import torch
import torch.distributed as dist
from IPython.display import display
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from lockstep import datasets, machines, models, predict, quiz, reconcile, run, show
from lockstep import your_turn
from lockstep.cost import data_parallel as cost
from lockstep.data_parallel import ddp, replicas, sampler, stragglers
from lockstep.experiments.all_reduce_sgd import ddp_switches, equivalence, learning_rate
from lockstep.experiments.all_reduce_sgd import resnet50, under_way, your_line

show.buckets(under_way.bucket_run())

# %% [markdown]
# ## 1. What a step is · {minutes} minutes · short path
#
# A **loss** is one number: how wrong the model is. While you compute it, PyTorch records each operation in the
# **computational graph**. `backward()` walks the graph back to the **parameters**, the numbers to train, and multiplies
# derivatives: the chain rule. What arrives at a parameter is its **gradient**. Then PyTorch calls your **hook**: a
# function of yours.
#
# Here is the graph of (2w − 10)². Below it is a model with three layers, numbered 0, 2 and 4. Which gradient arrives
# first?

# %%
w = torch.tensor(3.0, requires_grad=True)
loss = (2 * w - 10) ** 2
node = loss.grad_fn
while node:
    print(node.name(), end="  ")
    node = node.next_functions[0][0] if node.next_functions else None
loss.backward()
print("\ngradient:", w.grad.item())

model = models.mlp([4, 8, 8, 2])
for name, p in model.named_parameters():
    p.register_post_accumulate_grad_hook(lambda p, name=name: print(name, end="  "))
model(torch.ones(1, 4)).sum().backward()

# %% [markdown]
# By hand: 2·(2w − 10)·2 = −16. The last layer's gradient is ready first. Section 5 uses that.
#
# An **optimizer** turns the gradient g into a step; the learning rate α sets how long it is. An optimizer may keep
# numbers of its own: as many as there are parameters, or twice as many.
#
# | | it keeps | its step |
# |---|---|---|
# | SGD | nothing | w ← w − α·g |
# | momentum | v | v ← μ·v + g, then w ← w − α·v |
# | Adam (Kingma & Ba, *Adam*, arXiv:1412.6980) | m and s: running means of g and g² | w ← w − α·m / (√s + ε), with m and s corrected for their start at 0 |
#
# Only g comes from the data. So ranks that begin with the same w and use the same g go on having the same w.

# %% [markdown]
# ## 2. Algorithm 1 · {minutes} minutes · short path
#
# Here is the algorithm, as a lecture prints it; only the numbers in front are ours. M machines share the
# minibatch: each has B′ of its examples.
#
# | | Algorithm 1: Distributed SGD with All-Reduce |
# |---|---|
# | (1) | **for** m = 1 **to** M **run in parallel on machine** m |
# | (2) | **load** $w_0$ from algorithm inputs |
# | (3) | **for** t = 1 **to** T **do** |
# | (4) | **select** a minibatch $i_{m,1,t}, i_{m,2,t}, \dots, i_{m,B',t}$ of size B′ |
# | (5) | **compute** $g_{m,t} \leftarrow \frac{1}{B'} \sum_{b=1}^{B'} \nabla f_{i_{m,b,t}}(w_{t-1})$ |
# | (6) | **all-reduce** across all workers to compute $G_t = \sum_{m=1}^M g_{m,t}$ |
# | (7) | **update model** $w_t \leftarrow w_{t-1} - \frac{\alpha_t}{M} \cdot G_t$ |
# | (8) | **return** $w_T$ (from any machine) |
#
# And here it is in Python, with the same numbers.
#
# **Your turn.** Line (7) calls `update`. Write it.

# %%
print(inspect.getsource(your_line.driven_sgd))


# %% lesson="turn update"
def update(w, G, M, alpha):
    """G is the sum of M mean gradients, alpha the learning rate. Which w is next?"""
    ### BEGIN SOLUTION
    return w - alpha / M * G
    ### END SOLUTION


# %% lesson="behind update"
cases = [
    (w, G, M, alpha) for w, G, alpha in ((3.0, 8.0, 0.5), (-1.0, 4.0, 0.25), (0.0, -16.0, 1.0)) for M in (1, 2, 4, 64)
]
wrong = {
    lambda w, G, M, alpha: w - alpha * G: "That is a step with the sum. With 64 ranks it is 64 times as long.",
    lambda w, G, M, alpha: w + alpha / M * G: "That walks uphill: the gradient points to where the loss grows.",
    lambda w, G, M, alpha: w - alpha * M * G: "The sum is M times the mean already. You multiply by M once more.",
    lambda w, G, M, alpha: w / M - alpha / M * G: "Nobody has summed w: only the gradients are summed.",
    lambda w, G, M, alpha: w - G / M: "The learning rate is missing.",
}
well = "Right: G/M is the mean gradient of the whole minibatch."


# %% lesson="after update"
x, y = datasets.dyadic(16, 4)


def gradient(w, x, y):  # of the mean of (x·w − y)² / 2
    return x.T @ (x @ w - y) / len(x)


def with_the_sum(w, G, M, alpha):
    return w - alpha * G


def first_step(line_7, M):
    def program():
        mine = slice(dist.get_rank(), None, M)
        batches, w_0 = [(x[mine], y[mine])], torch.zeros(4, dtype=torch.float64)
        return your_line.driven_sgd(gradient, w_0, batches, lambda t: 0.25, line_7)

    return run(program, ranks=M, on="commodity-10g").values[0].norm()


alone = first_step(update, 1)
for M in show.progress((2, 4, 8), "Running"):
    mine, summed = (first_step(line, M) / alone for line in (update, with_the_sum))
    print(f"{M} ranks: {mine:g} times one rank's step, and {summed:g} with the sum")

# %% [markdown] lesson="after update"
# Another lecture leaves the division out:
#
# | a common claim | we count | why |
# |---|---|---|
# | $\nabla Q(w) = \sum_j \nabla Q_j(w)$, then $w = w - \eta \nabla Q(w)$ | 2, 4 and 8 times the step with 2, 4 and 8 ranks | The sum is right where each $Q_j$ is a share of *one* loss, divided by the whole minibatch. PyTorch's losses are means over a rank's own examples. |
#
# With 8 ranks, that program says η and learns at 8η.

# %% lesson="quiz summed"
quiz(
    "summed",
    "A program on 8 ranks sums the mean gradients, and does not divide. Its learning rate is 0.4. "
    "Which learning rate makes it do what Algorithm 1 does at 0.4?",
    answer=0.05,
    because="Its sum is 8 times the mean, so 0.4 / 8.",
    wrong={
        0.4: "Then each of its steps is 8 times as long.",
        3.2: "That moves further away from Algorithm 1: its steps are too long already.",
        0.1414: "The square root comes in section 6. Here the step is exactly 8 times as long.",
    },
)

# %% [markdown]
# ## 3. The same as one rank? · {minutes} minutes
#
# A common claim: “Statistically equivalent to sequential SGD!” Ask for more: the same *bits*.
#
# Only rounding can make a difference: K ranks add in a different order. So take numbers that need no rounding. Below,
# inputs are multiples of 1/2, the learning rate is 1/4, and a minibatch has 64 examples. Each step multiplies w by two inputs (2
# more bits after the binary point), by 1/4 (2 bits) and by 1/64 (6 bits). A float64 holds 53 bits in a row.

# %% lesson="predict bits-part"
predict(
    "bits-part",
    "The weights begin at zero. After how many steps do those on 4 ranks first differ from those on one rank?",
    unit="steps",
    answer=6,
)

# %% lesson="after bits-part"
display(reconcile("bits-part", simulated=equivalence.first_step_apart(ranks=4)))
adam = equivalence.first_step_apart(ranks=4, method="Adam")
print(f"With Adam instead of SGD, they first differ after {adam} steps.")
equivalence.bits_table(steps=8, ranks=4)

# %% [markdown] lesson="reason bits-part"
# **Our reason.** Each step needs about 10 bits more. Five steps fit into 53 bits: nothing is rounded, and any order of
# adding gives the same bits. In the sixth, sums are rounded, and the order decides the last bits. The difference stays
# in the last bits: see the column on the right. Adam divides and takes roots. So its first step ends with rounded
# weights, the same on 4 ranks and on one. In the second step the sums are rounded, too.

# %% [markdown] lesson="after bits-part"
# Now the question: three optimizers, 1 to 8 ranks, minibatches that don't divide evenly, a matrix used twice.
# One row does not agree: why? (A difference of 1e-16 is in the last bits.)
#
# **Batch normalisation** subtracts the mean of the examples that it sees (Ioffe & Szegedy, *Batch Normalization*,
# arXiv:1502.03167). A rank sees only its own, so K ranks train a different model. The *synchronised* kind sums over
# ranks first: an extra in the lab. Where K does not divide the minibatch, gradients are weighted by each rank's number
# of examples.

# %% lesson="after bits-part"
equivalence.equality_table()

# %% lesson="quiz mean-of-means"
quiz(
    "mean-of-means",
    "Rank 0 has 30 examples with a mean loss of 1, rank 1 has 10 examples with a mean loss of 2. "
    "What is the mean loss of all 40?",
    answer=1.25,
    because="(30·1 + 10·2) / 40. Each rank sends its sum and its number of examples.",
    wrong={
        1.5: "That is the mean of the means: rank 1's examples count three times as much as rank 0's.",
        3: "That is the sum of the means.",
        1.75: "Which rank has more examples?",
    },
)

# %% [markdown]
# All ranks hold the same model. Nobody sends w, and nobody has to. But nobody checks, either. Here 8 ranks have trained
# for 100 steps. One has trained a model of its own: it never used the sum. Can you tell which one from the losses?
# `replicas_agree`, in the lab, notices that something is wrong, with one all-reduce of two numbers.

# %%
replicas.one_alone(ranks=8, steps=100)

# %% [markdown]
# ## 4. Whose examples? · {minutes} minutes
#
# There are two sources of examples. **Data servers** are ranks that train nothing: they store the examples, and
# the others load theirs from there ([more](more.ipynb) runs one). A **partitioned dataset** is spread over the ranks
# that train. There are three ways to split it:
#
# - **even**: each example on one rank; shares differ by one at most;
# - **overlapping**: shares have examples in common;
# - **dynamic**: whoever is free takes the next examples.
#
# Look at the last columns: how often is an example seen?

# %%
sampler.splits_table()

# %% [markdown]
# A fixed share has a flaw: a rank sees the same examples together in every epoch (pass over the data). So the
# **sampler** shuffles all examples again each epoch, then deals them out. No rank sends its order. Each works it out
# alone: its random seed is the *epoch*, so all get the same order.
#
# **Your turn.** Deal them out like cards: the first to rank 0, the second to rank 1, and so on. Below, your line deals
# out two epochs: the shares of the second should be new.


# %% lesson="turn share"
def share(order, rank, ranks):
    """`order` is the same list on all ranks. Dealt out, which part does `rank` get?"""
    ### BEGIN SOLUTION
    return order[rank::ranks]
    ### END SOLUTION


# %% lesson="behind share"
shuffled = {n: [(step * i + 1) % n for i in range(n)] for n, step in ((12, 5), (7, 3), (5, 2), (3, 2), (101, 40))}
cases = [(shuffled[n], rank, K) for n, K in ((12, 4), (7, 3), (5, 1), (3, 4), (101, 16)) for rank in range(K)]
wrong = {
    lambda order, rank, ranks: order[rank :: ranks - 1] if ranks > 1 else order: "The stride is the number of ranks.",
    lambda order, rank, ranks: order[
        rank * (len(order) // ranks) : (rank + 1) * (len(order) // ranks)
    ]: "With 7 examples and 3 ranks, nobody has the last one.",
    lambda order, rank, ranks: order[
        rank * -(-len(order) // ranks) : (rank + 1) * -(-len(order) // ranks)
    ]: "Rounded up, the last rank gets what is left: with 7 and 3 that is 1 example, against 3.",
    lambda order, rank, ranks: order[
        rank * len(order) // ranks : (rank + 1) * len(order) // ranks
    ]: "Those shares are even, too. But they are pieces of the list: deal one by one.",
    lambda order, rank, ranks: [i for i in order if i % ranks == rank]: (
        "Those are the same examples in every epoch: you cut by the examples' numbers, not by their places."
    ),
}
well = "Right. Each rank takes every K-th of the list, and begins at its own number."

# %% lesson="after share"
your_line.driven_epochs(examples=10, ranks=3, epochs=2, share=share)

# %% lesson="quiz own-order"
quiz(
    "own-order",
    "8 ranks share 50,000 examples. Somebody seeds the generator with the epoch and the rank, so each rank cuts its "
    "share from an order of its own. About what percentage of the examples does nobody see in an epoch?",
    unit="%",
    answer=34.4,
    within=0.03,
    because="Each rank misses an example with probability 7/8, so all 8 miss it with (7/8)⁸ = 0.344.",
    wrong={
        0: "Then each example would be in one share. Here the orders differ: shares overlap, and leave gaps.",
        0.344: "That is the fraction. What percentage is it?",
        12.5: "That is what one rank sees.",
        87.5: "That is what one rank does not see. The other 7 look elsewhere.",
    },
)

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 5. Hide the all-reduce · {minutes} minutes
#
# A slide counts what communication adds, for a **master** that sends the model to all workers and receives all
# gradients:
#
# | Training a ResNet-50 with V100s | |
# |---|---|
# | Model parameters (or gradients) are | ≈ 0.1GB |
# | Suppose that we have | 256 workers |
# | If we use batch size 32: Gradient computation. Takes | ≈ 0.33 sec/step |
# | Communication. Adds (Assuming using 300GB/s bandwidth NVLink) | ≈ 0.16 sec/step |
# | ⇒ | Communication adds 50% of the time! |
#
# One of NVIDIA's published runs of ResNet-50 in fp32 trains 384 images a second on a V100 (NVIDIA/DeepLearningExamples,
# MxNet, RN50v1.5). Take that as the speed of computing.

# %% lesson="predict resnet-added"
predict(
    "resnet-added",
    "32 images a worker, and the slide's master: what percentage of the computing time does communication add?",
    unit="%",
    answer=205,
)

# %% lesson="after resnet-added"
example = resnet50.resnet50()
display(reconcile("resnet-added", simulated=100 * example.shared_link / (32 / 384)))
resnet50.resnet50_table()

# %% [markdown] lesson="reason resnet-added"
# **Our reason.** 32 images take 32/384 = 0.083 s. The master sends 256 · 0.1 GB and receives as much: 51.2 GB, which
# takes 0.171 s at 300 GB/s. That is 205 % of 0.083 s. The slide's 0.33 s is what 128 images take: for them, 50 % is
# right. The table has all of NVIDIA's runs, so each row gives a range.

# %% lesson="quiz larger-batch"
quiz(
    "larger-batch",
    "The same master and 256 V100s, now with 512 images a worker. What percentage does communication add?",
    unit="%",
    answer=12.8,
    within=0.03,
    because="The 0.171 s stays, and computing takes 512/384 = 1.33 s.",
    wrong={
        205: "Communication does not depend on the batch. Computing does.",
        51: "That is for a batch of 128.",
        6.4: "That is one direction only.",
        3277: "More images take longer. The same 0.171 s is then a smaller part.",
    },
)

# %% [markdown]
# The time of an all-reduce does not depend on the batch. The time of computing does. So with enough examples, computing
# takes as long as the all-reduce, and can **hide** it.
#
# But a gradient must be computed before it travels. So gradients travel in **buckets**, the last layers' first. Each
# bucket has an all-reduce of its own (`async_op=True`). It starts as soon as the bucket's last gradient is ready: the
# hooks of section 1 say when.

# %% lesson="predict last-bucket"
predict(
    "last-bucket",
    "8 equal layers, a bucket for each. Computing all gradients takes as long as summing them all, one bucket after "
    "another. What percentage of the all-reduce does the step still wait for?",
    unit="%",
    answer=12.5,
)

# %% lesson="after last-bucket"
layers = [(n * 1.0, 1) for n in range(1, 9)]  # ready after n seconds, 1 byte each
beta = 1 / cost.all_reduce_seconds(1, ranks=4, alpha=0, beta=1)  # a layer travels 1 s
took = cost.step_seconds(layers, bucket_bytes=1, ranks=4, alpha=0, beta=beta)
reconcile("last-bucket", simulated=100 * (took - 8) / 8)

# %% [markdown] lesson="reason last-bucket"
# **Our reason.** Each bucket hides behind the next layer's gradient. Only the last one has nothing left to hide behind:
# 1/8 = 12.5 %. One bucket for all waits for 100 %. Smaller buckets leave less to wait for, but pay the latency α more
# often: `bucket_bytes` in the lab finds the best size.

# %% [markdown]
# **Your turn.** How many examples are enough to hide an all-reduce? Below, four servers train eight layers with as many
# examples as you say: first with one bucket, then with eight. Look at the upper bars: what is computed while a bucket
# travels? (Nobody needs the gradient of the *data*. So the first layer computes for only half as long, and a little
# more is left over than you have just counted.)


# %% lesson="turn enough"
def enough(seconds, flops, rate):
    """The all-reduce takes `seconds`, one example `flops`, and a rank computes `rate`
    FLOP per second. How many examples (at least 1) take as long as the all-reduce?"""
    ### BEGIN SOLUTION
    return max(1, math.ceil(seconds * rate / flops))
    ### END SOLUTION


# %% lesson="behind enough"
import math

cases = [(s, f, r) for s, f, r in ((1.0, 2.0, 64.0), (0.5, 3.0, 16.0), (0.25, 4.0, 2.0), (8.0, 1.0, 1024.0))]
cases += [(0.0, 4.0, 2.0), (2.0, 7.0, 64.0), (1.0, 1024.0, 1.0), (3.0, 5.0, 5.0), (1.0, 5.0, 16.0)]
wrong = {
    lambda seconds, flops, rate: int(seconds * rate / flops): "Rounded down, the step still waits for the last part.",
    lambda seconds, flops, rate: math.ceil(
        seconds * rate / flops
    ): "An all-reduce of 0 seconds needs no examples, but a step has at least one.",
    lambda seconds, flops, rate: seconds * rate / flops: "There is no half example. Round up, to 1 at least.",
    lambda seconds, flops, rate: max(
        1, math.ceil(seconds * flops / rate)
    ): "A faster rank needs more examples, not fewer.",
    lambda seconds, flops, rate: max(1, math.ceil(rate / flops)): "That is how many a rank computes in one second.",
}
well = "Right. A faster GPU needs more examples, not fewer: its all-reduce is as slow as ever."


# %% lesson="after enough"
class Trained(torch.nn.Sequential):  # gives its loss
    def forward(self, x):
        return super().forward(x).square().mean()


def step(bucket_bytes, examples):
    model, batch = Trained(*models.mlp([1024] * 9)), torch.ones(examples, 1024)
    ddp.bucketed_ddp(model, batch, bucket_bytes)


servers = machines.find("commodity-10g")
link, rate = servers.between, servers.device.peak("float32")
weights = 8 * 1024**2  # each has 4 bytes, and takes 4 FLOP in a backward pass
seconds = cost.all_reduce_seconds(4 * weights, 4, link.alpha, link.beta)
examples = enough(seconds, flops=4 * weights, rate=rate)
runs = {
    name: run(step, size, examples, ranks=4, on=servers, fake=True)
    for name, size in {"one bucket": math.inf, "eight buckets": 4 * 1024**2}.items()
}
print(f"{examples:,} examples on each rank")
show.compared(runs)

# %% [markdown]
# ## 6. Bigger batches · {minutes} minutes
#
# K ranks with B′ examples each make steps with K·B′ examples. What is that good for? One lecture says both:
#
# - “Larger batches lead to more accurate gradient estimates and faster convergence.”
# - Use data parallelism “when you want fast convergence with a smaller batch size.”
#
# So measure. A small network learns handwritten digits until it gets 95 % of the test digits right. Each batch size
# gets the best of several learning rates.

# %% lesson="predict fewer-steps"
predict(
    "fewer-steps",
    "With a batch of 512 instead of 8, how many times fewer steps does it take?",
    unit="times",
)

# %% lesson="after fewer-steps"
reached = learning_rate.convergence()
display(reconcile("fewer-steps", measured=reached[8].steps / reached[512].steps))
display(learning_rate.convergence_chart(reached))
learning_rate.convergence_table(reached).folded()

# %% [markdown] lesson="reason fewer-steps"
# **Our reason.** The mean of 64 times the examples is 8 times as accurate, not 64. And the path has a length: no step
# may be so long that the gradient is a different one at its end. So with 64 times the batch you need far more than
# 1/64 of the steps, and each of them sees 64 times the examples.

# %% [markdown] lesson="after fewer-steps"
# | a common claim | we count | why |
# |---|---|---|
# | Larger batches: faster convergence | fewer *steps* with a larger batch | Right for many ranks: the step of a larger batch takes no longer. |
# | Fast convergence with a smaller batch | fewer *examples* with a smaller batch | Right for one rank: it pays for each example. |
#
# Both are right: one line of the figure counts steps, the other examples.

# %% [markdown]
# With K times the batch, an epoch has 1/K of the steps. So each must be longer. Two rules are in use:
#
# - **linear**: K times the learning rate. One step replaces K: right while w hardly changes.
# - **square root**: √K times. The mean has 1/√K of the noise: a step is as noisy as before.
#
# At the beginning w changes fast. So Goyal et al. begin with the small rate, and raise it evenly, step by step: gradual
# **warm-up** (*Accurate, Large Minibatch SGD*, arXiv:1706.02677).
#
# **Your turn.** Write it.


# %% lesson="turn warm_up"
def warm_up(t, steps, rate, K):
    """From `rate` before the first step to K·`rate` in step number `steps`, a straight
    line; after that K·`rate`. What is the rate in step t = 1, 2, 3 ...?"""
    ### BEGIN SOLUTION
    return rate * (1 + (K - 1) * min(t / steps, 1))
    ### END SOLUTION


# %% lesson="behind warm_up"
cases = [(t, 8, 0.5, K) for K in (1, 3, 64) for t in (1, 2, 4, 8, 9, 1000)]
wrong = {
    lambda t, steps, rate, K: rate * (1 + (K - 1) * t / steps): "It goes on rising. After `steps` it should stay.",
    lambda t, steps, rate, K: K * rate * min(t / steps, 1): "That begins at zero, not at the rate of the small batch.",
    lambda t, steps, rate, K: K * rate: "That is linear scaling without warm-up.",
    lambda t, steps, rate, K: (
        rate if t < steps else K * rate
    ): "That is a constant warm-up: it jumps. Goyal et al. tried it, and it was worse than none.",
    lambda t, steps, rate, K: rate * K ** min(t / steps, 1): "That is a curve: each step multiplies. Here each adds.",
}
well = "Right. Below, the digits are trained with your warm-up."

# %% [markdown] lesson="after warm_up"
# Now the sweep: the digits, with 20 epochs for each batch size, and ImageNet, as Goyal et al. published it. Which rule
# stays flat longest? And where does it break?

# %% lesson="after warm_up"
show.batch_and_rate(learning_rate.sweep(warm_up=warm_up), learning_rate.goyal())

# %% [markdown] lesson="after warm_up"
# With warm-up, Goyal's error stays between 23.5 and 23.7 % up to 8,192 examples, and is 34.0 % at 65,536. With the
# small batch's rate it is 41.7 % at 8,192. On the digits, warm-up makes the linear rule hold longer. Where it fails,
# the square root is the best of the four. “No exact science!” says a slide. “Experiment!”
#
# A larger batch does not need more ranks: **accumulation** adds up the gradients of k backward passes, then steps once.
# With `no_sync()`, that is one all-reduce instead of k: section 8 counts.

# %% lesson="quiz square-root"
quiz(
    "square-root",
    "ResNet-50 trains with a learning rate of 0.1 and a batch of 256. Which rate does the square-root rule give for "
    "8,192?",
    answer=0.566,
    within=0.01,
    because="8,192/256 = 32, and 0.1·√32 = 0.566. Goyal et al. got 26.2 % wrong with it, and 23.7 % with 3.2 "
    "and a warm-up.",
    wrong={
        3.2: "That is the linear rule.",
        0.1: "That is the rate of the small batch.",
        0.0177: "A larger batch takes longer steps, not shorter ones.",
        9.05: "That takes the root of 8,192. But the batch grows 32-fold: take the root of 32.",
    },
)

# %% [markdown]
# ## 7. Who is slow? · {minutes} minutes
#
# A common claim: “you have to wait for the slowest worker”. “Make sure all workers are equally fast!” What if one is not?

# %% lesson="predict one-slow-rank"
predict(
    "one-slow-rank",
    "8 GPUs with equal shares. One begins to compute at half its speed. How many healthy GPUs alone would train as many "
    "examples per second as these 8? (Computing is nearly all of a step.)",
    unit="GPUs",
    answer=4,
)

# %% lesson="after one-slow-rank"
healthy = machines.find("dgx-a100")
limping = healthy.with_rank(3, speed=0.5)


def work():
    x, gradient = torch.ones(4096, 4096), torch.ones(1_000)
    for _ in range(3):
        x @ x
        dist.all_reduce(gradient)


fast, slow = (run(work, ranks=8, on=m, fake=True) for m in (healthy, limping))
display(reconcile("one-slow-rank", simulated=8 * fast.time / slow.time))
show.compared({"all alike": fast, "one slow": slow})

# %% [markdown] lesson="reason one-slow-rank"
# **Our reason.** Each step lasts as long as rank 3's share: twice as long. So 8 GPUs do the work of 4, though only 1/16 of
# their speed is lost: you might as well send rank 3 and three others home. The other seven wait: the pale parts of the timeline.
#
# If you know which rank is slow, give it fewer examples. With half a share for rank 3, you keep 7.5/8 = 94 % of the
# speed.

# %% [markdown] lesson="after one-slow-rank"
# If a different one is slow each time, **backup workers** help (Chen et al., *Revisiting Distributed Synchronous SGD*,
# arXiv:1604.00981). Start N ranks, and step as soon as N − b gradients are there. The last b are thrown away. Which b
# gives the most gradients a second?

# %% lesson="after one-slow-rank"
stragglers.backup_table()

# %% [markdown]
# ## 8. The professionals' tools · {minutes} minutes · short path
#
# PyTorch has all of this in one line: `DistributedDataParallel`, **DDP** (Li et al., *PyTorch Distributed*,
# arXiv:2006.15704). It broadcasts the model, fills buckets of up to 25 MiB and averages. Below, two ranks train on the
# digits, first with the library's `BucketedDDP`, then with DDP. Compare the losses of rank 0.


# %%
def train(wrap):
    model = wrap(models.mlp([64, 64, 10]))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
    (x, y), _ = datasets.digits_split()
    mine = slice(dist.get_rank(), 512, dist.get_world_size())
    losses = []
    for _ in range(8):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[mine].flatten(1)), y[mine])
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 4))
    return losses


for wrap in show.progress((ddp.BucketedDDP, DistributedDataParallel), "Training"):
    print(f"{wrap.__name__:<24}", run(train, wrap, ranks=2).values[0])

# %% [markdown]
# Three switches. In `no_sync()`, gradients add up, and only the last part of a batch sends them. `torch.autocast`
# computes in bfloat16, with weights in float32: **mixed precision**. A *hook* rounds each bucket to bfloat16 on its way.
# Which of them save bytes?
#
# A fourth, `torch.compile`, makes one function of the backward pass. By itself, that has all gradients ready at once: at
# the end, where no all-reduce can hide. So wrap first, then compile: `torch.compile(DistributedDataParallel(model))`. Then
# torch's `DDPOptimizer` cuts the graph where a bucket ends.

# %%
print(inspect.getsource(ddp_switches.backward))
ddp_switches.switches_table()

# %% [markdown]
# ## Wrap-up
#
# You can now say:
#
# - when K ranks compute the same bits as one, and when they don't;
# - why gradients are averaged, and what the sum does;
# - how many examples hide an all-reduce, and what is left over;
# - what a larger batch saves, and what it costs;
# - what one slow rank costs all others.
#
# In practice you write `DistributedDataParallel(model)`.
#
# **Go on**: [the lab](../../labs/05_all_reduce_sgd/lab.ipynb). Your line (7) is in its second exercise.
# [More](more.ipynb): data servers, other methods, the largest useful batch. **Or stop here**, and begin with the lab next time.
