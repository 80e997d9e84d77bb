# %% [markdown]
# # 12 Hybrid parallelism and planning: more
#
# What the lesson has no room for: other grids, interleaving beside its published time, eight or 72 GPUs on an NVLink,
# and space as an axis.

# %%
from lockstep import your_turn
from lockstep.experiments.hybrid import by_hand, equality, halo, lasting

# %% [markdown]
# ## Other grids
#
# The lesson's table, for stages of two chunks, with sequence parallelism and **ZeRO** along dp. With ZeRO, a rank has the
# summed gradients of its own shard only: here the shards are gathered to compare them.
#
# In the second row nothing divides: 5 layers on 2 stages, 3 heads and 23 words on 2 ranks. And the embedding is **tied**,
# as in GPT-2: the scores use it again. So the first and the last stage have a copy each, and add up their gradients.

# %%
equality.equality_table(equality.FURTHER)

# %% [markdown]
# ## Interleaved
#
# Four chunks of two layers on each stage: figure 12 of [arXiv:2104.04473](https://arxiv.org/abs/2104.04473) has that,
# too. With 12 sequences and one chunk, the bubble is 11/12 of the rest; with four chunks it is a quarter of that. So a step
# should take (1 + 11/48) / (1 + 11/12) of the time, 36 % less. Compare the rows: what of that does the paper have?

# %%
by_hand.batches_table(batches=(12,), every=(1, 4))

# %% [markdown]
# ## 8 or 72 GPUs on an NVLink
#
# Take the same 288 GPUs and the same network, with NVLink joining 8 of them or 72. How does the best plan change? Look
# at ep.

# %%
lasting.domains_table()

# %% [markdown]
# ## Space is an axis
#
# A weather model computes on a grid of cells. **Advection**, transport by the wind, mixes each cell with those that
# the wind comes from. Cut the field into blocks, and each rank needs a rim of its neighbours' cells, the **halo**. A
# **halo exchange** brings it in two rounds: rows first, then columns with what has just arrived, so that corners need
# no message of their own.
#
# **Your turn.** How many cells does a rank send?


# %% lesson="turn halo_cells"
def halo_cells(h, w, P, Q):
    """P rows and Q columns of blocks, h x w cells each; a halo of one cell. A rank sends
    rows of w cells if P > 1, then columns with both corners if Q > 1. How many cells?"""
    ### BEGIN SOLUTION
    return (2 * w if P > 1 else 0) + (2 * (h + 2) if Q > 1 else 0)
    ### END SOLUTION


# %% lesson="behind halo_cells"
cases = [
    (4, 4, 1, 1),
    (4, 6, 2, 1),
    (4, 6, 1, 2),
    (4, 6, 2, 2),
    (1, 1, 3, 3),
    (64, 1024, 16, 1),
    (256, 256, 4, 4),
    (5, 9, 3, 2),
]
wrong = {
    lambda h, w, P, Q: (2 * w if P > 1 else 0) + (2 * h if Q > 1 else 0): (
        "That is without the corners. A column begins a row above the block, and ends a row below it."
    ),
    lambda h, w, P, Q: (
        2 * w + 2 * (h + 2)
    ): "A rank that has all of a direction is its own neighbour. What does it send?",
    lambda h, w, P, Q: (w if P > 1 else 0) + (h + 2 if Q > 1 else 0): "Each direction has two neighbours.",
    lambda h, w, P, Q: h * w: "That is the whole block. Which part of it do the neighbours need?",
}
well = "Right: it grows with the rim of a block, and the work with its area."

# %% lesson="after halo_cells"
halo.shapes_table(halo_cells)

# %% [markdown] lesson="after halo_cells"
# Squares send half of what strips send, and still take longer here. A rank sends four messages, not two, and with so
# few cells nearly all of an exchange is latency. What helps then is a wider halo: exchange once for several steps, and
# compute cells of the rim twice.

# %% lesson="after halo_cells"
halo.widths_table()

# %% [markdown]
# ## FourCastNet
#
# Its abstract ([arXiv:2208.05419](https://arxiv.org/abs/2208.05419)) names three machines. It reports
# 140.8 PFLOP/s on up to 3,808 A100s, 11.9 % of their peak, and training in 67.4 minutes on 3,072. A slide adds “with
# model parallel on 4-gpus”. Whether channels or space were cut, we could not read: **unverified**. FourCastNet's kind of
# network is an AFNO. A later model-parallel AFNO, in NVIDIA's Modulus Sym, splits channels (release notes of 22.09). A
# halo of one cell would not do for it: a Fourier transform mixes all cells of the field.

# %% [markdown]
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/12_hybrid/lab.ipynb).
