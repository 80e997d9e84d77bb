# %% [markdown]
# # 11 Mixture of experts: more
#
# What the lesson has no room for: torch's parts beside ours, more grids of gradients, who is dropped first, and what
# grows with the number of experts.

# %%
from lockstep.experiments.mixture_of_experts import compared_with_torch, table
from lockstep.experiments.mixture_of_experts import your_line
from lockstep.experts import flops, mixture_of_depths

# %% [markdown]
# ## torch's own
#
# torch has no mixture of experts, but it has the parts: an all-to-all that autograd goes through, and `grouped_mm`, one
# product for all experts of a rank. Below is a layer that is made of them, as torchtitan makes it, beside ours. Are its
# output, gradients and bytes the same?

# %%
compared_with_torch.beside_torch_table()

# %% [markdown]
# ## The gradients of one rank
#
# Here is the lesson's table for other grids. With three ranks or more, rank 1 has no tokens at all. It takes part in every
# all-to-all all the same. `table.gradients_table()` makes all nine grids, in a minute or two.

# %%
table.gradients_table(((3, 3), (4, 4)), experts=12)

# %% [markdown]
# ## Who is dropped first
#
# Places are taken in the order of tokens. So those at the end of a batch are dropped first, whatever they weigh. V-MoE (Riquelme
# et al., 2021) takes the choices by falling weight: **batch-prioritized routing**. Just as many are dropped. Which ones?

# %%
your_line.priority_table()

# %% [markdown]
# ## What grows
#
# Here is OPT-1.3B with experts in place of the FFN in every other layer. Each expert is as wide as the FFN was. What grows with
# the number of experts, and what hardly does? The little that a token costs more is the gate.

# %%
flops.growth_table()

# %% [markdown]
# ## Depths
#
# With a mixture of depths, what is left of a block's FLOPs? It falls faster than the share of tokens, because attention falls
# with the square of that share. The router's scores are counted, too: so with all tokens it is a little above 1.

# %%
mixture_of_depths.depths_table()

# %% [markdown]
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/11_mixture_of_experts/lab.ipynb).
