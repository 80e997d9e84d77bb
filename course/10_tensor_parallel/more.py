# %% [markdown]
# # 10 Tensor parallelism: more
#
# What the lesson has no room for: torch's trace above ours, all tables of gradients and bytes, published times, who uses tensor
# parallelism, and Megatron Core's names.

# %%
from IPython.display import display

from lockstep import run, show
from lockstep.experiments.tensor_parallel import collectives_of_a_block
from lockstep.experiments.tensor_parallel import compared_with_torch, notes_sample
from lockstep.experiments.tensor_parallel import scaling, table, trainings, users
from lockstep.tensor_parallel import across_nodes, async_gather, overlapped
from lockstep.tensor_parallel import published

# %% [markdown]
# ## torch's trace, and ours
#
# A small GPT of two blocks, one training step on 2 ranks: our model above, and torch's `parallelize_module` below. Compare the
# all-reduces. How many does each have, and do they come in the same places?

# %%
names = "ParallelGPT", "parallelize_module"
show.compared({name: run(compared_with_torch.step, name, 1, ranks=2, on="dgx-a100") for name in names})

# %% [markdown]
# torch computes somewhat longer here: a DTensor is unpacked for each operation. How long a step takes on your machine, ours and
# torch's, `lockstep bench tensor` measures.
#
# ## The gradients of one rank
#
# The lesson's table for up to 8 ranks. Few sizes divide: 13 tokens, 5 heads, 9 filters. A dash means that the layers can't be
# cut into so many parts.

# %%
table.gradients_table()

# %% [markdown]
# ## A GPT in each way
#
# Here are all ways, torch's too. Compare *kB of activations* in the rows with sequence parallelism. What does “gathered once”
# cost there, and what does it save on the link?

# %%
trainings.trainings_table()

# %% [markdown]
# ## Collectives of a block
#
# From traces, with what rings send: n is one number for each position and each of h. Chunks make more all-reduces of the same
# bytes.

# %%
collectives_of_a_block.counted_table()

# %% [markdown]
# ## Published memory and times
#
# Korthikanti et al. ([arXiv:2205.05198](https://arxiv.org/abs/2205.05198)) give formulas for what a layer keeps, and timed
# its passes on 8 A100. The first table has our traces
# beside the formulas. The second has our virtual A100 beside the real ones: nothing is fitted, so errors of 20 % are to be
# expected.

# %%
display(published.activations_table())
published.times_table()

# %% [markdown]
# ## More ranks, larger models
#
# Megatron-LM's **weak scaling**: the model grows with the ranks, all in one node. Compare how much of one rank's speed is left.
# In absolute numbers a roofline is too fast, since it has no kernels.

# %%
scaling.weak_scaling_table()

# %% [markdown]
# ## Out of the node, step by step
#
# Nodes of 8, 4, 2 and 1: the same bytes, and more and more waiting. And all numbers of chunks, inside a node and across: where
# links are slow, there is more to hide, but less to hide it behind.

# %%
display(across_nodes.across_table())
overlapped.chunk_table()

# %% [markdown]
# ## Shard by shard
#
# Sequence parallelism gathers X and multiplies it. Wang et al. (“Overlap Communication with Dependent Computation via
# Decomposition in Large Deep Learning Models”, ASPLOS 2023) send shards round a ring, and multiply each while the next
# travels; PyTorch's [asynchronous tensor parallelism](https://discuss.pytorch.org/t/209487) does the same with copies from
# all others. The product alone takes 0.99 ms. Look at the second row: why does the ring lose where two nodes have four ranks each?

# %%
async_gather.gather_table(nodes=(8, 4, 1))

# %% [markdown]
# The collective uses the ports of all four ranks to the other node, and NVLink inside. A ring crosses from node to node at two
# places, and each of its steps waits for these.
#
# ## BERT, ViT and ResNet
#
# GPT, BERT and ViT have the same block: whether attention looks ahead or not changes nothing in f and g. A convolution is cut
# by filters, and the next one by its input channels, with one all-reduce in each pass. Below is what would
# travel. How large must the batch be for data parallelism to send less?

# %%
users.users_table()

# %% [markdown]
# A text is long, and a batch of long texts is small: GPT-3 gains. A GPU trains a ResNet-50 with some 256 pictures at once, and
# its weights fit anywhere: there data parallelism sends far less. So there is little reason to cut its layers.
#
# ## Megatron Core
#
# A common sample is written for Megatron-LM as it was before 2024. Today the layers are in a library of their own, Megatron
# Core:
#
# ```python
# from megatron.core import parallel_state
# parallel_state.initialize_model_parallel(tensor_model_parallel_size=2)
# config = TransformerConfig(num_layers=24, hidden_size=1024, num_attention_heads=16)
# model = GPTModel(config, ...)
# ```

# %%
notes_sample.names_table()

# %% [markdown]
# Its options are named after what you have seen: `sequence_parallel`, `tp_comm_overlap` for chunks, `num_query_groups` for
# grouped queries.
#
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/10_tensor_parallel/lab.ipynb).
