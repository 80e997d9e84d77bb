# %% [markdown]
# # 06 Without waiting: more
#
# What the lesson has no room for: the age of every gradient, several servers, groups that change, local SGD and test
# errors, phones that drop out, and sums of secrets.

# %%
from lockstep import show
from lockstep.experiments.without_waiting import decentralised, fewer_bytes
from lockstep.experiments.without_waiting import generalisation, ports, schemes
from lockstep.without_waiting import federated, grouped, masked, several_servers

# %% [markdown]
# ## Four ways to serve
#
# The lesson compares bounds by one line of yours. Here are all schemes side by side. The time to a loss is a product: how
# many gradients it takes, and how long a gradient takes all workers together. Which scheme has the smallest of each?

# %%
schemes.schemes_table()

# %% [markdown]
# There one worker is *always* slow. Now each is slow in one step of ten. Which scheme is first now?

# %%
schemes.schemes_table(now_and_then=True)

# %% [markdown]
# Now, with a bound of 3, a gradient takes little longer than without one, and fewer are needed.
#
# Back to the worker that is always slow. Here are the gradients by their staleness, read off the messages: the lab’s
# `staleness_of` does that.

# %%
schemes.staleness_table()

# %% [markdown]
# ## Several servers
#
# “If the parameters are too numerous for a single parameter server”, the notes use several: each is responsible for a
# **shard** of w. That divides the bytes of a port, too. But a worker gets its shards from servers that may have made
# different numbers of updates. Below is the age of the two halves of each w that one worker got. How many of these w could
# one server never have sent?

# %%
several_servers.torn_table()

# %% [markdown]
# ## Whose port?
#
# Each cell counts what the busiest rank sends and receives in one step, in tensors. Look for a row that is nearly as
# flat as gossip’s: a ring all-reduce has no master either. What gossip on a ring saves beyond it is not bytes: it is
# waiting for everybody.

# %%
ports.ports_table()

# %% [markdown]
# ## Gossip at work
#
# D-PSGD on digits that are parted by class. The mean of the ranks’ models is what the theory is about. A single rank’s
# model is worse, the more so the smaller the spectral gap: compare the two losses of the ring.

# %%
decentralised.d_psgd_table()

# %% [markdown]
# ## Groups that change
#
# Grouped all-reduce (Li et al., 2021) averages within small groups, and chooses other groups in each step. With the right
# ones, everybody’s numbers have reached everybody after a few rounds, exactly. A late rank keeps its own group waiting,
# and no one else. (The paper’s groups do not even wait for it.)

# %%
grouped.grouped_table()

# %% [markdown]
# ## Local SGD: bytes, and test errors
#
# First bytes: where does the loss begin to suffer, on even data and on data parted by class?

# %%
rows = fewer_bytes.local_sgd_sweep()
show.loss_by_bytes(rows)

# %% [markdown]
# Then the notes’ other sentence: local SGD “can generalize better than large-batch SGD”. It is about *test* errors after
# equally many examples. **Post-local** SGD begins with a period of 1. Below are means over several seeds, with their
# standard errors. Which differences are larger than those?

# %%
generalisation.table(generalisation.sweep())

# %% [markdown]
# Here the small batch has fewer test errors than the large one. Local SGD does not: it has about those of the large batch,
# with far fewer all-reduces. What Lin et al. (2020) found with deep networks and large batches, this small one does not
# show.

# %%
generalisation.published_post_local()

# %% [markdown]
# **DiLoCo** (Douillard et al., 2023) trains language models like this, over slow links between places. A rank takes 500
# steps; how far it has come counts as one gradient for an *outer* optimizer with momentum. In `local_sgd.py` it stands
# below local SGD.
#
# ## Compression, as published
#
# Each row says how far it has been checked.

# %%
fewer_bytes.published_compression()

# %%
fewer_bytes.published_speedup()

# %% [markdown]
# ## Federated learning
#
# “Sometimes, your data is inherently distributed”, say the notes: on phones, for example. **Federated averaging**
# (McMahan et al., 2017) is local SGD with clients that come and go. In each round a server asks some of them, they train
# on their own data, and it averages what comes back, weighted by their numbers of examples. Many never answer.

# %%
federated.table()

# %% [markdown]
# Look at the last row, where each client has few digits. Who drops out matters more than how many, if it is always the
# same ones: then hardly anybody brings their 8s and 9s.
#
# ## Sums of secrets
#
# A model tells something about the data that it was trained on. So the server should see sums only (Bonawitz et al.,
# 2017). Each pair of clients shares a secret, and turns it into random numbers, a **mask**: one adds it, the other subtracts
# it. In the sum, all masks cancel. What each client sends looks random.
#
# But if one drops out after the masks were agreed on, its masks do not cancel. Look at the second row. The third takes
# these masks off again: the others tell the secrets that they shared with the lost one.

# %%
masked.table_of_drop_outs()

# %% [markdown]
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/06_without_waiting/lab.ipynb).
