# %% [markdown]
# # 05 All-reduce SGD: more
#
# What the lesson has no room for: data servers, accumulation, masters and neighbours, other methods, the largest useful
# batch.

# %%
import contextlib

import torch
from torch.nn import functional as F

from lockstep import datasets, machines, models, run
from lockstep.cost.algorithms import all_reduces
from lockstep.data_parallel import ddp
from lockstep.experiments.all_reduce_sgd import compared_with_torch, data_server

# %% [markdown]
# ## Data servers
#
# Rank 0 has the examples and trains nothing. The others ask it for four at a time: *who is next?* The last of the four
# workers computes at half the speed of the others. Each worker has a share of its own (even, overlapping), or all of
# them take from one pool (dynamic).

# %%
data_server.server_table()

# %% [markdown]
# From one pool, the slow worker takes fewer examples, and all are done at about the same time. Look at rank 4 below:
# how many messages does it send while rank 1 sends three? The price is that rank 0 must be asked, and that every example
# travels.

# %%
slow = machines.find("dgx-a100").with_rank(4, speed=0.5)
data_server.epoch("dynamic", slow, count=32).show()

# %% [markdown]
# ## Accumulation, counted
#
# The batch that you want may not fit into a GPU's memory. Then take it in k parts: k backward passes add up their
# gradients in `.grad`, and one step follows. Only the last pass needs an all-reduce. `no_sync()` leaves out the others.


# %%
def one_step(accumulates):
    model = ddp.BucketedDDP(models.mlp([8, 8, 8]))
    for part in range(4):
        skips = accumulates and part < 3
        with model.no_sync() if skips else contextlib.nullcontext():
            model(torch.ones(16, 8)).sum().backward()


for accumulates in (False, True):
    trace = run(one_step, accumulates, ranks=4, on="commodity-10g").trace
    sums = [event for event in trace.of_rank(0) if event.kind == "all_reduce"]
    print(f"no_sync: {accumulates!s:<5}   all-reduces in 4 backward passes: {len(sums)}")

# %% [markdown]
# ## Ours beside PyTorch's
#
# Does `BucketedDDP` do what DDP does? Here are six models on three ranks, two steps with momentum each: a matrix that is
# used twice, layers that nobody uses, several backward passes a step. It takes some seconds. Why does PyTorch send more
# bytes in two rows? Where layers may be unused, its ranks also tell each other which ones they have used.

# %%
compared_with_torch.beside_torch_table()

# %% [markdown]
# ## With a master, and without
#
# *Centralised* data parallelism has a parameter server: it receives all gradients, makes the step, and sends the model
# to everyone. In *decentralised* data parallelism the workers do it among themselves, by an all-reduce. The notes say
# that the first “does not scale well”. Here are both for 100 MB over 10-Gbit Ethernet:

# %%
for K in (4, 16, 64, 256):
    ways = all_reduces(K)
    star, ring = (ways[way](10**8, K, 25e-6, 0.8e-9).seconds for way in ("star", "ring"))
    print(f"{K:>4} ranks: with a master {star:7.2f} s, in a ring {ring:.2f} s")

# %% [markdown]
# The master's time grows with K, the ring's hardly does. That holds for a master with one network card. Several servers,
# with a part of the model each, share the load; unit 06 has them.
#
# The paper that the notes link (Lian et al., 2017, arXiv:1705.09056) goes further: each rank averages its *model* with
# its two neighbours only. Then nobody waits for everybody, and the models are no longer the same bits. They only stay
# close to each other.

# %% [markdown]
# ## More methods of the same kind
#
# The notes name other methods that become parallel in the same way. Each needs a sum over examples, or over features,
# and that sum is an all-reduce.
#
# **SVRG** (Johnson & Zhang, 2013) wants less noise. From time to time it computes the gradient μ of *all* examples at a
# point w̃. A step then uses g(w) − g(w̃) + μ: both g see the same small batch, so most of their noise cancels. It disappears near the
# minimum. On K ranks, μ is one all-reduce over all shares, and each step is one more, of g(w) − g(w̃).
#
# **SGLD** (Welling & Teh, 2011) wants more noise. To w ← w − ε/2·G, with G for the whole data set, it adds a random
# number with variance ε. Then w does not stop at the minimum: it wanders among all the weights that are plausible. Each
# rank adds the noise itself, so all of them must draw the *same* numbers: seeds by step, not by rank.

# %% [markdown]
# **Coordinate descent** changes one weight at a time, or a block of them, and keeps the others. Here it is natural to
# cut the *features*, not the examples: a rank has some columns of the data, and their weights. What it needs from the
# others is the prediction x·w, which is a sum over all columns: an all-reduce of as many numbers as there are examples,
# not as there are weights. Blocks that change at the same time may go too far together, so steps must be shorter
# (Richtárik & Takáč, 2016).

# %% [markdown]
# ## The largest useful batch
#
# A larger batch is useful as long as its gradient is mostly noise. McCandlish et al. (2018, arXiv:1812.06162) compare
# the noise of one example's gradient, tr Σ, with the squared length of the true gradient, |G|². Their quotient is the
# **gradient noise scale**, in examples. Far below it, twice the batch nearly halves the steps; far above it, twice the
# batch saves hardly anything.
#
# It costs hardly anything to measure on K ranks: each rank has a small batch's gradient, and the all-reduce gives the large
# batch's. On average |g|² of B examples is |G|² + tr Σ/B, so two batch sizes give both.

# %%
(x, y), _ = datasets.digits_split()
x, model, small, large = x.flatten(1), models.mlp([64, 64, 10]), 16, len(y)
torch.set_num_threads(1)  # such small products are slower on several threads


def squared(batch):  # the mean of |g|² over the batches of an epoch
    lengths = []
    for part, wanted in zip(x.split(batch), y.split(batch)):
        gradients = torch.autograd.grad(F.cross_entropy(model(part), wanted), [*model.parameters()])
        lengths.append(sum(g.square().sum() for g in gradients).item())
    return sum(lengths) / len(lengths)


optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(13):
    if epoch % 4 == 0:
        noise = (squared(small) - squared(large)) / (1 / small - 1 / large)
        true = squared(large) - noise / large
        print(f"after {epoch} epochs, the noise scale is {noise / true:6.0f} examples")
    for part, wanted in zip(x.split(64), y.split(64)):
        optimizer.zero_grad()
        F.cross_entropy(model(part), wanted).backward()
        optimizer.step()

# %% [markdown]
# The gradient becomes small sooner than its noise. So the largest useful batch grows while this model learns. Some
# training runs begin with small batches, and enlarge them on the way.
#
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/05_all_reduce_sgd/lab.ipynb).
