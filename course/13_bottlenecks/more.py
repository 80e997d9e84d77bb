# %% [markdown]
# # 13 Bottlenecks: more
#
# What the lesson has no room for: graph breaks, torch's own loader, a straggler that stays, all loops at once; and at the
# end **your report**.

# %%
import torch
import torch.distributed as dist

from lockstep import predict, reconcile, show
from lockstep.bottlenecks import unequal
from lockstep.cost.roofs import Work
from lockstep.experiments.bottlenecks import compiling
from lockstep.experiments.bottlenecks import report as reports
from lockstep.experiments.bottlenecks import tables_of_loops, torchs_loader
from lockstep.experiments.bottlenecks import twenty_times
from lockstep.models import mlp

# %% [markdown]
# ## Graph breaks
#
# `torch.compile` records a function as a graph, and fuses its operations. Where the function needs a tensor's value, the
# graph ends, and Python goes on. At each such **graph break**, arrays go through memory that a fused kernel would never
# have written. `torch._dynamo.explain` counts the breaks, and says why. Here are the GELU of section 7, and a function
# that reads a scalar.


# %%
def with_scalar(x):
    y = x * 2
    if y.sum().item() > 0:
        y = y + 1
    return torch.tanh(y)


compiling.breaks_table(with_scalar)

# %% [markdown]
# ## torch's own loader
#
# `DataLoader`'s workers are processes. Here each batch *waits* 4 ms, as for storage, and then the step waits 8 ms, as for
# a GPU. Starting the processes takes a while, so it is left out of these means. Do they agree with the table of section 3?

# %%
torchs_loader.workers_table()

# %% [markdown]
# ## A straggler that stays
#
# Rank 3 computes at half speed, and nobody replaces it. If it gets half as many rows as each of the others, all finish at
# the same time. Who waits for whom, before and after? (Virtual time.)

# %%
fewer = unequal.rows_by_speed(rank=3, speed=0.5)
show.compared({"even rows": unequal.straggling(), "rows by speed": unequal.straggling(rows=fewer)})

# %% [markdown]
# ## All loops
#
# Each loop of the unit, with its illness and without, in one run. This takes some seconds.

# %%
tables_of_loops.loops_table()

# %% [markdown]
# The loops in real time were also measured 20 times each, on a busy machine. Each counter told sick from cured every time.
# Look at the column *times as long, least*: below 1, the sick loop was *faster* than the cured one in that run. Whoever
# trusts one pair of timings may cure the wrong loop.

# %%
twenty_times.twenty_table()

# %% [markdown]
# ## Your report
#
# Put your own training in the place of `train` below: any function that calls `torch.distributed`, and whose steps are all
# alike and end with a collective. Then work through the five parts: predict, simulate, measure, reconcile, and say where
# the time went. [The rubric](../../docs/instructors.md#the-final-report) says what a good report has.
#
# At the end, run `jupyter nbconvert --to html --execute more.ipynb` in a terminal. It makes one page, whose figures still
# move.

# %%
STEPS, WIDTH, BATCH = 8, 256, 64


def train():
    model = mlp([WIDTH, WIDTH, WIDTH])
    x = torch.randn(BATCH, WIDTH)
    for _ in range(STEPS):
        loss = model(x).square().mean()
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)


# %% [markdown]
# **1. Predict.** Count your step's FLOPs, its bytes of memory and its bytes sent, and place it under the roofs of this
# machine. For the program above: 6 FLOP for each weight and example (4 in the first layer, which needs no gradient of its
# input); weights are read twice, gradients are written once; in a ring of two ranks, each sends as many numbers as there
# are weights.

# %%
n = WIDTH * WIDTH
mine = Work("my step", flops=(4 + 6) * n * BATCH, nbytes=3 * 4 * 2 * n, sent=4 * 2 * n)
reports.placed(mine)

# %% lesson="predict my-step"
predict("my-step", "How many ms does a step of your program take on two ranks of this machine?", unit="ms")

# %% [markdown] lesson="after my-step"
# **2. Simulate, 3. measure, 4. reconcile.** The same function runs on simulated ranks and on real processes.

# %% lesson="after my-step"
mine_ran = reports.report(train, steps=STEPS)
reconcile("my-step", simulated=mine_ran.simulated_ms, measured=mine_ran.measured_ms)

# %% [markdown] lesson="reason my-step"
# **Our reason**, for the program above: the roofs know only FLOPs and bytes. The simulation adds the least time of each
# operation, and the α of one all-reduce. In the measurement, Python and autograd come on top. On a busy machine, each rank
# also waits for a core of its own, and for the other rank, which waits for one, too.

# %% [markdown] lesson="after my-step"
# **5. Where did the time go?** First in numbers, then in both timelines. Which part is under a roof? Which of the rest can
# you get back, and how? Write five sentences below. Then change the program, and run the cells again.

# %% lesson="after my-step"
mine_ran.where_table()

# %% lesson="after my-step"
mine_ran.simulated.show()

# %% lesson="after my-step"
mine_ran.measured.show()

# %% [markdown]
# *Your five sentences.*

# %% [markdown]
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/13_bottlenecks/lab.ipynb).
