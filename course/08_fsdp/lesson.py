# %% [markdown]
# # 08 Fully sharded data parallel
#
# **How do you train a model that no device can hold?**
#
# In unit 05 every rank held the whole model. Here a rank holds a part of it, and borrows the rest for a moment. You count
# what that saves, and what it costs.
#
# | | minutes | what |
# |---|---|---|
# | Whole lesson | 48 | sections 1 to 8 |
# | Short path | 20 | sections 1 to 3, the wrap-up; then `fully_shard_model` in the lab |
# | [Lab](../../labs/08_fsdp/lab.ipynb) | 125 | four exercises, and more for those who want them |
#
# From units 04 and 05 you need the ring all-reduce, its two halves, and DDP.

# %%
import inspect

from IPython.display import display

from lockstep import predict, quiz, reconcile, show, your_turn
from lockstep.experiments.fsdp import compared_with_torch, recomputed, table, trainings
from lockstep.experiments.fsdp import wrapping, your_line
from lockstep.sharded import offload

# %% [markdown]
# ## 1. What a replica holds · 4 minutes · short path
#
# The notes say of data parallelism: “Memory inefficiency (each GPU stores the full model)”. What is the full model? For
# each parameter a rank keeps the parameter, its gradient, and what the optimizer remembers: with Adam two numbers.
# Together these are the **model states**.
#
# In **mixed precision**, parameters and gradients have 2 bytes. The optimizer keeps Adam's two numbers in 4 bytes each,
# and a **master copy** of the parameter in 4, too: in 2, small steps would be lost.

# %% lesson="predict replica"
predict(
    "replica",
    "GPT-2 has 1.5 billion parameters: 3 GB in half precision. Adam trains it in mixed precision, by data parallelism. "
    "How many GB of model states does each GPU hold?",
    unit="GB",
)

# %% lesson="after replica"
bytes_each = table.by_trace()[0, 1]  # stage 0, on one rank
print(f"a small GPT in mixed precision: {bytes_each:g} bytes a parameter")
reconcile("replica", simulated=bytes_each * 1.5)

# %% [markdown] lesson="reason replica"
# **Our reason.** 2 + 2 bytes for the parameter and its gradient, and 4 + 4 + 4 for the optimizer: 16 bytes, times 1.5
# billion. In float32 it is 4 + 4 + 8: 16 again. Activations come on top. The model proper is an eighth. Three quarters
# belong to the optimizer, and are used once in a step. And *every* rank has the same 16 bytes.

# %% [markdown]
# ## 2. The optimizer first · 5 minutes · short path
#
# With DDP, all ranks make the same update. **ZeRO** (Rajbhandari et al., 2020) divides that work. Cut the vector of all
# parameters into K equal **shards**. Rank r updates the r-th.
#
# - **Stage 1**: it keeps the optimizer's state of this shard only. After the update, an **all-gather** brings it all
#   other shards.
# - **Stage 2**: it needs the gradient of this shard only. A **reduce-scatter** leaves it there, layer by layer, during the
#   backward pass. The rest of the gradient is freed.

# %% lesson="predict halves"
predict(
    "halves",
    "4 ranks. How many times the bytes of DDP's all-reduce does a rank send in a step of stage 2?",
    unit="times",
)

# %% lesson="after halves"
of_ddp, of_stage_2 = (trainings.port(name) for name in ("stage 0, DDP", "stage 2"))
display(reconcile("halves", simulated=of_stage_2 / of_ddp))
trainings.stages_table(last=2)

# %% [markdown] lesson="reason halves"
# **Our reason.** A ring all-reduce *is* a reduce-scatter, and then an all-gather. ZeRO makes the update between the two. Each
# half sends (K − 1)/K numbers a parameter, so nothing is added. What the two numbers do not show is time: DDP can hide its
# all-reduce behind the backward pass. The all-gather of stage 2 comes after the update: here nothing hides it.

# %% [markdown] lesson="after halves"
# Read the table from top to bottom: first Adam's 8 bytes become 2, then the gradient's 4 become 0.8. With all
# shards it would be 1, but the worst moment comes before the end of the backward pass. *rest* is activations, and what is
# on its way.

# %% lesson="quiz stage-1"
quiz(
    "stage-1",
    "Float32, Adam, 8 ranks, stage 1. How many bytes of model states does a rank hold for each parameter of the model?",
    unit="bytes",
    answer=9,
    because="4 of the parameter, 4 of its gradient, and 8/8 of the optimizer.",
    wrong={
        16: "That is stage 0. What does each rank update?",
        2: "That is 16/8, when all is cut. Which of the three does stage 1 cut?",
        5.5: "That is stage 2: the gradient is cut as well.",
        8.5: "Adam remembers two numbers for each parameter.",
        1: "That is the optimizer's. What else is there?",
    },
)

# %% [markdown]
# ## 3. Gather, compute, let go · 11 minutes · short path
#
# **Stage 3** cuts the parameters, too. PyTorch calls it **FSDP**: fully sharded data parallel. Now no rank has a model. But
# a layer can only compute with whole parameters. So a rank gathers them, computes, and lets go. (So it is no
# [model parallelism](../10_tensor_parallel/model_parallelism.md): each rank computes all layers, for its own examples.)

# %%
print(inspect.getsource(your_line.forward))

# %% [markdown]
# The backward pass goes from the last layer to the first, and needs each layer's parameters again: gather, compute the
# gradient, reduce-scatter it, let go of both.

# %% lesson="predict traffic"
predict(
    "traffic",
    "4 ranks. Each layer is gathered for the forward pass, and again for the backward pass. How many times the bytes of "
    "DDP's all-reduce does a rank send in a step?",
    unit="times",
)

# %% lesson="after traffic"
ddp, fsdp = (trainings.port(name) for name in ("stage 0, DDP", "stage 3, FSDP"))
display(reconcile("traffic", simulated=fsdp / ddp))
trainings.stages_table()

# %% [markdown] lesson="reason traffic"
# **Our reason.** Two all-gathers and a reduce-scatter: three halves of an all-reduce, where DDP sends two. The notes list
# “Reduces sync time” as a benefit. FSDP sends more, not less. What it saves is memory. Its all-gathers can hide behind
# computing, but a layer cannot begin before its own has ended: a slow link is felt sooner than with DDP.
# And why are parameters 2.3 bytes in the last row, not 1? Layers that compute are whole.

# %% [markdown]
# Look at the parameters below, through one step of one rank. Their floor is its shards. Each tooth is a layer that is
# gathered and let go. When is the sum highest: in the forward pass, in the backward pass, or in the update?

# %%
done, second_step = trainings.sawtooth()
show.memory_over_time(done, since=second_step)

# %% [markdown]
# **Your turn.** In which order are layers gathered? The last layer's backward pass follows its forward pass at once. So a
# rank need not let go of it. Below, your line says what comes next, and eight layers are trained.


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
    "12 layers on 64 ranks, gathered and let go one by one; the last one stays. How many collectives does a rank take "
    "part in, in one step?",
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
# ## 4. What is gathered at once? · 6 minutes
#
# What FSDP gathers at once is a **unit**. Here is what the notes print, the class left out:
#
# ```python
# # fc1: 1024 -> 4096, fc2: 4096 -> 1024
# model = Transformer().to(device)
# model = FSDP(model,
# cpu_offload=CPUOffload(offload_params=True))
# ```
#
# There is no *wrap policy*: nothing says which layers are units. So all of them are one.

# %% lesson="predict printed"
predict(
    "printed",
    "This model has 8.4 million parameters: 33.6 MB. With 4 ranks, wrapped as printed (and without the offload), how many MB "
    "of parameters does a rank hold at the worst moment?",
    unit="MB",
)

# %% lesson="after printed"
printed = wrapping.held(wrapping.Transformer, wrapping.fsdp)
display(reconcile("printed", simulated=printed.parameters))
wrapping.notes_sample()

# %% [markdown] lesson="reason printed"
# **Our reason.** A shard is 33.6/4 = 8.4 MB. The one unit is the whole model, 33.6 MB, beside it: 42 MB, more than with
# DDP. And since the backward pass begins where the forward pass has ended, the unit stays. So this “FSDP” sends what DDP
# does, and saves optimizer state and gradients only. It is ZeRO 2, with a shard more.

# %% [markdown] lesson="after printed"
# In the table, two units do not help either: torch fetches the next one while one computes, and then both are whole. Below
# is a deeper model, as large as this one. How many units does it need before a rank holds less than with DDP? What rises
# meanwhile?

# %% lesson="after printed"
wrapping.by_units()

# %% lesson="quiz units"
quiz(
    "units",
    "GPT-3: 350 GB of parameters in half precision, in 96 equal layers. With 64 ranks, a unit a layer, and the next unit "
    "fetched ahead, how many GB of parameters does a rank hold at the worst moment?",
    unit="GB",
    answer=12.76,
    within=0.03,
    because="350/64 of shards, and two layers whole: 5.47 + 2 · 350/96.",
    wrong={
        5.47: "Those are the shards. What is gathered beside them?",
        9.11: "One layer is whole. And the one that is fetched ahead?",
        7.29: "Those are two whole layers. And the shards of all others?",
        355.5: "That is one unit for the whole model.",
    },
)

# %% [markdown]
# ## 5. ZeRO's Table 1 · 7 minutes
#
# How much is left on a device? The ZeRO paper has a table, for mixed precision with Adam: stages 1, 2 and 3 are its *Pos*,
# *Pos+g* and *Pos+g+p*.
#
# **Your turn.** Your line fills the columns beside the published ones. The last column says how far from your line a small
# GPT was, on a virtual cluster of as many ranks.


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
# The published numbers are those of the formula, rounded, and the runs held just as much. Now set a stage below, and move
# K. For each stage: how low does the stack get, with any number of ranks? (Ψ, psi, is the number of parameters.)

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
# So what do the notes say of FSDP? Here is their list, whole and in their words. Three rows agree with what we count:
# the first, and those on lower memory and on scalability.

# %%
table.notes_table()

# %% [markdown]
# **A good place for a break.** Your predictions and lines are kept.
#
# ## 6. Fetch the next one ahead · 7 minutes
#
# A gather and the computing that needs it follow one another. But while layer 2 computes, the link is idle, and could fetch
# layer 3: **prefetching**. Here is a forward pass of eight unequal layers on eight GPUs, without it and with it. Look at rank
# 0: where does it stand still?

# %%
for ahead in (0, 1):
    display(your_line.ahead_run(ahead).show())

# %% [markdown]
# **Your turn.** What is fetched ahead needs room. Below, your line stands beside what a run held.


# %% lesson="turn most_whole"
def most_whole(sizes, ahead):
    """While a layer computes, it is whole, and so are the next `ahead` layers, as far
    as there are any. `sizes` has each layer's numbers. How many are whole at most?"""
    ### BEGIN SOLUTION
    return max(sum(sizes[i : i + ahead + 1]) for i in range(len(sizes)))
    ### END SOLUTION


# %% lesson="behind most_whole"
cases = [([5], 0), ([5], 3), ([3, 1, 4, 1, 5], 0), ([3, 1, 4, 1, 5], 1), ([9, 1, 1, 8, 8], 1), ([9, 1, 1, 8, 8], 2)]
cases += [([1, 2, 3], 7), ([7, 7, 7, 7], 2), ([10, 1, 10, 1, 9, 9], 1), (list(range(96)), 1), ([1, 1, 30, 1, 1], 4)]
wrong = {
    lambda sizes, ahead: max(sizes) * (ahead + 1): "Are the layers beside the largest one as large?",
    lambda sizes, ahead: max(
        sum(sizes[i : i + ahead]) for i in range(len(sizes))
    ): "The layer that computes is whole, too.",
    lambda sizes, ahead: max(sizes): "What is fetched ahead is whole, too.",
    lambda sizes, ahead: sum(sorted(sizes)[-ahead - 1 :]): "Those are the largest ones. Are they neighbours?",
    lambda sizes, ahead: sum(sizes[: ahead + 1]): "That is so at the beginning. And later?",
}
well = "Right. With unequal layers it depends on which are neighbours."

# %% lesson="after most_whole"
your_line.ahead_table(most_whole)

# %% [markdown] lesson="after most_whole"
# One layer ahead saves a third of the time here. Two save some more, since the layers are unequal; each one costs a whole
# layer of memory. FSDP also fetches ahead in the backward pass, and sends gradients while the layer before computes.

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
# ## 7. What is left · 5 minutes
#
# With enough ranks, model states hardly count any more. **Activations** do: the outputs of all layers of this rank's
# batch wait for the backward pass. More ranks do not divide them.
#
# **Activation checkpointing** (Chen et al., 2016) keeps the input of each *segment* of layers only. Before the backward pass
# of a segment, its forward pass is computed once more. It costs no bytes on the link; it costs time.

# %% lesson="predict again"
predict(
    "again",
    "16 equal layers, each a segment. By how many percent does checkpointing lengthen the computing of a step?",
    unit="%",
)

# %% lesson="after again"
plain, again = (recomputed.step(recomputed.in_segments, 16, S).work for S in (1, 16))
display(reconcile("again", simulated=100 * (again / plain - 1)))
recomputed.recomputed_table()

# %% [markdown] lesson="reason again"
# **Our reason.** A backward pass computes two gradients, of the layer's input and of its parameters: about two forward
# passes. So a step is 3, and one more makes 4: a third; here a little less, since the last layer is not computed again. The
# table shows what that buys. Segments of √16 = 4 layers leave half of what was alive. A segment for each layer leaves as
# much as none: these layers have nothing inside. A block of a transformer has much inside, and gains at once.

# %% [markdown]
# What is needed once in a step may also live on the **host**, in the memory of the CPU. The notes' sample does that:
# `CPUOffload(offload_params=True)`. In torch that moves shards, gradients and the optimizer's update to the host. Below, only
# Adam's state lives there, or its update as well. Which sends more over the bus between device and host?

# %%
offload.offload_table()

# %% [markdown]
# ## 8. torch's own · 2 minutes
#
# For your own models, take torch's. It has two: `FullyShardedDataParallel`, the notes' one, with a flat vector for each unit
# as ours; and today's `fully_shard`, which cuts each parameter on its own:
#
# ```python
# for block in model.blocks:
#     fully_shard(block)
# fully_shard(model)
# ```
#
# Below, both stand beside ours. Are gradients and parameters those of one rank? Do all send the same?

# %%
compared_with_torch.beside_torch_table()

# %% [markdown]
# And here a small GPT learns from the source of Python's own library, which every machine has. **Hybrid sharding** cuts
# within each node only, and all-reduces gradients' shards across nodes: more memory, fewer bytes between nodes. Compare the
# losses first. Which row sends least, of those with fewer than 12 bytes a parameter?

# %%
trainings.methods_table()

# %% [markdown]
# | what else shards change | by hand | in torch |
# |---|---|---|
# | clipping by the norm | one number is all-reduced: in the lab | `clip_grad_norm_` knows them |
# | saving | each rank its shard; another number of ranks cuts anew: in the lab | `torch.distributed.checkpoint` |
# | slow links between nodes | hybrid sharding: [more](more.ipynb) | `fully_shard` on a mesh of two dimensions |

# %% [markdown]
# ## Wrap-up
#
# You can now say:
#
# - what 16 bytes a parameter are, and which of them each stage divides;
# - why stage 2 sends what DDP sends, and FSDP 1.5 times as much;
# - what a unit is, and how many bytes a rank holds at the worst moment;
# - what prefetching, checkpointing and offloading cost.
#
# In practice: `fully_shard`, on each block and on the model.
#
# **Go on**: [the lab](../../labs/08_fsdp/lab.ipynb). Your lines are steps of it. [More](more.ipynb): checkpoints, clipping,
# all of Table 1. **Or stop here**, and begin with the lab.
