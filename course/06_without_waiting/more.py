# %% [markdown]
# # 06 Without waiting: more
#
# What the lesson has no room for: the age of every gradient, several servers, one-way links, groups that change, local
# SGD and test errors, DiLoCo with AdamW, phones that drop out, and sums of secrets.

# %%
from lockstep import show
from lockstep.experiments.without_waiting import decentralised, fewer_bytes
from lockstep.experiments.without_waiting import generalisation, outer_optimizer, ports
from lockstep.experiments.without_waiting import schemes
from lockstep.without_waiting import federated, grouped, parameter_server, push_sum
from lockstep.without_waiting import secure_aggregation

# %% [markdown]
# ## Four ways to serve
#
# The lesson compares bounds by one line of yours. Here are all schemes side by side. The time to a loss is a product:
# the number of gradients, times the time that all workers together need for one. Which scheme has the smallest of each?

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
# “If the parameters are too numerous for a single parameter server”, one uses several: each is responsible for a
# **shard** of w. That divides the bytes of a port, too. But a worker gets its shards from servers that may have made
# different numbers of updates. Below are the ages of the two halves of each w that one worker got. How many of these w
# could one server never have sent?

# %%
parameter_server.torn_table()

# %% [markdown]
# ## Whose port?
#
# Each cell counts what the busiest rank sends and receives in one step, in tensors. Look for a row that is nearly as
# flat as gossip’s: a ring all-reduce has no master either. What gossip on a ring saves beyond that is not bytes. It is
# the wait for everybody.

# %%
ports.ports_table()

# %% [markdown]
# ## Gossip at work
#
# D-PSGD on digits that are divided by class. The mean of the ranks’ models is what the theory is about. A single rank’s
# model is worse, and more so with a smaller spectral gap: compare the two losses of the ring.

# %%
decentralised.d_psgd_table()

# %% [markdown]
# ## One-way links
#
# Four ranks begin with 1, 2, 3, 4, and send one way only. Which way of weighing ends at their mean, 2.5?

# %%
push_sum.one_way_table()

# %% [markdown]
# If the *rows* of W sum to 1, all agree, but not on 2.5. If its *columns* do, the sum is right, but they do not agree.
# **Push-sum** sends a weight along with each value, and divides by it: **stochastic gradient push** trains like that
# (Assran et al., *Stochastic Gradient Push for Distributed Deep Learning*, arXiv:1811.10792).

# %% [markdown]
# ## Groups that change
#
# Grouped all-reduce averages within small groups, and chooses other groups in each step (Li et al., *Breaking (Global)
# Barriers in Parallel Stochastic Optimization With Wait-Avoiding Group Averaging*, arXiv:2005.00124). With the right
# ones, everybody’s numbers have reached everybody after a few rounds, exactly. A late rank keeps its own group waiting,
# and no one else. (The paper’s groups do not even wait for it.)

# %%
grouped.grouped_table()

# %% [markdown]
# ## Local SGD: bytes, and test errors
#
# First bytes: where does the loss begin to suffer, on even data and on data divided by class?

# %%
rows = fewer_bytes.local_sgd_sweep()
show.loss_by_bytes(rows)

# %% [markdown]
# Then another common claim: local SGD “can generalize better than large-batch SGD”. It is about *test* errors after
# equally many examples. **Post-local** SGD begins with a period of 1. Below are means over several seeds, with their
# standard errors. Which differences are larger than those?

# %%
generalisation.table(generalisation.sweep())

# %% [markdown]
# Here the small batch has fewer test errors than the large one. Local SGD does not: it has about those of the large
# batch, with far fewer all-reduces. Lin et al. found better ones, but with deep networks (*Don't Use Large
# Mini-Batches, Use Local SGD*, arXiv:1808.07217). You can't see that with this small one.

# %%
generalisation.published_post_local()

# %% [markdown]
# ## DiLoCo, as published
#
# DiLoCo was made for language models, on islands of devices that are poorly connected (Douillard et al., *DiLoCo:
# Distributed Low-Communication Training of Language Models*, arXiv:2311.08105). Its abstract says: 8 workers perform
# “as well as fully synchronous optimization while communicating 500 times less”. There the inner optimizer is AdamW,
# whose moments stay on the rank. Here it is, too. With which period does the outer optimizer still help much?

# %%
outer_optimizer.adamw_table()

# %% [markdown]
# ## Compression, as published
#
# Each row names its source. Only what could be compared with that source is here.

# %%
fewer_bytes.published_compression()

# %%
fewer_bytes.published_speedup()

# %% [markdown]
# ## Federated learning
#
# “Sometimes, your data is inherently distributed”: on phones, for example. **Federated averaging** is
# local SGD with clients that come and go (McMahan et al., *Communication-Efficient Learning of Deep Networks from
# Decentralized Data*, arXiv:1602.05629). In each round a server asks some of them, they train on their own data, and it
# averages what comes back, weighted by their numbers of examples. Many never answer.

# %%
federated.table()

# %% [markdown]
# Look at the last row, where each client has few digits. Who drops out matters more than how many. If it is always the
# same clients, hardly anybody brings in their 8s and 9s.
#
# ## Sums of secrets
#
# A model tells something about the data that it was trained on. So the server should see only sums (Bonawitz et al.,
# *Practical Secure Aggregation for Privacy-Preserving Machine Learning*, CCS 2017). Each pair of clients shares a
# secret, and turns it into random numbers, a **mask**: one adds it, the other subtracts it. In the sum, all masks
# cancel. What each client sends looks random.
#
# But if one drops out after the masks were agreed on, its masks do not cancel. Look at the second row. The third takes
# these masks off again: the others reveal the secrets that they shared with the lost one.

# %%
secure_aggregation.table_of_drop_outs()

# %% [markdown]
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/06_without_waiting/lab.ipynb).
