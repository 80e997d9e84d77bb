# %% [markdown]
# # 08 Fully sharded data parallel: more
#
# What the lesson has no room for: all of Table 1, what leaves a node, checkpoints that another number of ranks loads,
# clipping, and mixed precision as it is stored.

# %%
import inspect

from lockstep.experiments.fsdp import across_nodes, compared_with_dcp, table
from lockstep.sharded import mixed

# %% [markdown]
# ## All of Table 1
#
# The lesson shows a model of 7.5 billion parameters. Here are all three of the paper. “Not run” stands where no run
# was recorded. (For the two larger ones, the paper cuts digits off, and we round.) Under stage 3, on how many GPUs with 32 GB do
# the model states of a trillion parameters fit?

# %%
table.table_1()

# %% [markdown]
# ## What leaves a node
#
# Inside a node links are fast, between nodes they are slow. **Hybrid sharding** gathers within a node only. With W
# ranks, G of them in a node, each then keeps 1/G of the model in place of 1/W, and only gradients leave the node. Below are 8
# ranks in nodes of 2; M is the bytes of all parameters. The FSDP paper counts whatever a group sends as traffic between
# nodes if the group spans nodes. So does our count. For hybrid sharding the paper has W − 1 = 7 where we count W − G = 6.

# %%
across_nodes.across_table()

# %% [markdown]
# ## Checkpoints for another number of ranks
#
# Whoever saves a model whole must first gather it whole, which no rank can hold. So each rank saves its shard. A training
# that goes on with another number of ranks cuts the vector in other places: a new shard may need parts of two old files, or
# of many. Ours reads those parts and no more. torch's `torch.distributed.checkpoint` reads each stored piece that it
# needs something of as a whole. Below are the bytes that each new rank has read.

# %%
compared_with_dcp.dcp_table()

# %% [markdown]
# ## Clipping
#
# Clipping by the norm keeps one wild batch from ruining a training: if the gradient's norm exceeds a limit, the whole gradient
# is scaled down. With shards, each rank sees a part of the gradient. A rank that clips by its part's norm scales *its*
# part, each by another factor: then the direction changes. The norm of the whole is the root of the sum of all ranks'
# squares, so one number must travel. The lab has a program that forgets it.
#
# ## Mixed precision as it is stored
#
# 2 bytes of parameters, 2 of gradients, 12 of the optimizer: here is an optimizer that holds just that. Look for the master
# copy: who computes with it, and when does it become the 2 bytes again?

# %%
print(inspect.getsource(mixed.MixedAdam))

# %% [markdown]
# Why not 2 bytes for everything? A bfloat16 has 8 significant bits. A step that changes a parameter by less than 1/512 of its
# size is rounded away, in each step anew. The master copy has 24 bits, and adds such steps up.
#
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/08_fsdp/lab.ipynb).
