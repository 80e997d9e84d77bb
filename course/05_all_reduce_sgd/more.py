# %% [markdown]
# # 05 All-reduce SGD: more
#
# What the lesson has no room for: data servers, the older `nn.DataParallel`, masters and neighbours, other methods, the
# largest useful batch.

# %%
import torch
from IPython.display import display
from torch.nn import functional as F

from lockstep import datasets, machines, models
from lockstep.cost.algorithms import all_reduces
from lockstep.experiments.all_reduce_sgd import compared_with_torch, data_server
from lockstep.experiments.all_reduce_sgd import torch_data_parallel as torch_dp

# %% [markdown]
# ## Data servers
#
# Rank 0 has the examples and trains nothing. The others ask it for four at a time: *what is next?* The last of the four
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
# ## Ours beside PyTorch's
#
# Does `BucketedDDP` do what DDP does? Here are six models on three ranks, two steps with momentum each: a matrix that is
# used twice, layers that nobody uses, several backward passes a step. It takes some seconds. Why does PyTorch send more
# bytes in two rows? Where layers may be unused, its ranks also tell each other which ones they have used.

# %%
compared_with_torch.beside_torch_table()

# %% [markdown]
# ## The older nn.DataParallel
#
# Some lectures use it: one process, which copies the model to all GPUs *in each step*, splits the batch, and gathers the
# outputs. Below is what their program does, just as they print it. Then come the bytes of one step: what do the GPUs do
# while these travel? PyTorch's documentation recommends DDP, even on one machine.

# %%
display(torch_dp.data_parallel_table())
torch_dp.first_gpu_table()

# %% [markdown]
# ## With a master, and without
#
# *Centralised* data parallelism has a parameter server: it receives all gradients, makes the step, and sends the model
# to everyone. In *decentralised* data parallelism the workers do it among themselves, by an all-reduce. A common claim is
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
# A paper goes further (Lian et al., *Can Decentralized Algorithms Outperform Centralized
# Algorithms?*, arXiv:1705.09056): each rank averages its *model* with its two neighbours only. Then nobody waits for
# everybody, and the models are no longer the same bits. They only stay close to each other.

# %% [markdown]
# ## More methods of the same kind
#
# Other methods become parallel in the same way. Each needs a sum over examples, or over features,
# and that sum is an all-reduce.
#
# **SVRG** wants less noise (Johnson & Zhang, *Accelerating Stochastic Gradient Descent using Predictive Variance
# Reduction*, NeurIPS 2013). From time to time it computes the gradient μ of *all* examples at a point w̃. A step then
# uses g(w) − g(w̃) + μ: both g see the same small batch, so most of their noise cancels. It disappears near the
# minimum. On K ranks, μ is one all-reduce over all shares, and each step is one more, of g(w) − g(w̃).
#
# **SGLD** wants more noise (Welling & Teh, *Bayesian Learning via Stochastic Gradient Langevin Dynamics*, ICML 2011).
# To w ← w − ε/2·G, with G for the whole data set, it adds a random number with variance ε. Then w does not stop at the
# minimum: it wanders among all the weights that are plausible. Each rank adds the noise itself, so all of them must
# draw the *same* numbers: seeds by step, not by rank.

# %% [markdown]
# **Coordinate descent** changes one weight at a time, or a block of them, and keeps the others. Here it is natural to
# split the *features*, not the examples: a rank has some columns of the data, and their weights. What it needs from the
# others is the prediction x·w, which is a sum over all columns: an all-reduce of as many numbers as there are examples,
# not as there are weights. Blocks that change at the same time may go too far together, so steps must be shorter
# (Richtárik & Takáč, *Parallel Coordinate Descent Methods for Big Data Optimization*, arXiv:1212.0873).

# %% [markdown]
# ## The largest useful batch
#
# A larger batch is useful as long as its gradient is mostly noise. McCandlish et al. (*An Empirical Model of
# Large-Batch Training*, arXiv:1812.06162) compare the noise of one example's gradient, tr Σ, with the squared length of
# the true gradient, |G|². Their quotient is the **gradient noise scale**, in examples. Far below it, twice the batch
# nearly halves the steps; far above it, twice the batch saves hardly anything.
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
# training runs begin with small batches, and enlarge them as they go.
#
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/05_all_reduce_sgd/lab.ipynb).
