# %% [markdown]
# # 11 Mixture of experts: more
#
# What the lesson has no room for: whether experts are worth it here, torch's parts beside ours, all grids of gradients, who
# is dropped first, and what four published mixtures compute.

# %%
from IPython.display import display

from lockstep.experts import beside_torch, driven, published, table, training

# %% [markdown]
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/11_mixture_of_experts/lab.ipynb).
