# %% [markdown]
# # 11 Mixture of experts: more
#
# What the lesson has no room for: torch's parts beside ours, more grids of gradients, who is dropped first, and what
# grows with the number of experts.

# %%
from lockstep import your_turn
from lockstep.experiments.mixture_of_experts import compared_with_torch, table
from lockstep.experiments.mixture_of_experts import your_line
from lockstep.experts import flops, mixture_of_depths, training, two_stages

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
# Here is the lesson's table for other grids. With three ranks or more, rank 1 has no tokens at all. It still joins every
# all-to-all. `table.gradients_table()` makes all nine grids, in a minute or two.

# %%
table.gradients_table(((3, 3), (4, 4)), experts=12)

# %% [markdown]
# ## How many were dropped
#
# In GShard and Switch, each expert has C places, and the first choices take them first, token by token; then second choices. A
# choice that finds none is dropped: that expert does not compute the token. A token that all of its experts drop leaves the
# layer as zeros, and only the residual connection carries it on.
#
# **Your turn.** Your line counts for two gates, untrained and trained.


# %% lesson="turn dropped"
def dropped(wanted, C):
    """wanted[e] rows want expert e, which has C places. How many rows, of all,
    find none?"""
    ### BEGIN SOLUTION
    return sum(max(0, rows - C) for rows in wanted)
    ### END SOLUTION


# %% lesson="behind dropped"
cases = [
    ([4, 0], 2),
    ([2, 2], 2),
    ([3, 1, 5], 3),
    ([5], 2),
    ([0, 0, 0], 1),
    ([7, 6, 0, 3], 4),
    ([1, 2, 3], 10),
    ([322, 89, 34, 67], 128),
    ([n % 97 for n in range(0, 2560, 37)], 40),
]
wrong = {
    lambda wanted, C: max(0, sum(wanted) - C * len(wanted)): (
        "That lets an expert's free places serve another's rows. Does the gate ask who has room?"
    ),
    lambda wanted, C: sum(rows - C for rows in wanted): "An expert with free places counts as less than none here.",
    lambda wanted, C: max(0, max(wanted) - C): "That is the busiest expert. May others be full, too?",
    lambda wanted, C: sum(rows for rows in wanted if rows > C): "A full expert still computes C rows.",
    lambda wanted, C: sum(min(rows, C) for rows in wanted): "Those are the rows that find a place.",
}
well = "Right: what each expert is sent beyond its places."

# %% lesson="after dropped"
your_line.dropped_table(dropped, training.trained().model)

# %% [markdown]
# ## Who is dropped first
#
# Places are taken in the order of tokens. So those at the end of a batch are dropped first, whatever they weigh. V-MoE (“Scaling
# Vision with Sparse Mixture of Experts”, [arXiv:2106.05974](https://arxiv.org/abs/2106.05974)) takes choices by falling weight: **batch-prioritized routing**. It drops just as many. Which ones?

# %%
your_line.priority_table()

# %% [markdown]
# ## Between nodes
#
# With 8 choices, nearly every token has experts in both of two nodes, and often several in each. A row for each choice
# crosses the network for nothing. **Dispatch in two stages** sends a token once to each node: to the rank with the same
# place there, which passes it on by NVLink, once to each rank that has one of its experts. DeepSeek-V3 does so
# ([arXiv:2412.19437](https://arxiv.org/abs/2412.19437)), with a library of its own,
# [DeepEP](https://github.com/deepseek-ai/DeepEP). **Node-limited routing** lets a token reach at most M nodes, there 4: those where its best experts together
# have the highest scores.
#
# Below are two simulated DGX A100 without a limit, and with M = 1. Bytes are those of all messages in the trace. What does the limit
# save by itself?

# %%
two_stages.stages_table()

# %% [markdown]
# Nothing, as long as each choice is a row of its own: as many choices as before are in the other node. In two stages, M bounds
# how often a token crosses. What the network no longer carries, NVLink carries instead, and it is 12 times as fast here.
#
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
#
# While a model generates, nobody knows the scores of later tokens. The paper ([arXiv:2404.02258](https://arxiv.org/abs/2404.02258))
# trains the model to tell from a token alone whether it would be chosen, and reports 99 % right.

# %%
mixture_of_depths.depths_table()

# %% [markdown]
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/11_mixture_of_experts/lab.ipynb).
