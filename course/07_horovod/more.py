# %% [markdown]
# # 07 Horovod: more
#
# What the lesson has no room for: three ways to start, ranks that run out of data, settings that Horovod looks for by
# itself, Adasum, and the script in Lightning's style.

# %%
import inspect
import tempfile
from pathlib import Path

from lockstep.experiments.horovod import lightning, tell
from lockstep.experiments.horovod.recorded import or_recorded
from lockstep.with_horovod.available import MISSING, available
from lockstep.with_horovod.launched import called, horovodrun

# %% [markdown]
# ## Three ways to start
#
# The lesson's ranks begin in this kernel: they are forked from a process that has loaded Python, torch and Horovod
# once. On a cluster you start them by **`horovodrun`**: `horovodrun -np 3 python train.py`; with `-H
# server1:4,server2:4` on two machines, over ssh. Here it starts three, each a program of its own. Each line begins with
# the rank that wrote it.

# %%
PROGRAM = """
import horovod.torch as hvd, torch
hvd.init()
total = hvd.allreduce(torch.tensor([float(hvd.rank())]), name="rank", op=hvd.Sum)
print(f"rank {hvd.rank()} of {hvd.size()}: {total.item():g}")
"""
if available():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "sum_of_ranks.py")
        path.write_text(PROGRAM)
        print(horovodrun(str(path), ranks=3))
else:
    print(MISSING)

# %% [markdown]
# The third way is **`horovod.run`**: it starts ranks from Python, and returns what each of them returned.


# %%
def squared_rank():
    import horovod.torch as hvd

    hvd.init()
    return hvd.rank() ** 2


print(called(squared_rank, ranks=3) if available() else MISSING)

# %% [markdown]
# ## Ranks that run out of data
#
# With uneven data, one rank makes its last step when others have more to do. They would wait for it. `hvd.join()` says
# “I am through, go on without me”: from then on this rank adds zeros, until all have joined. Below, rank r makes r + 1
# all-reduces of ones, and then joins.

# %%
tell.join_table(or_recorded("join"))

# %% [markdown]
# Look at the means. They are divided by the number of *all* ranks, although fewer take part: the last gradients come
# out too small. A sampler with equal shares avoids that.
#
# ## Settings that Horovod finds
#
# The lesson sets the size of the buffer; the length of a cycle is the other one that matters. The right ones depend on
# model and network. **Autotuning** tries them out during the first steps, by Bayesian optimisation:
# `HOROVOD_AUTOTUNE=1`. It looks for the most bytes per second, and keeps what it has found.
#
# ## Adasum
#
# Unit 05 scales the learning rate with the number of ranks. **Adasum** (Maleki et al., 2021) combines gradients in
# another way instead. Two that point in the same direction are averaged. Two that are orthogonal are added. In between
# it is in between:
#
# $$\mathrm{Adasum}(g_1, g_2) = \left(1 - \frac{g_1 \cdot g_2}{2\,\|g_1\|^2}\right) g_1 + \left(1 - \frac{g_1 \cdot g_2}{2\,\|g_2\|^2}\right) g_2$$
#
# In Horovod that is `op=hvd.Adasum`. It is built on MPI: with Gloo alone, as here, there is none.
#
# ## In Lightning's style
#
# The model says what is trained, a trainer says how and where. This is all of the script that you would write:

# %%
print(inspect.getsource(lightning.LightningStyle))
print(inspect.getsource(lightning.lightning))

# %% [markdown]
# And this is what such a trainer hides. Lightning's own has dozens of options more; ours was written to show the
# idea. Look for the six steps: who takes care of each?

# %%
print(inspect.getsource(lightning.Trainer))

# %% [markdown]
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/07_horovod/lab.ipynb).
