# %% [markdown]
# # 08 Fully sharded data parallel: more
#
# What the lesson has no room for: all of Table 1, what leaves a node, checkpoints that another number of ranks loads,
# clipping, mixed precision as it is stored, and gathering in float8.

# %%
import inspect

from lockstep.experiments.fsdp import across_nodes, compared_with_dcp, float8_gathers, table
from lockstep.sharded import mixed_precision as mixed

# %% [markdown]
# ## All of Table 1
#
# The lesson shows a model of 7.5 billion parameters. Here are all three of the paper's (arXiv:1910.02054). “Not run” means
# that no run was recorded. (For the two larger ones, the paper cuts digits off, and we round.) Under stage 3, on how many
# GPUs with 32 GB do the model states of a trillion parameters fit?

# %%
table.table_1()

# %% [markdown]
# ## What leaves a node
#
# Inside a node links are fast, between nodes they are slow. **Hybrid sharding** gathers within a node only. With W
# ranks, G of them in a node, each then keeps 1/G of the model rather than 1/W, and only gradients leave the node. Below are 8
# ranks in nodes of 2; M is the bytes of all parameters. The FSDP paper (arXiv:2304.11277, section 3.2.2) counts whatever a
# group sends as traffic between nodes if the group spans nodes. So does our count. For hybrid sharding the paper has
# W − 1 = 7 where we count W − G = 6.

# %%
across_nodes.across_table()

# %% [markdown]
# ## Checkpoints for another number of ranks
#
# To save a model in one piece, a rank would have to gather all of it, and no rank has room for that. So each rank saves its
# shard. Training that goes on with another number of ranks cuts the vector in other places: a new shard may need parts of
# two old files, or of many. Ours reads those parts and no more. torch's `torch.distributed.checkpoint` reads a stored piece
# completely, even if it needs only a part of it. Below are the bytes that each new rank has read.

# %%
compared_with_dcp.dcp_table()

# %% [markdown]
# ## Clipping
#
# Clipping by the norm keeps one wild batch from ruining a training: if the gradient's norm exceeds a limit, the whole gradient
# is scaled down. With shards, each rank sees a part of the gradient. If each clips by the norm of its own part, every part is
# scaled by another factor: then the direction changes. The norm of the whole is the root of the sum of all ranks' squares,
# so one number must travel. The lab has a program that forgets it.
#
# ## Mixed precision as it is stored
#
# 2 bytes of parameters, 2 of gradients, 12 of the optimizer: here is an optimizer that holds just that. Look for the master
# copy: who computes with it, and when does it become the 2 bytes again?

# %%
print(inspect.getsource(mixed.MixedAdam))

# %% [markdown]
# Why not 2 bytes for everything? A bfloat16 has 8 significant bits. A step that changes a parameter by less than 1/512 of its
# size is rounded away, again and again. The master copy has 24 bits, and adds such steps up.
#
# ## Gathering in float8
#
# What is gathered is used for one layer's products, and gone. A float8 number (`torch.float8_e4m3fn`) has 4 significant
# bits and takes one byte, half of a bfloat16. So each matrix is first scaled by its largest number over all ranks, which
# is all-reduced. `fully_shard` lets a parameter say what is gathered for it, and torchao uses that in its float8 training:
# `Float8LinearConfig(enable_fsdp_float8_all_gather=True)`. Below, our parameters do the same. All that is not the weight
# of an `nn.Linear` stays in bfloat16, and gradients are reduced in float32. By how much does a rank send less?

# %%
float8_gathers.float8_table()

# %% [markdown]
# The gathers carry about half as much, 2.09 bytes a parameter for 4. A rank sends 24 % less, 4.57 bytes for 6, since 3 of
# these are gradients. Small models have much beside their matrices; with the shapes of a large one, 2.01 bytes are
# gathered. The scales are 50 messages of one number here, two for each matrix; torchao's
# `precompute_float8_dynamic_scale_for_fsdp` sends those of all matrices in one, after the update. What float8 costs in
# accuracy, and saves in time where the products are float8 too, is not measured here.
#
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/08_fsdp/lab.ipynb).
