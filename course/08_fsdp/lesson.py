# %% [markdown]
# # 08 Fully sharded data parallel
#
# **How do you train a model that no device can hold?**
#
# ![](opening.svg)
#
# In unit 05 every rank held the whole model. Here a rank holds a part of it, and borrows the rest when it is needed. You
# count what that saves, and what it costs.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | {minutes} | sections 1 to 8 |
# | Short path | {minutes} | sections 1 to 3, the wrap-up; then `fully_shard_model` in the lab |
# | [Lab](../../labs/08_fsdp/lab.ipynb) | 130 | four exercises, and more for those who want them |
#
# From units 04 and 05 you need the ring all-reduce, its two halves, and DDP.

# %%
import inspect

from IPython.display import display

from lockstep import predict, quiz, reconcile, show, your_turn
from lockstep.experiments.fsdp import by_dtype, compared_with_torch, hidden, recomputed
from lockstep.experiments.fsdp import table, trainings, wrapping, your_line
from lockstep.sharded import offload, sharded_optimizer

show.memory_over_time(your_line.ahead_run(0))

# %% [markdown]
# ## 1. What a replica holds · {minutes} minutes · short path
#
# A common claim about data parallelism: “Memory inefficiency (each GPU stores the full model)”. What is the full model? For
# each parameter a rank keeps the parameter, its gradient, and what the optimizer remembers: with Adam, two numbers.
# Together these are the **model states**.
#
# In **mixed precision**, parameters and gradients take 2 bytes each. The optimizer keeps Adam's two numbers in 4 bytes
# each, and a **master copy** of the parameter in 4 more: in 2, small steps would be lost.

# %% lesson="predict replica"
predict(
    "replica",
    "GPT-2 has 1.5 billion parameters: 3 GB in half precision. Adam trains it in mixed precision, by data parallelism. "
    "How many GB of model states does each GPU hold?",
    unit="GB",
    answer=24,
)

# %% lesson="after replica"
bytes_each = table.by_trace()[0, 1]  # stage 0, on one rank
print(f"a small GPT in mixed precision: {bytes_each:g} bytes a parameter")
reconcile("replica", simulated=bytes_each * 1.5)

# %% [markdown] lesson="reason replica"
# **Our reason.** 2 + 2 bytes for the parameter and its gradient, and 4 + 4 + 4 for the optimizer: 16 bytes, times 1.5
# billion. In float32 it is 4 + 4 + 8: 16 again. Activations come on top. The model itself is only an eighth of this. Three
# quarters belong to the optimizer, and are used once a step. And *every* rank has the same 16 bytes.

# %% [markdown]
# ## 2. The optimizer first · {minutes} minutes · short path
#
# With DDP, all ranks make the same update. **ZeRO** divides that work (Rajbhandari et al., *ZeRO: Memory Optimizations
# Toward Training Trillion Parameter Models*, arXiv:1910.02054). Cut the vector of all parameters into K equal **shards**.
# Rank r updates shard r.
#
# - **Stage 1**: it keeps only this shard's optimizer state. After the update, an **all-gather** brings the others' shards.
# - **Stage 2**: it keeps only this shard's gradient, too. A **reduce-scatter** leaves it there, layer by layer, during
#   the backward pass. The rest is freed.

# %% lesson="predict halves"
predict(
    "halves",
    "4 ranks. How many times the bytes of DDP's all-reduce does a rank send in a step of stage 2?",
    unit="times",
    answer=1,
)

# %% lesson="after halves"
of_ddp, of_stage_2 = (trainings.port(name) for name in ("stage 0, DDP", "stage 2"))
display(reconcile("halves", simulated=of_stage_2 / of_ddp))
display(trainings.stages_table(last=2))
print(inspect.getsource(sharded_optimizer.ShardedOptimizer.step))

# %% [markdown] lesson="reason halves"
# **Our reason.** A ring all-reduce *is* a reduce-scatter, and then an all-gather. ZeRO makes the update between the two. Each
# half sends (K − 1)/K numbers a parameter, so nothing is added. But time is another matter: DDP can hide its all-reduce
# behind the backward pass. The all-gather of stage 2 comes after the update, and here nothing hides it.

# %% [markdown] lesson="after halves"
# Read the table from top to bottom: first Adam's 8 bytes become 2, then the gradient's 4 become 0.8. A whole shard of
# gradients would be 1, but the worst moment comes before the backward pass has ended. *rest* is activations, and what is
# in flight. Below the table is stage 1 once more, by a **sharded optimizer**: it needs nothing of the model, and hides
# nothing.

# %% lesson="quiz stage-1"
quiz(
    "stage-1",
    "Float32, Adam, 8 ranks, stage 1. How many bytes of model states does a rank hold for each parameter of the model?",
    unit="bytes",
    answer=9,
    because="4 for the parameter, 4 for its gradient, and 8/8 for the optimizer.",
    wrong={
        16: "That is stage 0. What does each rank update?",
        2: "That is 16/8, when everything is cut. Which of the three does stage 1 cut?",
        5.5: "That is stage 2: the gradient is cut as well.",
        8.5: "Adam remembers two numbers for each parameter.",
        1: "That is the optimizer's share. What else is there?",
    },
)

# %% [markdown]
# ## 3. Gather, compute, let go · {minutes} minutes · short path
#
# **Stage 3** cuts the parameters, too. PyTorch calls it **FSDP**: fully sharded data parallel (Zhao et al., *PyTorch FSDP:
# Experiences on Scaling Fully Sharded Data Parallel*, arXiv:2304.11277). Now no rank has the whole model. But a layer can
# only compute with whole parameters. So a rank gathers them, computes, and lets go. (This is not
# [model parallelism](../10_tensor_parallel/model_parallelism.md): each rank computes all layers, for its own examples.)

# %%
print(inspect.getsource(your_line.forward))

# %% [markdown]
# The backward pass goes from the last layer to the first, and needs each layer's parameters again: gather, compute the
# gradient, reduce-scatter it, let go of both.

# %% lesson="predict traffic"
predict(
    "traffic",
    "4 ranks, all in float32. Each layer is gathered for the forward pass, and again for the backward pass. How many times "
    "the bytes of DDP's all-reduce does a rank send in a step?",
    unit="times",
    answer=1.5,
)

# %% lesson="after traffic"
ddp, fsdp = (trainings.port(name) for name in ("stage 0, DDP", "stage 3, FSDP"))
display(reconcile("traffic", simulated=fsdp / ddp))
trainings.stages_table()

# %% [markdown] lesson="reason traffic"
# **Our reason.** Two all-gathers and a reduce-scatter: three halves of an all-reduce, where DDP sends two. You often read
# “Reduces sync time”. Here FSDP sends more, not less. What it saves is memory. Its all-gathers can hide behind
# computing, but a layer cannot begin before its own has ended: a slow link is felt sooner than with DDP.
# And why are parameters 2.3 bytes in the last row, not 1? While a layer computes, it is whole.

# %% [markdown] lesson="after traffic"
# All this holds where every number has 4 bytes. Today's usual policy gathers parameters in bfloat16, and reduces
# gradients in float32; both are the defaults of torchtitan, PyTorch's own trainer:
#
# ```python
# half = MixedPrecisionPolicy(
#     param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
# fully_shard(layer, mp_policy=half)
# ```
#
# Which row sends as much as float32 DDP? (DDP under `autocast` sends that, too: its gradients stay float32.)

# %% lesson="after traffic"
by_dtype.dtypes_table()

# %% [markdown]
# Look at the parameters below, through one step of one rank. The floor is this rank's shards. Each tooth is a layer
# that is gathered and let go. When is the sum highest: in the forward pass, in the backward pass, or in the update?

# %%
done, second_step = trainings.sawtooth()
show.memory_over_time(done, since=second_step)

# %% [markdown]
# **Your turn.** In which order are layers gathered? The last layer's backward pass follows its forward pass at once. So a
# rank does not let go of that layer in between. Below, your line says what comes next, and eight layers are trained.


# %% lesson="turn gather_order"
def gather_order(layers):
    """Layers are 0, 1, ... layers - 1. Which are gathered in one step, in which order?
    The last one stays for the backward pass. A list of numbers."""
    ### BEGIN SOLUTION
    return [*range(layers), *reversed(range(layers - 1))]
    ### END SOLUTION


# %% lesson="behind gather_order"
cases = [(layers,) for layers in (1, 2, 3, 4, 5, 8, 16, 96)]
wrong = {
    lambda layers: [*range(layers), *reversed(range(layers))]: "That gathers the last layer twice, in a row.",
    lambda layers: [*range(layers), *range(layers - 1)]: "In which direction does the backward pass go?",
    lambda layers: list(range(layers)): "That is the forward pass. What does the backward pass need?",
    lambda layers: [
        *range(layers),
        *reversed(range(1, layers)),
    ]: "The first layer has gradients, too. Which one stays?",
    lambda layers: [
        *range(layers),
        *reversed(range(1, layers - 1)),
    ]: "The last one stays. But the first layer has gradients, too.",
}
well = "Right. Where a layer stays, its second gather is saved."

# %% lesson="after gather_order"
your_line.order_table(gather_order)

# %% lesson="quiz collectives"
quiz(
    "collectives",
    "12 layers on 64 ranks, gathered and let go one by one; the last one stays. How many collectives does a rank "
    "join in one step?",
    answer=35,
    because="12 + 11 all-gathers, and 12 reduce-scatters.",
    wrong={
        36: "The last layer stays: which of its collectives is saved?",
        23: "Those are the all-gathers. What becomes of the gradients?",
        24: "Is each layer gathered once? It is needed in both passes.",
        34: "Only one collective is saved: the last layer's gradient is reduced, too.",
    },
)

# %% [markdown]
# ## 4. What is gathered at once? · {minutes} minutes
#
# What FSDP gathers at once is a **unit**. With torch's `fully_shard`, each call makes one:
#
# ```python
# for layer in model.children():
#     fully_shard(layer)
# fully_shard(model)  # what is left
# ```
#
# Many samples use its predecessor, `FullyShardedDataParallel`, today called FSDP1. Here is what one of them prints, without
# the class:
#
# ```python
# # fc1: 1024 -> 4096, fc2: 4096 -> 1024
# model = Transformer().to(device)
# model = FSDP(model,
# cpu_offload=CPUOffload(offload_params=True))
# ```
#
# There is no *wrap policy*: nothing says which layers are units. So the whole model is one unit.

# %% lesson="predict printed"
predict(
    "printed",
    "This model has 8.4 million parameters: 33.6 MB. With 4 ranks, wrapped as printed (and without the offload), how many MB "
    "of parameters does a rank hold at the worst moment?",
    unit="MB",
    answer=42,
)

# %% lesson="after printed"
printed = wrapping.held(wrapping.Transformer, wrapping.fsdp)
display(reconcile("printed", simulated=printed.parameters))
wrapping.notes_sample()

# %% [markdown] lesson="reason printed"
# **Our reason.** A shard is 33.6/4 = 8.4 MB. The one unit, the whole model, adds 33.6 MB: 42 MB, more than
# with DDP. And since the backward pass begins where the forward pass has ended, the unit stays. So this “FSDP” sends what
# DDP does, and saves only optimizer state and gradients. It is ZeRO's stage 2, with an extra shard.

# %% [markdown] lesson="after printed"
# Now look at `fully_shard` on each layer: 25.2 MB, the rank's shards and the larger layer. FSDP1 holds 42 MB by layer,
# too: in the backward pass it fetches the next unit while one computes, and then both are whole. (`fully_shard` fetches
# into a buffer, which only the last column counts.)
#
# Below is a deeper model, as large as this one, under our own FSDP. How many units does it need before a rank holds less
# than with DDP? And what rises in return?

# %% lesson="after printed"
display(wrapping.by_units_chart())
wrapping.by_units().folded()

# %% lesson="quiz units"
quiz(
    "units",
    "GPT-3: 350 GB of parameters in half precision, in 96 equal layers. With 64 ranks, a unit for each layer, and the "
    "next unit fetched ahead, how many GB of parameters does a rank hold at the worst moment?",
    unit="GB",
    answer=12.76,
    within=0.03,
    because="350/64 of shards, and two layers whole: 5.47 + 2 · 350/96.",
    wrong={
        5.47: "Those are the shards. What is gathered on top of them?",
        9.11: "One layer is whole. And the one that is fetched ahead?",
        7.29: "Those are two whole layers. And this rank's shards?",
        355.5: "That is one unit for the whole model.",
    },
)

# %% [markdown]
# ## 5. ZeRO's Table 1 · {minutes} minutes
#
# How much is left on a device? The ZeRO paper (arXiv:1910.02054) has a table for mixed precision with Adam. Its *Pos*,
# *Pos+g* and *Pos+g+p* are stages 1, 2 and 3.
#
# **Your turn.** Your line fills the columns beside the published ones. The last column says how far a small GPT was
# from your line, on a virtual cluster with that many ranks.


# %% lesson="turn bytes_a_parameter"
def bytes_a_parameter(stage, ranks):
    """Mixed precision: 2 bytes of parameters, 2 of gradients, 12 of optimizer state.
    Stage 1 divides the state, 2 the gradients, too, 3 all. What does a rank hold?"""
    ### BEGIN SOLUTION
    divided = (0, 12, 14, 16)[stage]
    return 16 - divided + divided / ranks
    ### END SOLUTION


# %% lesson="behind bytes_a_parameter"
cases = [(stage, ranks) for ranks in (1, 4, 1024) for stage in (0, 1, 2, 3)] + [(1, 3), (2, 64), (3, 7)]
wrong = {
    lambda stage, ranks: 16 / ranks: "That divides everything. Which stage does?",
    lambda stage, ranks: 4 + 12 / ranks: "That is stage 1. What do the others divide?",
    lambda stage, ranks: 16 - (0, 12, 14, 16)[stage]: "What is divided is not gone: a rank has its shard of it.",
    lambda stage, ranks: (0, 12, 14, 16)[stage] / ranks: "Those are the shards. What is still whole?",
    lambda stage, ranks: (
        16 - (0, 12, 2, 2)[stage] * (1 - 1 / ranks)
    ): "Stages add up: stage 2 divides the state as well.",
}
well = "Right: what is whole, and the shards."

# %% lesson="after bytes_a_parameter"
table.table_1(bytes_a_parameter, models=("7.5B",))

# %% [markdown]
# The published numbers are the formula's, rounded, and the runs held exactly what it says. Now choose a stage below,
# and move K. For each stage: how low does the stack get, however many ranks there are? (Ψ, psi, is the number of
# parameters.)

# %%
show.memory_stacks()

# %% lesson="quiz never"
quiz(
    "never",
    "GPT-3 has 175 billion parameters. In mixed precision, how many GPUs with 80 GB each are enough for its model states "
    "under stage 2?",
    choices=["5", "31", "35", "no number"],
    answer="no number",
    because="2 bytes of each parameter stay whole: 350 GB on each GPU.",
    wrong={
        "5": "350/80 is 4.4. But stage 2 does not divide those 350 GB.",
        "31": "2,450/80 is 30.6: 14 bytes of each parameter are divided. Where are the other 2?",
        "35": "2,800/80 = 35 is right for stage 3. What does stage 2 leave whole?",
    },
)

# %% [markdown]
# So what do others say about FSDP? Here is a lecture's list, complete and in its words. Three rows agree with what we
# count: the first, and those on lower memory and on scalability.

# %%
table.notes_table()

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 6. Fetch the next one ahead · {minutes} minutes
#
# A layer cannot compute before its gather has ended. But while layer 2 computes, the link is idle, and could fetch
# layer 3: **prefetching**. Here is a forward pass of eight unequal layers on eight GPUs, without it and with it. Look
# at rank 0: where does it stand still?

# %%
ways = {"without prefetching": 0, "one layer ahead": 1}
show.compared({name: your_line.ahead_run(ahead) for name, ahead in ways.items()})

# %% [markdown]
# **Your turn.** What is fetched ahead needs room. Below, compare your line with what a run held.


# %% lesson="turn most_whole"
def most_whole(sizes, ahead):
    """While a layer computes, it is whole, and so are the next `ahead` layers, as far
    as there are any. Layer i has sizes[i] numbers. How many are whole at most?"""
    ### BEGIN SOLUTION
    return max(sum(sizes[i : i + ahead + 1]) for i in range(len(sizes)))
    ### END SOLUTION


# %% lesson="behind most_whole"
cases = [([5], 0), ([5], 3), ([3, 1, 4, 1, 5], 0), ([3, 1, 4, 1, 5], 1), ([9, 1, 1, 8, 8], 1), ([9, 1, 1, 8, 8], 2)]
cases += [([1, 2, 3], 7), ([7, 7, 7, 7], 2), ([10, 1, 10, 1, 9, 9], 1), (list(range(96)), 1), ([1, 1, 30, 1, 1], 4)]
wrong = {
    lambda sizes, ahead: max(sizes) * (ahead + 1): "Are the layers beside the largest one just as large?",
    lambda sizes, ahead: max(
        sum(sizes[i : i + ahead]) for i in range(len(sizes))
    ): "The layer that computes is whole, too.",
    lambda sizes, ahead: max(sizes): "What is fetched ahead is whole, too.",
    lambda sizes, ahead: sum(sorted(sizes)[-ahead - 1 :]): "Those are the largest ones. Are they neighbours?",
    lambda sizes, ahead: sum(sizes[: ahead + 1]): "That is so at the beginning. And later?",
}
well = "Right. With unequal layers it depends on which are neighbours."

# %% lesson="after most_whole"
display(your_line.ahead_table(most_whole))
display(hidden.backward_table())
hidden.backward_run("both hidden").show()

# %% [markdown] lesson="after most_whole"
# One layer ahead saves a third of the time here. Two save a little more, since the layers are unequal; each costs a whole
# layer of memory.
#
# In the backward pass two things travel: one layer's parameters come, and another one's gradients leave. FSDP hides both,
# the first by **backward prefetch**. The second table has blocks of torch on the same GPUs, and the figure their run.
# Which transfers does nothing hide?

# %% lesson="quiz hidden"
quiz(
    "hidden",
    "8 equal layers. A gather takes 8 ms, a layer computes for 10 ms, and one layer is fetched ahead. How long does the "
    "forward pass take?",
    unit="ms",
    answer=88,
    because="Nothing hides the first gather; computing hides the other seven: 8 + 8 · 10.",
    wrong={
        144: "That is without prefetching: 8 · 18.",
        80: "What does the first layer wait for?",
        74: "That is 8 · 8 + 10. Which takes longer here, gathering or computing?",
        90: "That is 8 layers and one more. How long is a gather?",
    },
)

# %% [markdown]
# ## 7. What is left · {minutes} minutes
#
# With enough ranks, model states hardly count any more. **Activations** do: the outputs of all layers, for this rank's
# batch, wait for the backward pass. More ranks do not divide them.
#
# **Activation checkpointing** keeps only the input of each *segment* of layers (Chen et al., *Training Deep Nets with
# Sublinear Memory Cost*, arXiv:1604.06174). Before a segment's backward pass, its forward pass is computed once more.
# That costs no bytes on the link; it costs time.

# %% lesson="predict again"
predict(
    "again",
    "16 equal layers, each a segment. By what percentage does checkpointing lengthen the computation of a step?",
    unit="%",
    answer=32,
)

# %% lesson="after again"
plain, again = (recomputed.step(recomputed.in_segments, 16, S).work for S in (1, 16))
display(reconcile("again", simulated=100 * (again / plain - 1)))
recomputed.recomputed_table()

# %% [markdown] lesson="reason again"
# **Our reason.** A backward pass computes two gradients, those of the layer's input and of its parameters: about two forward
# passes. So a step costs 3 forward passes, and one more makes 4: a third more; here a little less, since the last layer
# is not computed again. The table shows what that buys. Segments of √16 = 4 layers halve what is alive in
# memory. A segment for each layer saves nothing: these layers keep only their input. A transformer's block keeps
# much more, and gains at once.

# %% [markdown]
# What is needed once a step may also live on the **host**: in the CPU's memory. The sample does that:
# `CPUOffload(offload_params=True)`, today `offload_policy=CPUOffloadPolicy()`. It moves shards, gradients and the
# optimizer's update to the host. Below, only Adam's state lives there, or its update as well. Which sends more over the bus
# between device and host?

# %%
offload.offload_table()

# %% [markdown]
# ## 8. torch's own · {minutes} minutes
#
# For your models, use `fully_shard`. It cuts each parameter separately, and puts a **DTensor** in its place: a tensor
# whose parts are on several ranks. A **DeviceMesh** says which:
#
# ```python
# mesh = init_device_mesh("cuda", (nodes, 8),
#                         mesh_dim_names=("replicate", "shard"))
# for block in model.blocks:
#     fully_shard(block, mesh=mesh)
# fully_shard(model, mesh=mesh)
# ```
#
# FSDP1, the sample's class, cuts one flat vector for each unit, as ours does. It is history: PyTorch's
# [tutorial](https://docs.pytorch.org/tutorials/intermediate/FSDP_tutorial.html) on it opens with “FSDP1 is deprecated”.
# Below, both stand beside ours. Are the results the same as with one rank?

# %%
compared_with_torch.beside_torch_table()

# %% [markdown]
# The mesh above has two dimensions: **hybrid sharding** (HSDP). It cuts within each node only, and all-reduces the
# gradients' shards across nodes: more memory, fewer bytes between nodes. A mesh with one dimension gives plain FSDP.
#
# Here a small GPT learns from the source of Python's standard library, which every machine has. Compare the losses
# first. Which row sends least, of those with fewer than 12 bytes a parameter?

# %%
trainings.methods_table()

# %% [markdown]
# | what else shards change | by hand | in torch |
# |---|---|---|
# | clipping by the norm | one number is all-reduced: in the lab | `clip_grad_norm_` handles DTensors |
# | saving | each rank saves its shard; a different number of ranks cuts them anew: in the lab | `torch.distributed.checkpoint` |
# | bytes that are gathered | matrices in float8: [more](more.ipynb) | torchao's `enable_fsdp_float8_all_gather` |
# | slow links between nodes | hybrid sharding: [more](more.ipynb) | `fully_shard` on a mesh of two dimensions |

# %% [markdown]
# ## Wrap-up
#
# You can now say:
#
# - what the 16 bytes a parameter are, and what each stage divides;
# - why stage 2 sends what DDP sends, and FSDP 1.5 times that if dtypes are equal;
# - what a unit is, and what a rank holds at the worst moment;
# - what prefetching, checkpointing and offloading cost.
#
# In practice: `fully_shard`, on each block and on the model.
#
# **Go on**: [the lab](../../labs/08_fsdp/lab.ipynb). You will meet your lines there. [More](more.ipynb):
# checkpoints, clipping, all of Table 1. **Or stop here**, and begin with the lab.
