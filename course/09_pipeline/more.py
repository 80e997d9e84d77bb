# %% [markdown]
# # 09 Pipelines: more
#
# What the lesson has no room for: torch's pipeline beside ours, a GPT, all of GPipe's tables, bytes beside formulas,
# parallel branches, and PipeDream's partitioner.

# %%
from importlib.util import find_spec

from IPython.display import display

from lockstep import run, show
from lockstep.experiments.pipeline import branched_runs, compared_with_torch, equality
from lockstep.experiments.pipeline import gpt_stages, held, plans, published, zero_bubbles
from lockstep.pipeline import pipedream_staleness, weight_stashing

# %% [markdown]
# ## torch's own
#
# Another sample begins with `from torch.distributed.pipeline.sync import Pipe`. That module is gone from torch.
# `torch.distributed.pipelining` took its place: a `PipelineStage` on each rank, and a schedule such as `ScheduleGPipe`,
# `Schedule1F1B` or `ScheduleInterleaved1F1B`. Below, both train the same model. Are their gradients alike, and their bytes?

# %%
for module in ("torch.distributed.pipeline", "torch.distributed.pipelining"):
    print(f"{module}: {'installed' if find_spec(module) else 'not there'}")
compared_with_torch.beside_torch_table()

# %% [markdown]
# Here are two steps of both, our worker above and torch's below. Compare the order of messages on rank 1. torch's first step
# begins with short messages: they tell the next stage the shape of what will come.
#
# After them: torch's schedules with thinner slices and with little bubble, on 4 simulated A100, as torch has them. Where did
# the time go that the bubble lost? (Halves of a backward pass wait with their gradients in memory. DualPipeV would overlap
# a forward and a backward pass where experts communicate; here it runs them one after the other.)

# %%
programs = {"ours": compared_with_torch.trained, "torch": compared_with_torch.trained_by_torch}
steps = {who: run(program, "one_f_one_b", 1, ranks=2, on="dgx-a100") for who, program in programs.items()}
display(show.compared(steps))
zero_bubbles.runs_table()

# %% [markdown]
# ## A GPT in stages
#
# A small GPT learns from the source of Python's own library, in 4 stages. Compare the losses first. Which schedule holds least,
# and which sends more than the others? PipeDream makes an update for each micro-batch, so its losses differ: it is another
# training.

# %%
gpt_stages.methods_table()

# %% [markdown]
# ## The gradients of one rank
#
# The lesson's table for up to 8 stages. Nothing divides here: 9 layers, 23 examples. A dash stands where a schedule does
# not allow the number of stages.

# %%
equality.gradients_table()

# %% [markdown]
# ## Bytes, measured and by formula
#
# What a stage holds, by kind, at the worst moment of each. In brackets: what was measured beyond the formula, the losses of
# micro-batches, a few bytes. Below it is what each stage sends. Interleaving sends from the last stage back to the first,
# too: the last stage's first chunk is followed by one on stage 0.

# %%
display(held.memory_table())
held.sent_table()

# %% [markdown]
# ## All of GPipe's tables
#
# A Transformer's layers are equal, and the formula is close with many micro-batches. AmoebaNet's layers are unequal: its
# slowest stage decides, and the formula, which knows nothing of that, is up to 99 % too high. On P40 GPUs torchgpipe (Kim et
# al., arXiv:2004.09910) measured AmoebaNet again: with M = 1 it is about as fast for every K, as the formula says.

# %%
display(published.throughput_table())
published.largest_model_table()

# %% [markdown]
# ## More stages, older weights
#
# With a flush, the loss does not depend on the number of stages. Without one, each further stage makes the first stage's
# weights one update older.

# %%
pipedream_staleness.staleness_table()

# %% [markdown]
# Which version does a minibatch meet? Below, minibatch 9 on stages 0 to 3: its forward pass, its backward pass. Without
# stashing the two differ. With it they agree on a stage, and with vertical sync on all stages.

# %%
version = weight_stashing.weight_version
for rule in weight_stashing.RULES:
    met = [[version(stage, 4, 9, which, rule) for which in "FB"] for stage in range(4)]
    print(f"{rule:14}", *met)

# %% [markdown]
# ## Parallel branches
#
# Some models have branches that all get the same input, as Inception has. Each branch may have its own GPU, and none waits
# for another. The input is broadcast, and outputs are added up. Backward it is the other way round: the gradient of the
# output is broadcast, and those of the input are added up. How far from K times as fast is it?

# %%
branched_runs.branches_table()

# %% [markdown]
# A common claim: “Model Parallelism: Ideal when the model is too large to fit on a single device and has multiple parallel
# branches or paths.” For branches, a number above 1 agrees. A model without them can still be cut: unit 10 cuts each layer.
#
# ## PipeDream's partitioner
#
# A stage may have several workers, which share its minibatches as in data parallelism. PipeDream profiles each layer, and finds
# the plan whose slowest part is fastest. The name of a plan is the workers of its stages: “15-1” has two stages.
#
# VGG-16's convolutions compute much and weigh little; its dense layers the other way round. Look at the plan for 10 Gbit/s: the
# paper has the same for 16 V100s.

# %%
plans.plans_table()

# %% [markdown]
# Back to [the lesson](lesson.ipynb), or on to [the lab](../../labs/09_pipeline/lab.ipynb).
